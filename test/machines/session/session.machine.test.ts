import { expect, test } from 'vitest'
import { type AnyActorLogic, fromCallback } from 'xstate'
import type { DeskRequest } from '../../../src/contracts/desk.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import { queueMax } from '../../../src/contracts/profile.ts'
import type { QueueMode } from '../../../src/contracts/settings.ts'
import { nextMessages } from '../../../src/machines/session/queue.rules.ts'
import { sessionMachine, withDesk } from '../../../src/machines/session/session.machine.ts'
import { sideMachine } from '../../../src/machines/side/side.machine.ts'
import { walker } from '../walk.ts'
import { ended, message, overflow, profile, refused, replies, stub } from './stage.ts'

const actors = (fake: (name: string) => AnyActorLogic) => ({ turn: stub, side: sideMachine.provide({ actors: { ask: fake('ask') as never } }) })
const bare = walker(sessionMachine, ['summarise', 'fork'], actors)

/** A desk that answers as each message says; an order to compact it answers with what became of it. */
const scripted = fromCallback<DeskRequest>(({ sendBack, receive }) =>
  receive((request) => {
    if (request.type === 'message') {
      const { message: asked, session } = request
      const answer = (asked.annotations?.answer ?? {}) as { type?: string }
      // The conversation has begun anew by then.
      const again = answer.type === 'stale' && session.record.resets > 0
      sendBack({ ...asked, ...answer, ...(answer.type === undefined || again ? { type: 'admit' } : {}), heard: session })
    } else if (request.type === 'compaction.ended') {
      const { order, summary, error } = request
      const { id, at, profile: settings } = order
      sendBack({ type: 'say', id, at, profile: settings, text: summary ? 'Compacted.' : (error?.message ?? 'stopped'), accepted: true })
    } else sendBack({ type: 'note', at: 0, text: JSON.stringify(request) })
  }),
)
const session = walker(withDesk(sessionMachine, { logic: scripted }), ['summarise', 'fork'], actors)

const hash = 'a'.repeat(64)
const start = () => session.start({ key: 's' })
const running = () => start().send(message('a'))
const statuses = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'accepted' ? [event.status] : []))
const approval = (callId: string) => ({ callId, runId: 'a', name: 'pay', input: {}, inputHash: hash, attempt: 1, why: 'approval' })
const decision = (callId: string, inputHash = hash, attempt = 1) => ({ type: 'approve', callId, decision: 'approve', inputHash, attempt })
/** A message, and how the desk answers it. */
const asks = (id: string, answer: object, more: object = {}) => ({ ...message(id), annotations: { answer }, ...more })
const stop = (id = 'stop') => asks(id, { type: 'stop', text: 'Stopped.' })
const anew = (id = 'new', text = '') => asks(id, { type: 'startOver', text })
const shorten = (id = 'compact') => asks(id, { type: 'compact', instructions: 'keep the names' })
const says = (id: string, more: object = {}) => asks(id, { type: 'say', text: 'It is so.', ...more })
const waiting = (mode: QueueMode = 'followup') =>
  running()
    .send(message('b', mode))
    .tell('turn', ended(['a']))

const pendingCalls = [{ callId: 'c', modelCallId: 'm', name: 'locate', input: {} }]
const results = (id: string, callId = 'c') => ({ ...message(id), text: '', toolResults: [{ callId, output: 'Bern' }] })

test('results of the client resume the conversation; each call that waits is closed before anything else is said', () => {
  const handed = () => running().tell('turn', ended(['a'], { pendingCalls }))
  expect(handed().send(results('b')).context.run).toMatchObject({
    prompt: { ids: ['b'], mute: true, results: [{ role: 'tool', callId: 'm', output: 'Bern', isError: false }] },
  })
  const other = handed().send(message('b'))
  expect(other.context.run.prompt).toMatchObject({ ids: ['b'], results: [{ callId: 'm', isError: true }] })
  expect(other.context.pending).toBeUndefined()
})

test('results that nobody waits for are refused, whatever the session does', () => {
  for (const walk of [start(), running(), running().send({ type: 'reset' }), running().send(shorten())])
    expect(refused(walk.send(results('x')))).toEqual(['conflict'])
  const compacting = running()
    .send(shorten())
    .tell('turn', ended(['a'], { status: 'cancelled' }))
  expect(compacting.state).toBe('compacting')
  expect(refused(compacting.send(results('x')))).toEqual(['conflict'])
  expect(
    refused(
      running()
        .tell('turn', ended(['a'], { pendingCalls }))
        .send(results('x', 'other')),
    ),
  ).toEqual(['conflict'])
})

