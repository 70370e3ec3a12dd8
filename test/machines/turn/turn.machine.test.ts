import { expect, test } from 'vitest'
import { createMachine, sendParent } from 'xstate'
import { defaultProfile, type Profile } from '../../../src/contracts/profile.ts'
import type { LoopOutput, TurnFacts } from '../../../src/contracts/turn.ts'
import { turnMachine } from '../../../src/machines/turn/turn.machine.ts'
import { publishing } from '../../../src/machines/turn/turn.setup.ts'
import { anAnswer } from '../loop/answers.ts'
import { pipe } from '../pipe.ts'
import { reader, understood, unread } from '../reader.ts'
import { walker } from '../walk.ts'

/** Stands for the loop: it ends when it is told how, passes on what it is told to say, and says what it heard itself. */
const stub = createMachine({
  initial: 'on',
  output: ({ event }) => (event as unknown as { output: { output: unknown } }).output.output,
  states: {
    on: {
      on: {
        end: 'off',
        say: { actions: sendParent(({ event }) => (event as unknown as { event: { type: string } }).event) },
        expire: { target: 'off' },
      },
    },
    off: {
      type: 'final',
      output: ({ event }) => (event.type === 'expire' ? { output: anAnswer({ status: 'failed', error: (event as any).error }) } : event),
    },
  },
})
/** It wants to hear of what came from a channel, and has its own idea of the rest. */
const published = turnMachine.provide({
  actions: publishing({
    follows: ({ facts }) => facts.delivery !== undefined,
    conclude: (_, { text }) => (text === 'NO_REPLY' ? { outcome: 'silent' } : { reply: { text: `${text}!` } }),
  }),
})
const turn = walker(published, [], () => ({ loop: stub, publisher: pipe, understanding: reader }))
const plain = walker(turnMachine, [], () => ({ loop: stub }))

const start = (profile: Partial<Profile> = {}, facts: Partial<TurnFacts> = {}, prompt: object = {}, of = turn, more: object = {}) =>
  of.start({
    ...more,
    session: 's',
    runId: 'r',
    profile: { ...defaultProfile, agent: 'main', model: 'test/model', ...profile },
    prompt: { ids: ['r'], ...prompt },
    facts: { compactions: 0, at: 1_770_000_000_000, ...facts },
    transcriptLength: 4,
  })
const end = (walk: ReturnType<typeof start>, output: Partial<LoopOutput> = {}) => walk.tell('loop', { type: 'end', output: anAnswer(output) })
const say = (walk: ReturnType<typeof start>, event: { type: string; [key: string]: unknown }) => walk.tell('loop', { type: 'say', event })
/** Nobody stands behind it. */
const startPlain = () => start({}, { origin: { channel: 'test', to: 'ann' }, delivery: {} }, {}, plain)

test('without a publisher the messages stand in the transcript, the loop answers, what it used is told, and the text is the outcome', () => {
  const walk = startPlain()
  expect(walk.state).toEqual({ running: 'answering' })
  end(walk)

  expect(walk.state).toBe('completed')
  expect(walk.output).toMatchObject({ status: 'completed', outcome: 'replied', text: 'hello', transcriptLength: 6, costUsd: 0.0123, tokens: 1234 })
  expect(walk.output).not.toHaveProperty('reply')
  expect(walk.heard()).toMatchObject([
    { type: 'transcript', add: ['r'] },
    { type: 'usage', provider: 'test', usage: { input: 1200, output: 34, total: 1234 }, contextLimit: 200_000, contextUsed: 1234, durationMs: 250 },
    { type: 'final', runId: 'r', ids: ['r'], text: 'hello' },
  ])
})

test.each([
  ['failed', 'failed', 'error', { status: 'failed', error: { code: 'provider_rate_limit', message: '{"x":1}', retryable: true } }],
  ['cancelled', 'aborted', 'aborted', { status: 'cancelled', text: 'hel' }],
] as const)('a loop that %s ends the turn so', (status, outcome, said, output) => {
  const walk = end(start(), output)

  expect(walk.output).toMatchObject({ status, outcome })
  expect(walk.heard().at(-1)).toMatchObject({ type: said })
})

