import { expect, test } from 'vitest'
import { createMachine, sendParent } from 'xstate'
import { noUsage } from '../../src/contracts/message.ts'
import { defaultProfile, type Profile, type QueueMode, type TurnOutput } from '../../src/contracts/session.ts'
import { nextMessages, queueMax, type SessionContext } from '../../src/machines/session.context.ts'
import { sessionMachine } from '../../src/machines/session.machine.ts'
import { walker } from './walk.ts'

/** Stands for a turn: it ends when it is told how, and passes on what it is told to say. */
const stub = createMachine({
  initial: 'on',
  output: ({ event }) => (event as unknown as { output: { output: unknown } }).output.output,
  states: {
    on: { on: { end: 'off', say: { actions: sendParent(({ event }) => (event as unknown as { event: { type: string } }).event) } } },
    off: { type: 'final', output: ({ event }) => event },
  },
})
const session = walker(sessionMachine, ['summarise'], () => ({ turn: stub }))

const hash = 'a'.repeat(64)
const profile = (queueMode: QueueMode = 'steer'): Profile => ({ ...defaultProfile, agent: 'main', model: 'test/model', queueMode })
const message = (id: string, queueMode?: QueueMode) => ({ type: 'message', id, text: id, profile: profile(queueMode) })
const ended = (ids: string[], output: Partial<TurnOutput> = {}) => ({
  type: 'end',
  output: {
    runId: ids[0],
    status: 'completed',
    ids,
    text: 'hi',
    partial: false,
    answerId: `${ids[0]}:1`,
    usage: noUsage,
    steps: 1,
    toolCalls: 0,
    model: 'test/model',
    transcriptLength: 2,
    ...output,
  },
})
const overflow = { status: 'failed', error: { code: 'provider_overflow', message: 'too long', retryable: false } } as const
const start = () => session.start({ key: 's' })
const running = () => start().send(message('a'))
const refused = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'refused' ? [event.code] : []))
const statuses = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'accepted' ? [event.status] : []))
const approval = (callId: string) => ({ callId, runId: 'a', name: 'pay', input: {}, inputHash: hash, attempt: 1, why: 'approval' })
const decision = (callId: string, inputHash = hash, attempt = 1) => ({ type: 'approve', callId, decision: 'approve', inputHash, attempt })

test('a message is accepted, gets a turn, and its outcome is noted', () => {
  const walk = running()
  expect(walk.state).toEqual({ running: 'answering' })
  expect(walk.heard()).toMatchObject([
    { type: 'accepted', id: 'a', status: 'started', runId: 'a' },
    { type: 'started', runId: 'a', ids: ['a'] },
  ])

  walk.tell('turn', ended(['a']))

  expect(walk.state).toBe('awaiting-input')
  expect(walk.context).toMatchObject({ run: null, transcriptLength: 2 })
  const notes = walk.heard()
  expect(notes).toMatchObject([{ type: 'transcript', ended: [{ runId: 'a' }] }])
  expect(notes[0]).not.toHaveProperty('ended.0.text')
})

test('while a turn is running: steer joins, followup and collect wait, interrupt clears the way', () => {
  const walk = running().send(message('b'))
  expect(walk.context.run.ids).toEqual(['a', 'b'])
  walk.send(message('c', 'followup')).send(message('d', 'collect'))
  expect(walk.context.queue.map(({ id }: { id: string }) => id)).toEqual(['c', 'd'])
  expect(statuses(walk)).toEqual(['started', 'steered', 'queued', 'collected'])

  walk.send(message('e', 'interrupt'))

  expect(walk.state).toEqual({ running: 'stopping' })
  expect(walk.context.queue).toMatchObject([{ id: 'e' }])
  expect(walk.heard()).toMatchObject([
    { type: 'aborted', ids: ['c'] },
    { type: 'aborted', ids: ['d'] },
    { type: 'transcript', ended: [{ ids: ['c'] }, { ids: ['d'] }] },
    { type: 'accepted', id: 'e', status: 'queued' },
  ])
  // What would have joined waits now.
  expect(walk.send(message('f')).context.queue).toMatchObject([{ id: 'e' }, { id: 'f' }])
  walk.tell('turn', ended(['a', 'b'], { status: 'cancelled' }))
  expect(walk.context.run).toMatchObject({ runId: 'e' })
})

test('messages do not hold their text: it stands in the journal', () => {
  expect(JSON.stringify(running().send(message('b', 'followup')).context.queue)).not.toContain('"text"')
})

test.each([
  ['running', () => running()],
  ['resetting', () => running().send({ type: 'reset' })],
  [
    'compacting',
    () =>
      running()
        .tell('turn', ended(['a']))
        .send({ type: 'compact', profile: profile() }),
  ],
])('while %s the queue has a bound, and what is too much is refused', (_, begin) => {
  const walk = begin()
  for (let n = 0; n <= queueMax; n++) walk.send(message(`m${n}`, 'followup'))

  expect(walk.context.queue).toHaveLength(queueMax)
  expect(refused(walk)).toEqual(['overloaded'])
})

test('a turn that has taken in its fill leaves the rest to the next one', () => {
  const walk = running()
  for (let n = 1; n <= queueMax; n++) walk.send(message(`m${n}`))

  expect(walk.context.run.ids).toHaveLength(queueMax)
  expect(walk.context.queue).toHaveLength(1)
})