test('a yes for the whole session is kept, goes for the others of that tool that wait, and is gone with a reset or by configuration', () => {
  const asked = () =>
    running()
      .tell('turn', { type: 'say', event: { type: 'tool.waiting', approval: approval('c1') } })
      .tell('turn', { type: 'say', event: { type: 'tool.waiting', approval: approval('c2') } })
  const walk = asked().send({ ...decision('c1'), remember: 'session' })

  expect(walk.heard().flatMap((event) => (event.type === 'decided' ? [event.callId] : []))).toEqual(['c1', 'c2'])
  expect(walk.context.record.allowedTools).toEqual(['pay'])
  expect(walk.send({ type: 'configure', at: 1, toggles: { allowedTools: null } }).context.record.allowedTools).toBeUndefined()
  const again = asked()
    .send({ ...decision('c1'), remember: 'session' })
    .tell('turn', ended(['a']))
  expect(again.send({ type: 'reset', at: 1 }).context.record.allowedTools).toBeUndefined()
})

test('without a desk each message is admitted, whatever it carries, and its turn is handed that', () => {
  const walk = bare.start({ key: 's' }).send({ ...asks('a', { type: 'refuse' }), text: '/stop' })

  expect(walk.context).toMatchObject({ desk: false, run: { runId: 'a', facts: { answer: { type: 'refuse' } } } })
  expect(walk.child('desk')).toBeUndefined()
})

test('what has nothing for the desk passes it by, until there has been something', () => {
  const walk = running()
  expect(walk.child('desk')).toBeUndefined()
  walk.tell('turn', ended(['a'])).send(asks('b', {}))
  expect(walk.child('desk')).toBeDefined()
  expect(walk.context.run).toMatchObject({ runId: 'b' })

  // A setting that no turn has is for the desk to heed.
  expect(
    start()
      .send({ type: 'configure', at: 1, toggles: { thinking: 'high' } })
      .send(message('a'))
      .child('desk'),
  ).toBeUndefined()
  expect(
    start()
      .send({ type: 'configure', at: 1, toggles: { send: 'off' } })
      .send(message('a'))
      .child('desk'),
  ).toBeDefined()
})

test('what the desk says, skips and refuses needs no turn, and has its outcome at once', () => {
  const walk = start().send(says('a', { changes: { thinking: 'high' }, note: 'the model is another one' }))
  expect(walk).toMatchObject({
    state: 'awaiting-input',
    context: { run: null, record: { toggles: { thinking: 'high' }, notes: [{ text: 'the model is another one' }] } },
  })
  expect(walk.heard()).toMatchObject([
    { type: 'accepted', id: 'a', status: 'answered' },
    { type: 'final', ids: ['a'], text: 'It is so.', outcome: 'replied' },
    { type: 'transcript', ended: [{ ids: ['a'] }] },
  ])
  walk.send(asks('b', { type: 'skip', reason: 'duplicate' })).send(asks('c', { type: 'refuse', code: 'forbidden', message: 'no', hint: 'none' }))
  expect(walk.heard()).toMatchObject([
    { type: 'skipped', id: 'b', reason: 'duplicate' },
    { type: 'final', ids: ['b'], outcome: 'silent' },
    { type: 'transcript', ended: [{ ids: ['b'] }] },
    { type: 'refused', code: 'forbidden', message: 'no', hint: 'none' },
    { type: 'transcript', drop: ['c'] },
  ])
})

test('a conversation that the desk calls stale begins anew, and the desk is asked once more', () => {
  const walk = waiting()
    .pass(500)
    .tell('turn', ended(['b']))
    .send(asks('c', { type: 'stale' }, { at: 9 }))

  expect(walk.context).toMatchObject({ run: { runId: 'c' }, transcriptLength: 0, record: { resets: 1, startedAt: 9 } })
  expect(walk.heard().find(({ type }) => type === 'reset')).toMatchObject({ reason: 'stale' })
})