test('[OC-01] without a publisher the outcome is whether there is a text, and a history that is refused begins anew', () => {
  const outcomes = (output: Partial<LoopOutput>) => end(startPlain(), output).output.outcome
  const refused = { code: 'provider_overflow', message: 'too long', retryable: false } as const

  expect(outcomes({ texts: ['first', 'second'], text: 'second' })).toBe('replied')
  expect(outcomes({ texts: [], text: '' })).toBe('silent')
  expect(outcomes({ status: 'failed', texts: [], error: refused })).toBe('reset')
  expect(outcomes({ status: 'failed', texts: [], error: { ...refused, code: 'provider_auth' } })).toBe('failed')
})

test('without a publisher nobody is told what it does, and it ends when its loop has', () => {
  const walk = startPlain()
  say(walk, { type: 'model.ended', text: 'hello' })
  walk.send({ type: 'configure', verbose: 'on' })
  end(walk)

  expect(walk.state).toBe('completed')
  expect(walk.heard().map(({ type }) => type)).not.toContain('turn.delivering')
})

test('of a turn that nobody follows, the publisher says what became of its answer', () => {
  expect(end(start()).output).toMatchObject({ outcome: 'replied', text: 'hello', reply: { text: 'hello!' } })
  const silent = end(start(), { text: 'NO_REPLY' }).output
  expect(silent).toMatchObject({ outcome: 'silent' })
  expect(silent).not.toHaveProperty('reply')
})

test('several messages, or something to be told first, become one prompt', () => {
  const added = (prompt: object) => start({}, {}, prompt).heard()[0]?.add
  expect(added({ ids: ['a', 'b'] })).toEqual(['a', 'b'])
  expect(added({ ids: ['a', 'b'], collected: true })).toEqual([{ prompt: { ids: ['a', 'b'], collected: true } }])
  expect(added({ before: 'you were stopped' })).toEqual([{ prompt: { ids: ['r'], before: 'you were stopped' } }])
})

test('what its session says is handed to the loop', () => {
  const walk = start()
  for (const event of [{ type: 'steer', id: 'b' }, { type: 'approve', callId: 'c' }, { type: 'forget', ids: ['b'] }, { type: 'cancel' }])
    walk.send(event)

  expect(walk.state).toEqual({ running: 'answering' })
})

test('people may take as long as they want, work may not', () => {
  const waiting = say(start({ runTimeoutMs: 1000 }), { type: 'tool.waiting', approval: { callId: 'c' } }).pass(60_000)
  expect(waiting.state).toEqual({ running: 'awaiting-input' })
  expect(waiting.heard().at(-1)).toMatchObject({ type: 'tool.waiting' })
  say(waiting, { type: 'tool.decided', callId: 'c' })
  expect(waiting.state).toEqual({ running: 'answering' })

  expect(waiting.pass(1000).output).toMatchObject({ status: 'failed', error: { code: 'budget_time', hint: expect.stringContaining('limits: { ') } })
  expect(start({ runTimeoutMs: 1000 }).pass(999).state).toEqual({ running: 'answering' })
  expect(start().pass(600_000).output).toMatchObject({ error: { code: 'budget_time', hint: expect.stringContaining('limits: { ') } })
})

test('all of it has an end, waiting included', () => {
  const walk = say(start({ turnTimeMs: 5000 }), { type: 'tool.waiting', approval: { callId: 'c' } }).pass(5000)

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'budget_time', message: expect.stringContaining('longer than it may') } })
})

test('its session learns when the history is shortened, since nothing joins meanwhile', () => {
  const walk = say(start(), { type: 'compaction.started' })
  expect(walk.state).toEqual({ running: 'compacting' })
  say(walk, { type: 'compaction.ended' })
  expect(walk.state).toEqual({ running: 'answering' })

  expect(walk.heard().map(({ type }) => type)).toEqual(['transcript', 'compaction.started', 'compaction.ended'])
})

