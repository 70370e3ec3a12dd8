import { expect, test } from 'vitest'
import { createMachine, sendParent } from 'xstate'
import { noUsage } from '../../../src/contracts/message.ts'
import { defaultProfile, type Profile, queueMax } from '../../../src/contracts/profile.ts'
import type { QueueMode } from '../../../src/contracts/settings.ts'
import type { TurnOutput } from '../../../src/contracts/turn.ts'
import { nextMessages } from '../../../src/machines/session/queue.rules.ts'
import { sessionMachine } from '../../../src/machines/session/session.machine.ts'
import { pipe } from '../pipe.ts'
import { walker } from '../walk.ts'

/** Stands for a turn: it ends when it is told how, and passes on what it is told to say. */
const stub = createMachine({
  initial: 'on',
  output: ({ event }) => (event as unknown as { output: { output: unknown } }).output.output,
  states: {
    on: { on: { end: 'off', say: { actions: sendParent(({ event }) => (event as unknown as { event: { type: string } }).event) } } },
    off: { type: 'final', output: ({ event }) => event },
  },
})
const session = walker(sessionMachine, ['summarise', 'fork'], () => ({ turn: stub, stream: pipe }))

const hash = 'a'.repeat(64)
const profile = (queueMode: QueueMode = 'steer'): Profile => ({ ...defaultProfile, agent: 'main', model: 'test/model', queueMode })
const message = (id: string, queueMode?: QueueMode) => ({ type: 'message', id, text: id, at: 0, profile: profile(queueMode) })
const ended = (ids: string[], output: Partial<TurnOutput> = {}) => ({
  type: 'end',
  output: {
    runId: ids[0],
    status: 'completed',
    outcome: 'replied',
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
const overflow = { status: 'failed', outcome: 'reset', error: { code: 'provider_overflow', message: 'too long', retryable: false } } as const
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
  expect(walk.state).toBe('debouncing')
  expect(walk.pass(500).context.run).toMatchObject({ runId: 'e' })
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
  busy.tell('turn', ended(['a'], { status: 'cancelled', transcriptLength: 5 })).pass(500)

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
  walk.tell('turn', ended(['a'], overflow)).pass(500)

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
  expect(begin().inputs('summarise')).toMatchObject([{ upTo: 6, id: 's:summary-1.0' }])

  const done = await begin().send(message('b')).resolve('summarise', { kind: 'summary', id: 's:summary-1.0', text: 'S', keep: 2, usage: noUsage })
  expect(done).toMatchObject({ state: 'debouncing', context: { transcriptLength: 3 } })
  expect(done.pass(500)).toMatchObject({ state: { running: 'answering' }, context: { run: { runId: 'b' } } })
  const failed = await begin().reject('summarise', new Error('no'))
  expect(failed).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 6 } })
  expect(refused(failed)).toEqual(['internal'])
  expect(begin().send(message('b')).send({ type: 'cancel', runId: 'b' })).toMatchObject({ state: 'compacting', context: { queue: [] } })
  expect(begin().send(message('b')).send({ type: 'cancel' })).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 6 } })
  expect(begin().send({ type: 'reset' })).toMatchObject({ state: 'awaiting-input', context: { transcriptLength: 0 } })
})

const said = (id: string, directive: object, text = '', more: object = {}) => ({ ...message(id), text, directives: [directive], ...more })
const stop = (id = 'stop') => said(id, { name: 'stop' })
const anew = (id = 'new', text = '') => said(id, { name: 'reset', value: '/new' }, text)
const shorten = (id = 'compact') => said(id, { name: 'compact', value: 'keep the names' })
const replies = (walk: ReturnType<typeof start>) =>
  walk.heard().flatMap((event) => (event.type === 'final' ? [[(event.ids as string[])[0], event.text]] : []))
const waiting = (mode: QueueMode = 'followup') =>
  running()
    .send(message('b', mode))
    .tell('turn', ended(['a']))

test('those that wait get their turn when nothing has come in for a while', () => {
  const walk = running()
    .send(message('b', 'followup'))
    .pass(400)
    .send(message('c', 'followup'))
    .tell('turn', ended(['a']))
  expect(walk.pass(499).state).toBe('debouncing')
  walk.send(message('d', 'followup'))
  expect(walk.pass(499).state).toBe('debouncing')
  walk.pass(1)

  expect(walk.context).toMatchObject({ run: { runId: 'b' }, queue: [{ id: 'c' }, { id: 'd' }] })
  // Time goes on during a turn, too.
  walk
    .send(message('e', 'followup'))
    .pass(500)
    .tell('turn', ended(['b']))
  expect(walk.context.run).toMatchObject({ runId: 'c' })
})