test('the desk is told what the session is busy with', () => {
  const doing = (walk: ReturnType<typeof start>) => {
    walk.send(asks('q', { type: 'skip', reason: 'duplicate' }))
    return walk
  }
  const seen: unknown[] = []
  const noting = fromCallback<DeskRequest>(({ receive }) =>
    receive((request) => void (request.type === 'message' && seen.push(request.session.doing))),
  )
  const noted = walker(withDesk(sessionMachine, { logic: noting }), ['summarise', 'fork'], actors)
  const begun = () => noted.start({ key: 's' }).send(message('a'))

  doing(noted.start({ key: 's' }))
  doing(begun())
  doing(
    begun()
      .send(message('b', 'followup'))
      .tell('turn', ended(['a'])),
  )
  doing(begun().send({ type: 'reset' }))
  doing(
    begun()
      .tell('turn', ended(['a']))
      .send({ type: 'compact', profile: profile() }),
  )

  expect(seen).toEqual(['idle', 'answering', 'waiting', 'resetting', 'compacting'])
})

test('[OC-20] messages of different places never become one prompt', () => {
  const at = (id: string, place: string) => ({ ...message(id, 'collect'), annotations: { answer: { place } } })
  const collected = (...places: string[]) => {
    const walk = running()
    for (const [n, place] of places.entries()) walk.send(at(`m${n}`, place))
    return walk.tell('turn', ended(['a'])).pass(500).context.run.ids
  }

  expect(collected('ann', 'ann')).toEqual(['m0', 'm1'])
  expect(collected('ann', 'ben', 'ann')).toEqual(['m0'])
})

test('an introduction is told until a turn with it has ended well, and again where it is due', () => {
  const group = (id: string, due?: true) => asks(id, { intro: { text: 'be brief', as: 'mention', ...(due ? { due } : {}) } })
  const intro = (walk: ReturnType<typeof start>) => walk.context.run.facts.intro
  const walk = start().send(group('a'))
  expect(intro(walk)).toBe('be brief')
  walk.tell('turn', ended(['a'], { status: 'failed' })).send(group('b'))
  expect(intro(walk)).toBe('be brief')
  walk.tell('turn', ended(['b'])).send(group('c'))
  expect(intro(walk)).toBeUndefined()

  walk.tell('turn', ended(['c'])).send(group('d', true))
  expect(intro(walk)).toBe('be brief')
  // The scripted desk keeps what it hears as a note.
  expect(walk.tell('turn', ended(['d'])).context.record.notes).toMatchObject([{ text: '{"type":"introduced","as":"mention"}' }])
})

test('of a message that wants to be spoken of the desk hears when it is taken in, and when it is not', () => {
  const remarks = { always: 'by the way' }
  const notes = (walk: ReturnType<typeof start>) => walk.context.record.notes.map(({ text }: { text: string }) => JSON.parse(text))
  expect(notes(running().send(asks('b', { remarks })))).toMatchObject([{ type: 'accepted', id: 'b', steered: true, remarks }])
  expect(notes(running().send(asks('b', { remarks }, { profile: profile('followup') })))).toMatchObject([{ type: 'accepted', steered: false }])

  const full = running()
  for (let n = 0; n < queueMax; n++) full.send(message(`m${n}`, 'followup'))
  expect(notes(full.send(asks('x', { remarks }, { profile: profile('followup') })))).toMatchObject([{ type: 'refused' }])
})

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