const full = { memoryFlush: {} }
const flushing = (profile: Partial<Profile> = {}) => start({ ...full, ...profile }, { tokens: 176_000, window: 200_000, compactions: 2 })
const endFlush = (walk: ReturnType<typeof start>, output: Partial<LoopOutput> = {}) =>
  walk.tell('flush', { type: 'end', output: anAnswer({ transcriptLength: 7, texts: ['NO_REPLY'], ...output }) })

test('[OC-40] notes are taken when the context is nearly full, once between two compactions', () => {
  expect(flushing().state).toBe('flushing')
  const otherwise: [Partial<Profile>, Partial<TurnFacts>][] = [
    [full, { tokens: 175_999, window: 200_000 }],
    [full, { tokens: 176_000, window: 200_000, flushedAt: 0 }],
    [full, { tokens: 100, window: 24_000 }],
    [
      { ...full, heartbeat: true },
      { tokens: 176_000, window: 200_000 },
    ],
    [{}, { tokens: 176_000, window: 200_000 }],
  ]
  for (const [profile, facts] of otherwise) expect(start(profile, facts).state).toEqual({ running: 'answering' })
  // Where nobody knows, 200,000; then what the agent says.
  expect(start(full, { tokens: 176_000 }).state).toBe('flushing')
  expect(start({ ...full, contextTokens: 100_000 }, { tokens: 76_000 }).state).toBe('flushing')
})

test('[OC-41] it is a silent run before the other: nothing of it is delivered, and its failure fails nothing', () => {
  const walk = flushing()
  expect(walk.heard()).toMatchObject([
    { type: 'transcript', add: [{ role: 'user', id: 'r:flush', text: expect.stringMatching(/memory\/2026-02-02\.md.*NO_REPLY/s) }] },
  ])
  walk.send({ type: 'steer', id: 'b' })
  endFlush(walk, { status: 'failed', error: { code: 'provider_auth', message: 'no', retryable: false } })
  expect(walk.state).toEqual({ running: 'answering' })
  expect(walk.heard()).toMatchObject([
    { type: 'flushed', runId: 'r', error: { code: 'provider_auth' } },
    { type: 'usage', runId: 'r:flush' },
    { type: 'transcript', add: ['r', 'b'] },
  ])
  end(walk, { ids: ['r', 'b'], compactions: 1 })

  expect(walk.output).toMatchObject({ status: 'completed', flushed: { costUsd: 0.0123 }, compactions: 1, text: 'hello' })
})

test('notes can ask people and shorten the history, too; a stop meanwhile ends the turn; they have a time', () => {
  const walk = flushing()
  walk.heard()
  for (const event of [
    { type: 'tool.waiting', approval: {} },
    { type: 'tool.decided', callId: 'c' },
    { type: 'compaction.started' },
    { type: 'compaction.ended' },
  ])
    walk.tell('flush', { type: 'say', event })
  expect(walk.heard().map(({ type }) => type)).toEqual(['tool.waiting', 'tool.decided', 'compaction.started', 'compaction.ended'])
  walk.send({ type: 'approve', callId: 'c' }).send({ type: 'cancel' })
  endFlush(walk, { status: 'cancelled' })
  expect(walk.output).toMatchObject({ status: 'cancelled', outcome: 'aborted', ids: ['r'], text: '' })

  expect(flushing({ runTimeoutMs: 1000 }).pass(1000).state).toEqual({ running: 'answering' })
})