test('while they wait for more: interrupt goes first, a stop, a reset or a word to clear takes them away, and the queue has its bound', () => {
  expect(waiting().send(message('c', 'interrupt')).context).toMatchObject({ run: { runId: 'c' }, queue: [] })
  expect(replies(waiting().send(stop()))).toEqual([['stop', 'Stopped. 1 waiting message was dropped.']])
  for (const event of [stop(), { type: 'clear' }, { type: 'cancel' }, { type: 'cancel', runId: 'b' }, { type: 'reset', at: 1 }])
    expect(waiting().send(event)).toMatchObject({ state: 'awaiting-input', context: { queue: [] } })
  expect(waiting().send(anew('n', 'hi')).context).toMatchObject({ run: { runId: 'n' }, queue: [], transcriptLength: 0 })
  expect(refused(waiting().send(message('c', 'followup')).send({ type: 'cancel', runId: 'x' }))).toEqual(['not_found'])
  const full = waiting()
  for (let n = 0; n < queueMax; n++) full.send(message(`m${n}`, 'followup'))
  expect(refused(full)).toEqual(['overloaded'])
})

test('a stop ends the run and all that waits, and says so; what is said next is taken', () => {
  const walk = running().send(message('b', 'followup'))
  walk.heard()
  walk.send(stop())

  expect(walk.state).toEqual({ running: 'stopping' })
  expect(walk.context).toMatchObject({ queue: [], record: { abortedLastRun: true } })
  expect(replies(walk)).toEqual([['stop', 'Stopped. 1 waiting message was dropped.']])
  walk.tell('turn', ended(['a'], { status: 'cancelled', outcome: 'aborted' }))
  expect(walk.send(message('c')).state).toEqual({ running: 'answering' })
  expect(replies(start().send(stop()))).toEqual([['stop', 'Nothing is running.']])
})

test('anew: at once when nothing runs, else when the turn has stopped; what follows the command is the first message', () => {
  const idle = running().tell('turn', ended(['a']))
  const { sessionId } = idle.context.record
  idle.send(anew('n', 'hello'))
  expect(idle.context).toMatchObject({ run: { runId: 'n' }, transcriptLength: 0, record: { resets: 1 } })
  expect(idle.context.record.sessionId).not.toBe(sessionId)
  expect(idle.heard().find(({ type }) => type === 'notice')?.text).toContain('New session')

  const busy = running().send(message('b', 'followup')).send(anew('n'))
  expect(busy.state).toEqual({ running: 'resetting' })
  busy.tell('turn', ended(['a'], { status: 'cancelled' }))
  expect(busy.context).toMatchObject({ run: { runId: 'n' }, transcriptLength: 0 })
})

test('compaction by a command stops what runs, and says how much shorter it became', async () => {
  expect(replies(start().send(shorten()))).toEqual([['compact', 'There is no history to compact.']])
  const walk = running().send(shorten()).send(message('b'))
  expect(walk.state).toEqual({ running: 'yielding' })
  walk.tell('turn', ended(['a'], { status: 'cancelled', transcriptLength: 6 }))
  expect(walk.state).toBe('compacting')
  expect(walk.inputs('summarise')).toMatchObject([{ upTo: 6, instructions: 'keep the names' }])
  expect(replies(walk.send(shorten('again')))).toEqual([['again', 'The conversation is being compacted already.']])
  await walk.resolve('summarise', {
    kind: 'summary',
    id: 's:summary-1.0',
    text: 'S',
    keep: 2,
    usage: noUsage,
    tokens: { before: 12_400, after: 900 },
  })
  expect(replies(walk)).toEqual([['compact', 'Compacted: 12k → 900 tokens.']])

  const idle = () =>
    running()
      .tell('turn', ended(['a']))
      .send(shorten())
  expect(replies(await idle().reject('summarise', new Error('no')))).toEqual([['compact', 'The conversation was not compacted: no.']])
  for (const event of [stop(), { type: 'cancel' }, { type: 'reset', at: 1 }])
    expect(replies(idle().send(event))).toContainEqual(['compact', expect.stringContaining('stopped')])
  expect(idle().send(anew('n', 'hi')).context.run).toMatchObject({ runId: 'n' })
  const full = running().send(shorten())
  for (let n = 0; n <= queueMax; n++) full.send(message(`m${n}`))
  expect(refused(full)).toEqual(['overloaded'])
})