test('the prompt of the newest call is kept, until the conversation begins anew', () => {
  const walk = running().tell('turn', ended(['a'], { prompt: { hashes: { tools: 'a' } } } as never))
  expect(walk.context.record.prompt).toEqual({ hashes: { tools: 'a' } })
  walk.send(message('b'))
  expect(walk.context.run?.facts.prefix).toEqual({ tools: 'a' })
  walk.tell('turn', ended(['b'])).send({ type: 'reset', at: 1 })

  expect(walk.context.record).not.toHaveProperty('prompt')
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

test('wishes are kept and taken back from outside, and events are kept for the model', () => {
  const walk = start().send({ type: 'configure', at: 1, toggles: { verbose: 'full', model: 'test/b' } })
  walk.send({ type: 'configure', at: 2, toggles: { model: null } }).send({ type: 'note', at: 3, text: 'the job is done' })

  expect(walk.context.record).toMatchObject({ toggles: { verbose: 'full' }, notes: [{ at: 3, text: 'the job is done' }] })
  expect(walk.context.record.toggles).not.toHaveProperty('model')
  expect(walk.send({ type: 'clear' }).context.queue).toEqual([])
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

test('while they wait for more: interrupt goes first, a stop, a reset or a word to clear takes them away, and the queue has its bound', () => {
  expect(waiting().send(message('c', 'interrupt')).context).toMatchObject({ run: { runId: 'c' }, queue: [] })
  expect(replies(waiting().send(stop()))).toEqual([['stop', 'Stopped.']])
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
  expect(replies(walk)).toEqual([['stop', 'Stopped.']])
  walk.tell('turn', ended(['a'], { status: 'cancelled', outcome: 'aborted' }))
  expect(walk.send(message('c')).state).toEqual({ running: 'answering' })
  expect(replies(start().send(stop()))).toEqual([['stop', 'Stopped.']])
})

test('anew: at once when nothing runs, else when the turn has stopped; what follows the command is the first message', () => {
  const idle = running().tell('turn', ended(['a']))
  const { sessionId } = idle.context.record
  idle.send(anew('n', 'hello'))
  expect(idle.context).toMatchObject({ run: { runId: 'n' }, transcriptLength: 0, record: { resets: 1 } })
  expect(idle.context.record.sessionId).not.toBe(sessionId)

  const busy = running().send(message('b', 'followup')).send(anew('n'))
  expect(busy.state).toEqual({ running: 'resetting' })
  busy.tell('turn', ended(['a'], { status: 'cancelled' }))
  expect(busy.context).toMatchObject({ run: { runId: 'n' }, transcriptLength: 0 })
})

test('compaction by a command stops what runs, and is answered when it has ended', async () => {
  expect(refused(start().send(shorten()))).toEqual(['bad_request'])
  const walk = running().send(shorten()).send(message('b'))
  expect(walk.state).toEqual({ running: 'yielding' })
  walk.tell('turn', ended(['a'], { status: 'cancelled', transcriptLength: 6 }))
  expect(walk.state).toBe('compacting')
  expect(walk.inputs('summarise')).toMatchObject([{ upTo: 6, instructions: 'keep the names' }])
  await walk.resolve('summarise', {
    kind: 'summary',
    id: 's:summary-1.0',
    text: 'S',
    keep: 2,
    usage: noUsage,
    tokens: { before: 12_400, after: 900 },
  })
  expect(replies(walk)).toEqual([['compact', 'Compacted.']])

  const idle = () =>
    running()
      .tell('turn', ended(['a']))
      .send(shorten())
  expect(replies(await idle().reject('summarise', new Error('no')))).toEqual([['compact', 'no']])
  for (const event of [stop(), { type: 'cancel' }, { type: 'reset', at: 1 }])
    expect(replies(idle().send(event))).toContainEqual(['compact', expect.stringContaining('stopped')])
  expect(idle().send(anew('n', 'hi')).context.run).toMatchObject({ runId: 'n' })
  const full = running().send(shorten())
  for (let n = 0; n <= queueMax; n++) full.send(message(`m${n}`))
  expect(refused(full)).toEqual(['overloaded'])
})

test('[OC-44] an order to compact has its answer, whatever comes before it is done', async () => {
  const yielding = () => running().send(shorten())
  for (const event of [stop(), anew('n', 'hi'), { type: 'cancel' }, { type: 'cancel', runId: 'a' }, { type: 'reset', at: 1 }])
    expect(replies(yielding().send(event))).toContainEqual(['compact', expect.stringContaining('stopped')])
  const waits = await waiting().send(shorten()).resolve('summarise', { kind: 'summary', id: 's:summary-1.0', text: 'S', keep: 1, usage: noUsage })
  expect(replies(waits)).toEqual([['compact', 'Compacted.']])
})

test('a stop leaves a reset standing that was accepted before', () => {
  const resetting = () => running().send(anew('n', 'hi'))
  expect(
    resetting()
      .send(stop())
      .tell('turn', ended(['a'], { status: 'cancelled' })).context,
  ).toMatchObject({ transcriptLength: 0, run: null, record: { resets: 1 } })
})

test('[OC-26] rapid messages of one sender become one, and an order among them does not wait for more', () => {
  const rapid = (id: string) => asks(id, { gather: { ms: 500, by: 'ann' } })
  const walk = start().send(rapid('a')).pass(400).send(rapid('b')).pass(499)
  expect(walk.state).toBe('debouncing')
  expect(walk.pass(1).context.run.prompt).toEqual({ ids: ['a', 'b'], joined: true })

  expect(start().send(rapid('a')).send(says('s')).context.run).toMatchObject({ ids: ['a'] })
})

test('[OC-37] a thread begins with what its parent said; if that cannot be read, with nothing', async () => {
  const threaded = (id: string) => ({ ...message(id), parent: 'main' })
  const walk = start().send(threaded('a')).send(message('b', 'followup'))
  expect(walk.state).toBe('forking')
  expect(walk.inputs('fork')).toEqual([{ parent: 'main', session: 's' }])
  await walk.resolve('fork', [{ role: 'user', id: 'p', text: 'hello' }])
  expect(walk.pass(500).context).toMatchObject({ run: { runId: 'a' }, transcriptLength: 1 })
  expect(walk.heard().find(({ type }) => type === 'transcript')?.add).toEqual([{ role: 'user', id: 'p', text: 'hello' }])

  expect((await start().send(threaded('a')).reject('fork', new Error('no'))).context).toMatchObject({ run: { runId: 'a' }, transcriptLength: 0 })
  expect((await start().send(threaded('a')).resolve('fork', [])).context.transcriptLength).toBe(0)
  // A desk may have looked at it first.
  expect(start().send({ ...threaded('a'), type: 'admit' }).state).toBe('forking')
  // Only its beginning.
  expect(
    start()
      .send(message('a'))
      .tell('turn', ended(['a']))
      .send(threaded('b')).context.run,
  ).toMatchObject({ runId: 'b' })
  const forking = () => start().send(threaded('a')).send(message('b', 'followup'))
  expect(forking().send(stop()).state).toBe('awaiting-input')
  expect(forking().send({ type: 'cancel' }).context.queue).toEqual([])
  expect(forking().send({ type: 'cancel', runId: 'b' }).state).toBe('forking')
  expect(forking().send({ type: 'reset' }).heard().at(-1)).toMatchObject({ type: 'reset' })
  expect(forking().send(anew('n', 'anew')).context.run).toMatchObject({ runId: 'n' })
  expect(forking().send(shorten()).state).toBe('forking')
  const full = start().send(threaded('a'))
  for (let n = 0; n < queueMax; n++) full.send(message(`m${n}`))
  expect(refused(full)).toEqual(['overloaded'])
})

test('what is put in joins at once where nothing is read; else in its order, when what reads the conversation has ended', async () => {
  const put = (id: string) => ({ type: 'inject', id, text: id, at: 0 })
  const added = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'injected' ? [event.runId] : []))
  const run = running().send(put('x')).send(put('y')).send(message('b', 'followup'))
  expect(added(run)).toEqual([])
  run.tell('turn', ended(['a']))
  const heard = run.heard()
  expect(heard.flatMap((event) => (event.type === 'injected' ? [event.runId] : []))).toEqual(['inject-x', 'inject-y'])
  expect(heard.flatMap(({ type, add }) => (type === 'transcript' && add ? [add] : []))).toEqual([[{ content: 'inject x' }, { content: 'inject y' }]])
  expect(run.context).toMatchObject({ transcriptLength: 4, injected: undefined })
  expect(added(run.send(put('z')))).toContain('inject-z')

  const owing = running()
    .tell('turn', ended(['a'], { pendingCalls }))
    .send(put('x'))
  expect(added(owing)).toEqual([])
  expect(added(owing.send(results('b')).tell('turn', ended(['b'])))).toEqual(['inject-x'])

  const fork = start()
    .send({ ...message('a'), parent: 'main' })
    .send(put('x'))
  expect(added(fork)).toEqual([])
  await fork.resolve('fork', [{ role: 'user', id: 'p', text: 'hello' }])
  expect([added(fork), fork.context.transcriptLength]).toEqual([['inject-x'], 2])

  const compacting = running()
    .tell('turn', ended(['a']))
    .send(shorten())
    .send(put('x'))
  expect([compacting.state, added(compacting)]).toEqual(['compacting', []])
  await compacting.reject('summarise', new Error('no'))
  expect([added(compacting), compacting.context.transcriptLength]).toEqual([['inject-x'], 3])

  const reset = running().send(put('x')).send({ type: 'reset', at: 0 }).send(put('y'))
  expect(added(reset.tell('turn', ended(['a'], { status: 'cancelled' })))).toEqual(['inject-y'])
  expect(reset.context.transcriptLength).toBe(1)
  const many = running()
  for (let n = 0; n <= 100; n++) many.send(put(`${n}`))
  expect([refused(many), many.context.injected.length]).toEqual([['overloaded'], 100])
})

test('[CH-81] side questions are answered beside the turn, three at once, and are none of the conversation', async () => {
  const side = (id: string) => ({ type: 'side', id, text: 'why?', at: 0, profile: profile() })
  const answer = {
    kind: 'side',
    id: 'b',
    text: 'So.',
    model: 'test/model',
    usage: { ...noUsage, inputTokens: 7 },
    costUsd: 1,
    endedAt: 1,
    durationMs: 1,
  }
  const walk = running()
  walk.heard()
  expect(statuses(walk.send(side('b')))).toEqual(['side'])
  expect([walk.state, walk.context.asides]).toEqual([{ running: 'answering' }, [{ id: 'b', model: 'test/model' }]])
  await walk.resolve('ask', answer)
  const heard = walk.heard()
  expect(heard).toMatchObject([
    { type: 'side_result', kind: 'btw', runId: 'b', question: 'why?', text: 'So.', isError: false },
    { type: 'final', runId: 'b', side: true, text: 'So.' },
    { type: 'transcript', ended: [{ runId: 'b', side: true }] },
    { type: 'usage', runId: 'b', costUsd: 1 },
  ])
  expect(heard.some((event) => 'add' in event)).toBe(false)
  expect(walk.child('side-b')).toBeUndefined()
  expect(walk.context).toMatchObject({
    asides: undefined,
    transcriptLength: 0,
    record: { spent: { turns: 0, usage: { inputTokens: 7 }, costUsd: 1 } },
  })
  expect(walk.context.run).toMatchObject({ runId: 'a' })

  for (const id of ['b', 'c', 'd']) walk.send(side(id))
  walk.heard()
  expect(refused(walk.send(side('e')))).toEqual(['overloaded'])
  await walk.reject('ask', new Error('no'))
  expect(walk.heard()).toMatchObject([{ type: 'side_result', runId: 'd', isError: true }, { type: 'error', runId: 'd' }, { type: 'transcript' }])
})

test('[CH-81] what stops a session stops its side questions; what drops messages that wait does not', () => {
  const side = (id: string) => ({ type: 'side', id, text: 'why?', at: 0, profile: profile() })
  const ends = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'aborted' && event.side ? [event.runId] : []))
  const two = (walk = start()) => walk.send(side('b')).send(side('c'))
  expect(ends(two().send({ type: 'cancel', runId: 'b' }))).toEqual(['b'])
  expect(ends(two().send({ type: 'cancel' }))).toEqual(['b', 'c'])
  expect(ends(two(running()).send({ type: 'cancel' }))).toEqual(['b', 'c'])
  expect(ends(two(running()).send({ type: 'cancel', runId: 'a' }))).toEqual([])
  expect(ends(two().send({ type: 'reset', at: 0 }))).toEqual(['b', 'c'])
  expect(ends(two(running()).send({ type: 'reset', at: 0 }))).toEqual(['b', 'c'])
  expect(ends(two().send(anew('n')))).toEqual(['b', 'c'])
  expect(ends(two(running()).send({ type: 'clear' }).send(message('i', 'interrupt')))).toEqual([])
  const stopped = two(running()).send(stop()).heard()
  expect(stopped.find(({ type }) => type === 'stopped')).toMatchObject({ runIds: ['a', 'b', 'c'] })
  expect(refused(start().send({ type: 'cancel' }))).toEqual(['not_found'])
})

test('[CH-81] the desk that has passed a question on hears of its answer', async () => {
  const walk = start().send(asks('b', { type: 'side', text: 'why?' }))
  expect(statuses(walk)).toEqual(['side'])
  await walk.reject('ask', new Error('no'))
  expect(walk.context.record.notes.at(-1).text).toContain('side.answered')
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