test('[OC-23] where its node runs only so many turns at once it waits for room; what is said meanwhile is there from the beginning', () => {
  const walk = start({ lane: 'main' })
  expect(walk.state).toBe('waiting')
  walk.send({ type: 'steer', id: 'b' }).send({ type: 'lane.granted', waitedMs: 10 })
  expect(walk.state).toEqual({ running: 'answering' })
  expect(walk.heard()[0]).toMatchObject({ add: ['r', 'b'] })

  expect(start({ lane: 'main', ...full }, { tokens: 199_000 }).send({ type: 'lane.granted', waitedMs: 0 }).state).toBe('flushing')
  expect(start({ lane: 'main' }).send({ type: 'cancel' }).output).toMatchObject({ status: 'cancelled', outcome: 'aborted' })
})

const onChannel = (profile: Partial<Profile> = {}) =>
  start(profile, { origin: { channel: 'test', to: 'ann', thread: '7', messageId: '1' }, delivery: {} })
const told = (walk: ReturnType<typeof start>) => walk.child('publisher').getSnapshot().context.told

test('[OC-04, OC-64] where somebody follows it, a publisher is told of all that is done, and the turn ends when that has', () => {
  const walk = onChannel()
  const edges = [
    { type: 'model.started', attempt: 1, model: 'test/model' },
    { type: 'model.ended', text: 'hello' },
    { type: 'tool.started', callId: 'c', name: 'work', input: {} },
    { type: 'tool.ended', callId: 'c', name: 'work', output: 1 },
  ]
  for (const event of edges) say(walk, event)
  walk.send({ type: 'configure', verbose: 'on' })
  end(walk)
  expect(walk.state).toBe('delivering')
  expect(told(walk)).toMatchObject([...edges, { type: 'configure', verbose: 'on' }, { type: 'turn.ended', answer: { text: 'hello' } }])

  walk.tell('publisher', { type: 'flushed' })

  expect(walk.state).toBe('completed')
  expect(walk.output).toMatchObject({ outcome: 'replied', reply: { text: 'as it was sent' } })
})

test.each([
  ['failed', { status: 'failed', texts: [], error: { code: 'provider_auth', message: 'no', retryable: false } }],
  ['cancelled', { status: 'cancelled' }],
] as const)('[OC-04] a turn that %s ends its publisher, too', (status, output) => {
  const walk = end(onChannel(), output as Partial<LoopOutput>)
  expect(told(walk).at(-1)).toMatchObject({ type: 'turn.ended', answer: { status } })

  expect(walk.tell('publisher', { type: 'flushed' }).state).toBe(status)
})

test('[OC-23] a turn that is stopped before it began has no answer, and its publisher ends without one', () => {
  const walk = onChannel({ lane: 'main' }).send({ type: 'cancel' })

  expect(told(walk)).toEqual([{ type: 'turn.stopped' }])
  expect(walk.tell('publisher', { type: 'flushed' }).output).toMatchObject({ status: 'cancelled', outcome: 'aborted' })
})

test('messages that did not arrive are counted in the outcome, unless somebody stopped the turn', () => {
  const lost = (output: Partial<LoopOutput>) => end(onChannel(), output).tell('publisher', { type: 'lost' }).output

  expect(lost({})).toMatchObject({ status: 'completed', undelivered: 1 })
  expect(lost({ status: 'cancelled' })).not.toHaveProperty('undelivered')
})

test('[OC-04] a channel that never answers does not hold the turn for ever, and whoever wants to can stop it before', () => {
  const waiting = () => end(onChannel({ runTimeoutMs: 1000 }))
  const patient = waiting().pass(999)
  expect(told(patient).at(-1)).toMatchObject({ type: 'turn.ended' })
  expect(told(patient.pass(1)).at(-1)).toEqual({ type: 'turn.stopped' })
  const stopped = waiting().send({ type: 'cancel' })
  expect(told(stopped).at(-1)).toEqual({ type: 'turn.stopped' })

  expect(stopped.tell('publisher', { type: 'flushed' }).state).toBe('completed')
})