test('[OC-44] an order to compact has its answer, whatever comes before it is done', async () => {
  const yielding = () => running().send(shorten())
  expect(replies(yielding().send(shorten('again')))).toEqual([['again', 'The conversation is being compacted already.']])
  for (const event of [stop(), anew('n', 'hi'), { type: 'cancel' }, { type: 'cancel', runId: 'a' }, { type: 'reset', at: 1 }])
    expect(replies(yielding().send(event))).toContainEqual(['compact', expect.stringContaining('stopped')])
  const waits = await waiting().send(shorten()).resolve('summarise', { kind: 'summary', id: 's:summary-1.0', text: 'S', keep: 1, usage: noUsage })
  expect(replies(waits)).toEqual([['compact', 'Compacted.']])
})

test('a stop, or an order to compact, leaves a reset standing that was accepted before', () => {
  const resetting = () => running().send(anew('n', 'hi'))
  expect(
    resetting()
      .send(stop())
      .tell('turn', ended(['a'], { status: 'cancelled' })).context,
  ).toMatchObject({ transcriptLength: 0, run: null, record: { resets: 1 } })
  const walk = resetting().send(shorten())
  expect(replies(walk)).toEqual([['compact', expect.stringContaining('nothing to compact')]])
  expect(walk.tell('turn', ended(['a'], { status: 'cancelled' })).context.run).toMatchObject({ runId: 'n' })
})

test('no message joins a turn that shortens its history', () => {
  const walk = running()
    .tell('turn', { type: 'say', event: { type: 'compaction.started' } })
    .send(message('b'))
  expect(walk.state).toEqual({ running: 'compacting' })
  expect(walk.context.queue).toMatchObject([{ id: 'b' }])

  expect(walk.tell('turn', { type: 'say', event: { type: 'compaction.ended' } }).send(message('c')).context.run.ids).toEqual(['a', 'c'])
})

test('steer-backlog: the turn is shown the message, and it gets one of its own', () => {
  const walk = running().send(message('b', 'steer-backlog'))

  expect(walk.context).toMatchObject({ run: { ids: ['a'] }, queue: [{ id: 'b' }] })
  expect(walk.state).toEqual({ running: 'answering' })
})

test('a message of a channel that comes again is skipped, also while a turn is running, until 20 minutes have passed', () => {
  const origin = { channel: 'test', to: 'ann', messageId: '7' }
  const walk = running().send({ ...message('b', 'followup'), origin, at: 1 })
  walk.heard()
  walk.send({ ...message('c', 'followup'), origin, at: 20 * 60_000 })
  expect(walk.heard()).toMatchObject([
    { type: 'skipped', id: 'c', reason: 'duplicate' },
    { type: 'final', ids: ['c'], outcome: 'silent' },
    { ended: [{}] },
  ])

  expect(walk.send({ ...message('d', 'followup'), origin, at: 20 * 60_000 + 1 }).context.queue).toMatchObject([{ id: 'b' }, { id: 'd' }])
})

test('an order changes the session and is answered by it; within a message a setting holds for that message alone', () => {
  const walk = start().send(said('a', { name: 'think', value: 'high' }))
  expect(walk.state).toBe('awaiting-input')
  expect(replies(walk)).toEqual([['a', 'Thinking: high.']])
  walk.send(said('b', { name: 'think', value: 'low' }, 'hi'))
  expect(walk.context.run.profile.thinking).toBe('low')
  walk.tell('turn', ended(['b'])).send(message('c'))
  expect(walk.context.run.profile.thinking).toBe('high')

  expect(
    walk
      .send(said('d', { name: 'status' }, 'and go on'))
      .heard()
      .find(({ type }) => type === 'notice'),
  ).toMatchObject({ id: 'd' })
  expect(walk.context.run.ids).toEqual(['c', 'd'])
})