test('cancel: all, this run, one that waits, or none of these', () => {
  const waiting = () => running().send(message('b', 'followup')).send(message('c', 'followup'))
  expect(waiting().send({ type: 'cancel' })).toMatchObject({ state: { running: 'stopping' }, context: { queue: [] } })
  expect(waiting().send({ type: 'cancel', runId: 'a' })).toMatchObject({
    state: { running: 'stopping' },
    context: { queue: [{ id: 'b' }, { id: 'c' }] },
  })
  expect(waiting().send({ type: 'cancel', runId: 'b' })).toMatchObject({ state: { running: 'answering' }, context: { queue: [{ id: 'c' }] } })
  expect(refused(waiting().send({ type: 'cancel', runId: 'x' }))).toEqual(['not_found'])
  expect(refused(start().send({ type: 'cancel' }))).toEqual(['not_found'])
})

test('approvals: kept while they wait, decided once, about these arguments', () => {
  const walk = running()
  for (const callId of ['c1', 'c2', 'c3']) walk.tell('turn', { type: 'say', event: { type: 'tool.waiting', approval: approval(callId) } })
  expect(walk.context.approvals).toHaveLength(3)
  walk.send(decision('c1', 'b'.repeat(64))).send(decision('c9'))
  expect(refused(walk)).toEqual(['conflict', 'not_found'])

  walk.send(decision('c1')).tell('turn', { type: 'say', event: { type: 'tool.decided', callId: 'c1' } })
  expect(walk.heard()).toMatchObject([{ type: 'decided', callId: 'c1', decision: 'approve' }])
  expect(refused(walk.send(decision('c1')))).toEqual(['already_decided'])
  walk.tell('turn', ended(['a']))

  expect(walk.context.approvals).toEqual([])
  expect(refused(walk.send(decision('c2')).send(decision('c9')))).toEqual(['already_decided', 'not_found'])
})

test('reset: at once when nothing runs, else when the turn has stopped, with the reason that was given', () => {
  const idle = running().tell('turn', ended(['a']))
  idle.heard()
  expect(idle.send({ type: 'reset', reason: 'new subject' }).heard()).toMatchObject([
    { type: 'transcript', clear: true },
    { type: 'reset', reason: 'new subject' },
  ])

  const busy = running().send(message('b', 'followup')).send({ type: 'reset', reason: 'enough' })
  expect(busy.state).toEqual({ running: 'resetting' })
  busy.send(message('c')).send(message('d', 'interrupt'))
  expect(busy.send({ type: 'cancel', runId: 'a' }).state).toEqual({ running: 'resetting' })
  expect(busy.context.queue).toMatchObject([{ id: 'c' }, { id: 'd' }])
  busy.send({ type: 'cancel' }).send(message('e'))
  busy.heard()
  busy.tell('turn', ended(['a'], { status: 'cancelled', transcriptLength: 5 }))

  expect(busy.context).toMatchObject({ transcriptLength: 0, run: { runId: 'e' }, resetReason: null })
  expect(busy.heard()).toMatchObject([
    { type: 'transcript', ended: [{ runId: 'a' }] },
    { type: 'transcript', clear: true },
    { type: 'reset', reason: 'enough' },
    { type: 'started', runId: 'e' },
  ])
})

test('a conversation that is too long for its model begins anew, and says why', () => {
  const walk = running().send(message('b', 'followup'))
  walk.heard()
  walk.tell('turn', ended(['a'], overflow))

  expect(walk.context).toMatchObject({ transcriptLength: 0, run: { runId: 'b' } })
  expect(walk.heard().find(({ type }) => type === 'reset')?.reason).toContain('longer than the model can read')
})

test('compaction by hand', async () => {
  const compact = { type: 'compact', profile: profile() }
  expect(refused(start().send(compact))).toEqual(['bad_request'])
  expect(refused(running().send(compact).send({ type: 'close' }))).toEqual(['session_busy', 'session_busy'])
  const begin = () =>
    running()
      .tell('turn', ended(['a'], { transcriptLength: 6 }))
      .send(compact)
  expect(begin().inputs('summarise')).toMatchObject([{ upTo: 6, id: 's:summary-1' }])

  const done = await begin().send(message('b')).resolve('summarise', { kind: 'summary', id: 's:summary-1', text: 'S', keep: 2, usage: noUsage })
  expect(done).toMatchObject({ state: { running: 'answering' }, context: { transcriptLength: 3, run: { runId: 'b' } } })
  const failed = await begin().reject('summarise', new Error('no'))
  expect(failed).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 6 } })
  expect(refused(failed)).toEqual(['internal'])
  expect(begin().send(message('b')).send({ type: 'cancel', runId: 'b' })).toMatchObject({ state: 'compacting', context: { queue: [] } })
  expect(begin().send(message('b')).send({ type: 'cancel' })).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 6 } })
  expect(begin().send({ type: 'reset' })).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 0 } })
})

test('closed is the end', () => {
  expect(start().send({ type: 'close' }).state).toBe('closed')
})

test('every transition of the chart has been taken', () => {
  expect(session.missed()).toEqual([])
})

test('which messages a turn takes: one, or those that follow each other and want to be collected', () => {
  const taken = (...modes: QueueMode[]) =>
    nextMessages({ queue: modes.map((mode, n) => ({ id: `${n}`, profile: profile(mode) })) } as unknown as SessionContext).length

  expect(taken()).toBe(0)
  expect(taken('followup', 'collect')).toBe(1)
  expect(taken('collect')).toBe(1)
  expect(taken('collect', 'followup', 'collect')).toBe(1)
  expect(taken('collect', 'collect', 'steer')).toBe(2)
  expect(taken('collect', 'collect', 'collect')).toBe(3)
})