test.each([
  ['completed', {}],
  ['failed', { status: 'failed', error: { code: 'provider_auth', message: 'no', retryable: false } }],
  ['cancelled', { status: 'cancelled' }],
] as const)('where the publisher fails, a turn that has %s ends so all the same', (status, output) => {
  const walk = end(onChannel(), output).send({ type: 'xstate.error.actor.publisher', error: new Error('gone') })

  expect(walk.output).toMatchObject({ status, text: 'hello' })
})

test('a publisher that has ended or failed before there was an answer is not waited for', () => {
  for (const gone of [
    onChannel().tell('publisher', { type: 'flushed' }),
    onChannel().send({ type: 'xstate.error.actor.publisher', error: new Error('gone') }),
  ]) {
    say(gone, { type: 'model.ended', text: 'hello' })
    expect(gone.state).toEqual({ running: 'answering' })
    expect(end(gone).state).toBe('completed')
  }
})

// ---- Links and media

const looking = (facts: Partial<TurnFacts> = {}, profile: Partial<Profile> = {}) => start(profile, facts, {}, turn, { unread: [unread('r')] })
const tell = (walk: ReturnType<typeof start>, report: { type: string; [key: string]: unknown }) =>
  walk.tell('understanding', { type: 'say', event: report })

test('[CH-20, CH-21] links and media are looked at before the model is asked, and what was found goes into the transcript with their message', () => {
  const walk = looking()
  expect(walk.state).toBe('understanding')
  tell(walk, understood('r'))

  expect(walk.state).toEqual({ running: 'answering' })
  expect(walk.heard()).toEqual([{ type: 'transcript', add: [{ prompt: { ids: ['r'], looked: ['r:lookup-0'] } }] }])
  expect(end(walk).output).toMatchObject({ outcome: 'replied', transcriptLength: 6 })
})

test('[CH-20, CH-21] where nothing was found the message stands there as it is', () => {
  const walk = tell(looking(), understood('r', { found: [] }))

  expect(walk.heard()).toEqual([{ type: 'transcript', add: ['r'] }])
})

test('[CH-21] a message that comes meanwhile is looked at, too, before the model is asked about both', () => {
  const walk = looking()
    .send({ type: 'steer', id: 'b', unread: unread('b') })
    .send({ type: 'steer', id: 'c' })
  tell(walk, understood('r'))
  expect(walk.state).toBe('understanding')
  tell(walk, understood('b'))

  expect(walk.heard()).toEqual([
    {
      type: 'transcript',
      add: [{ prompt: { ids: ['r'], looked: ['r:lookup-0'] } }, { prompt: { ids: ['b'], looked: ['b:lookup-0'] } }, 'c'],
    },
  ])
})

test('[CH-21] it is stopped while it looks', () => {
  expect(looking().send({ type: 'cancel' }).output).toMatchObject({ status: 'cancelled', outcome: 'aborted' })
})

test('[CH-20] what was spoken and is said in words needs no answer; whoever follows the turn hears that it is over', () => {
  const spoken = understood('r', { found: [], spoken: true })
  const walk = tell(looking(), spoken)
  expect(walk.output).toMatchObject({ status: 'completed', outcome: 'silent', ids: ['r'], transcriptLength: 4 })

  const followed = tell(looking({ origin: { channel: 'test', to: 'ann' }, delivery: {} }), spoken)
  expect(followed.state).toBe('delivering')
  expect(followed.tell('publisher', { type: 'flushed' }).output).toMatchObject({ status: 'completed', outcome: 'silent' })
})

test('[CH-21] a turn that waited for its place, or took notes first, looks then', () => {
  const waited = looking({}, { lane: 'busy' })
  expect(waited.send({ type: 'lane.granted', waitedMs: 5 }).state).toBe('understanding')

  const noted = looking({ tokens: 990, window: 1000 }, { memoryFlush: { reserveTokens: 100, softTokens: 10 } })
  expect(noted.state).toBe('flushing')
  noted.tell('flush', { type: 'end', output: anAnswer({}) })
  expect(noted.state).toBe('understanding')
})

test('every transition of the chart has been taken', () => {
  expect(turn.missed()).toEqual([])
})