test('what the session says to a channel goes through a pipeline of its own, which leaves nothing behind', () => {
  const onChannel = (id: string, directive: object) =>
    said(id, directive, '', { origin: { channel: 'test', to: 'ann', messageId: id }, delivery: {} })
  const walk = start().send(onChannel('a', { name: 'status' }))
  expect(walk.child('saying-a:answer').getSnapshot().context.told).toEqual([
    { type: 'delivery.finish', leading: [], payloads: [{ text: expect.stringContaining('Session s') }], trailing: [] },
  ])

  walk.tell('saying-a:answer', { type: 'flushed' })

  expect(walk.child('saying-a:answer')).toBeUndefined()
})

test('[OC-26] rapid messages of one sender become one, and an order among them does not wait for more', () => {
  const rapid = (id: string) => ({ ...message(id), gatherMs: 500, origin: { channel: 'test', to: 'ann' } })
  const walk = start().send(rapid('a')).pass(400).send(rapid('b')).pass(499)
  expect(walk.state).toBe('debouncing')
  expect(walk.pass(1).context.run.prompt).toEqual({ ids: ['a', 'b'], joined: true })

  expect(
    start()
      .send(rapid('a'))
      .send(said('s', { name: 'status' })).context.run,
  ).toMatchObject({ ids: ['a'] })
})

test('[OC-97] the orders of a stranger are skipped', () => {
  const walk = start().send({ ...message('a'), text: '/think high', ignored: true })

  expect(walk.heard()).toMatchObject([{ type: 'skipped', id: 'a', reason: 'unauthorised' }, { type: 'final', outcome: 'silent' }, { ended: [{}] }])
})

test('[OC-06] what a group says without us is skipped, unless all of it is for us', () => {
  const unnamed = { ...message('a'), origin: { channel: 'test', to: 'room', chatType: 'group', mentioned: false } }
  const walk = start().send(unnamed)
  expect(walk.heard()).toMatchObject([{ type: 'skipped', id: 'a', reason: 'unmentioned' }, { type: 'final', outcome: 'silent' }, { ended: [{}] }])

  expect(
    start()
      .send({ type: 'configure', toggles: { activation: 'always' }, at: 1 })
      .send(unnamed).context.run,
  ).not.toBeNull()
})

test('[OC-104] what the operator forbids is refused, unless the session wants it', () => {
  const denied = (id: string) => ({ ...message(id), denied: true })
  expect(refused(start().send(denied('a')))).toEqual(['forbidden'])

  expect(
    start()
      .send(said('s', { name: 'send', value: 'on' }))
      .send(denied('a')).context.run,
  ).toMatchObject({ runId: 'a' })
})

test('[OC-37] a thread begins with what its parent said; if that cannot be read, with nothing', async () => {
  const threaded = (id: string) => ({ ...message(id), parent: 'main' })
  const walk = start().send(threaded('a')).send(message('b', 'followup'))
  expect(walk.state).toBe('forking')
  expect(walk.inputs('fork')).toEqual([{ parent: 'main' }])
  await walk.resolve('fork', [{ role: 'user', id: 'p', text: 'hello' }])
  expect(walk.pass(500).context).toMatchObject({ run: { runId: 'a' }, transcriptLength: 1 })
  expect(walk.heard().find(({ type }) => type === 'transcript')?.add).toEqual([{ role: 'user', id: 'p', text: 'hello' }])

  expect((await start().send(threaded('a')).reject('fork', new Error('no'))).context).toMatchObject({ run: { runId: 'a' }, transcriptLength: 0 })
  expect((await start().send(threaded('a')).resolve('fork', [])).context.transcriptLength).toBe(0)
  // Only its beginning.
  expect(
    start()
      .send(message('a'))
      .tell('turn', ended(['a']))
      .send(threaded('b')).context.run,
  ).toMatchObject({ runId: 'b' })
  const forking = () => start().send(threaded('a')).send(message('b', 'followup'))
  expect(forking().send(said('s', { name: 'stop' })).state).toBe('awaiting-input')
  expect(forking().send({ type: 'cancel' }).context.queue).toEqual([])
  expect(forking().send({ type: 'cancel', runId: 'b' }).state).toBe('forking')
  expect(forking().send({ type: 'reset' }).heard().at(-1)).toMatchObject({ type: 'reset' })
  expect(forking().send({ ...said('n', { name: 'reset' }), text: 'anew' }).context.run).toMatchObject({ runId: 'n' })
  expect(forking().send(said('c', { name: 'compact' })).state).toBe('forking')
  const full = start().send(threaded('a'))
  for (let n = 0; n < queueMax; n++) full.send(message(`m${n}`))
  expect(refused(full)).toEqual(['overloaded'])
})

test('a session that is muted answers orders only', () => {
  const walk = start()
    .send(said('a', { name: 'send', value: 'off' }))
    .send(message('b'))
  expect(refused(walk)).toEqual(['forbidden'])
  expect(refused(walk.send({ ...said('n', { name: 'reset' }), text: 'anew' }))).toEqual(['forbidden'])

  expect(walk.send(said('c', { name: 'send', value: 'inherit' })).send(message('d')).context.run).toMatchObject({ runId: 'd' })
})

test('wishes are kept and taken back from outside, and events are kept for the model', () => {
  const walk = start().send({ type: 'configure', at: 1, toggles: { verbose: 'full', model: 'test/b' } })
  walk.send({ type: 'configure', at: 2, toggles: { model: null } }).send({ type: 'note', at: 3, text: 'the job is done' })

  expect(walk.context.record).toMatchObject({ toggles: { verbose: 'full' }, notes: [{ at: 3, text: 'the job is done' }] })
  expect(walk.context.record.toggles).not.toHaveProperty('model')
  expect(walk.send({ type: 'clear' }).context.queue).toEqual([])
})

test('a conversation that has gone stale begins anew with the next message', () => {
  const daily = (id: string, at: number) => ({ ...message(id), at, profile: { ...profile(), freshness: {} } })
  const hour = 3_600_000
  const walk = start()
    .send(daily('a', 3 * hour))
    .tell('turn', ended(['a']))
    .send(daily('b', 4 * hour - 1))
    .tell('turn', ended(['b']))
  expect(walk.context.record.resets).toBe(0)

  walk.send(daily('c', 4 * hour + 1))

  expect(walk.context).toMatchObject({ run: { runId: 'c' }, transcriptLength: 0, record: { resets: 1 } })
})

test('[OC-28] an order that comes first in the morning begins the new conversation, too', () => {
  const hour = 3_600_000
  const daily = (id: string, at: number, more: object = {}) => ({ ...message(id), at, profile: { ...profile(), freshness: {} }, ...more })
  const walk = start()
    .send(daily('a', 3 * hour))
    .tell('turn', ended(['a']))
    .send(daily('b', 5 * hour, { text: '', directives: [{ name: 'status' }] }))

  expect(walk.context).toMatchObject({ transcriptLength: 0, record: { resets: 1, updatedAt: 5 * hour } })
})

test('closed is the end', () => {
  expect(start().send({ type: 'close' }).state).toBe('closed')
})

test('[OC-09] a turn that has said all takes in nothing more: what comes is for the next one', () => {
  const walk = running().tell('turn', { type: 'say', event: { type: 'turn.delivering' } })
  expect(walk.state).toEqual({ running: 'delivering' })
  walk.send(message('b'))
  expect(walk.context.run.ids).toEqual(['a'])
  expect(walk.context.queue).toMatchObject([{ id: 'b' }])

  expect(walk.tell('turn', ended(['a'])).pass(500).context.run).toMatchObject({ runId: 'b' })
})

test('[OC-44] while the first messages are gathered there is no history to compact', () => {
  const gathering = start().send({ ...message('a'), gatherMs: 1000 })
  expect(gathering.state).toBe('debouncing')

  expect(replies(gathering.send(shorten()))).toEqual([['compact', 'There is no history to compact.']])
})

test('every transition of the chart has been taken', () => {
  expect(session.missed()).toEqual([])
})

test('which messages a turn takes: one, or those that follow each other and want to be collected', () => {
  const taken = (...modes: QueueMode[]) =>
    nextMessages({ queue: modes.map((mode, n) => ({ id: `${n}`, at: 0, profile: profile(mode) })), apart: false }).length

  expect(taken()).toBe(0)
  expect(taken('followup', 'collect')).toBe(1)
  expect(taken('collect')).toBe(1)
  expect(taken('collect', 'followup', 'collect')).toBe(1)
  expect(taken('collect', 'collect', 'steer')).toBe(2)
  expect(taken('collect', 'collect', 'collect')).toBe(3)
})
