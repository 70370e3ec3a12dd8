import { expect, test } from 'vitest'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { noUsage } from '../../../src/contracts/message.ts'
import type { ModelCallOutput } from '../../../src/contracts/model-call.ts'
import { defaultProfile, type Profile } from '../../../src/contracts/profile.ts'
import type { ToolCall } from '../../../src/contracts/tool.ts'
import { launchable, resultsOf } from '../../../src/machines/loop/calls.rules.ts'
import { mayRetry, retryDelayMs } from '../../../src/machines/loop/failure.rules.ts'
import { begin, type LoopContext, noCalls } from '../../../src/machines/loop/loop.context.ts'
import { loopMachine } from '../../../src/machines/loop/loop.machine.ts'
import { toolMachine } from '../../../src/machines/tool-call/tool.machine.ts'
import { reader, understood, unread } from '../reader.ts'
import { walker } from '../walk.ts'

const loop = walker(loopMachine, ['callModel', 'summarise'], (fake) => ({
  tool: toolMachine.provide({ actors: { execute: fake('execute') as never } }),
  understanding: reader,
}))
const hash = 'a'.repeat(64)
const aProfile = (profile: Partial<Profile> = {}): Profile => ({ ...defaultProfile, agent: 'main', model: 'test/model', ...profile })
const start = (profile: Partial<Profile> = {}) =>
  loop.start({ session: 's', runId: 'r', profile: aProfile(profile), ids: ['r'], transcriptLength: 5 })
const aCall = (place: number, call: Partial<ToolCall> = {}): ToolCall => ({
  id: `s/r:1:${place}`,
  callId: `c${place}`,
  name: 'work',
  input: {},
  inputHash: hash,
  needsApproval: false,
  onCrash: 'retry',
  timeoutMs: 60_000,
  attemptMax: 1,
  ...call,
})
const answer = (response: Partial<ModelCallOutput> = {}): ModelCallOutput => ({
  kind: 'model',
  id: 'r:1',
  text: 'hello',
  reasoning: '',
  calls: [],
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
  model: 'test/model',
  partial: false,
  ...response,
})
const calls = (count: number, call: Partial<ToolCall> = {}) =>
  answer({ text: '', calls: Array.from({ length: count }, (_, place) => aCall(place + 1, call)) })
const result = (place: number) => ({ kind: 'tool', id: `s/r:1:${place}`, callId: `c${place}`, name: 'work', output: place })
const notes = (walk: ReturnType<typeof start>) => walk.heard().flatMap((event) => (event.type === 'transcript' ? (event.add as unknown[]) : []))
const unavailable = new RuntimeError('provider_unavailable', 'down', { retryable: true })
/** The turn says that its time is up. */
const expire = { type: 'expire', error: { code: 'budget_time', message: 'time is up', retryable: false } }
const overflow = new RuntimeError('provider_overflow', 'too long')

test('plain: what was answered stands in the transcript', async () => {
  const walk = start()
  expect(walk.state).toEqual({ calling: 'streaming' })
  expect(walk.inputs('callModel')).toMatchObject([{ session: 's', runId: 'r', upTo: 5, call: 1 }])
  await walk.resolve('callModel', answer())

  expect(walk.state).toBe('completed')
  expect(walk.output).toMatchObject({
    status: 'completed',
    text: 'hello',
    answerId: 'r:1',
    steps: 1,
    transcriptLength: 6,
    usage: { inputTokens: 10 },
  })
  expect(walk.heard()).toMatchObject([{ type: 'transcript', add: [{ content: 'r:1' }] }])
})

const report = { at: 1, model: 'test/model', chars: 1, tokens: 1, sections: [], files: [], skills: [], tools: [], hashes: { instructions: 'a' } }
test('[CH-91] a prompt that is not as it was is told, with what has changed; the first one is not', async () => {
  const walk = await start().resolve('callModel', { ...calls(1), prompt: report })
  expect(walk.heard().map(({ type }) => type)).not.toContain('prefix')
  await walk.resolve('execute', result(1), 0)
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ prefix: { instructions: 'a' } })
  await walk.resolve('callModel', answer({ id: 'r:2', prompt: { ...report, hashes: { instructions: 'a', tools: 'b' } } }))

  expect(walk.heard()).toContainEqual({ type: 'prefix', runId: 'r', changed: ['tools'] })
})

test('[CH-94] nothing at all is asked for once more, without thinking; then it is an error', async () => {
  const nothing = answer({ text: ' ' })
  const walk = await start({ thinking: 'adaptive' }).resolve('callModel', nothing)
  expect(walk.inputs('callModel').map(({ thinking, call }: any) => [thinking, call])).toEqual([
    ['adaptive', 1],
    ['off', 2],
  ])
  expect((await walk.resolve('callModel', nothing)).output).toMatchObject({
    status: 'failed',
    error: { code: 'provider_malformed' },
    usage: { inputTokens: 20 },
  })

  const again = await start().resolve('callModel', nothing)
  expect((await again.resolve('callModel', answer())).output).toMatchObject({ status: 'completed', text: 'hello' })
  const heartbeat = await start({ heartbeat: true }).resolve('callModel', nothing)
  expect(heartbeat.output).toMatchObject({ status: 'completed' })
})

test('tools side by side: results in the order of the calls, then the next step', async () => {
  const walk = await start().resolve('callModel', calls(2))
  expect(walk.state).toEqual({ invoking: 'working' })
  expect(walk.inputs('execute')).toHaveLength(2)
  await walk.resolve('execute', result(2), 1)
  expect(walk.state).toEqual({ invoking: 'working' })
  await walk.resolve('execute', result(1), 0)

  expect(walk.state).toEqual({ calling: 'streaming' })
  expect(notes(walk)).toEqual([{ content: 'r:1' }, { content: 's/r:1:1' }, { content: 's/r:1:2' }])
  expect(walk.context).toMatchObject({ totals: { toolCalls: 2 }, transcriptLength: 8, step: { calls: [], results: [], launched: 0 } })
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ call: 2, upTo: 8 })
})

test('tools one by one: the next is launched when the one before has ended; a newer message ends the row', async () => {
  const walk = await start({ toolExecution: 'sequential' }).resolve('callModel', calls(3))
  expect(walk.inputs('execute')).toHaveLength(1)
  await walk.resolve('execute', result(1))
  expect(walk.inputs('execute')).toHaveLength(2)
  walk.send({ type: 'steer', id: 'b' })
  await walk.resolve('execute', result(2))

  expect(walk.state).toEqual({ calling: 'streaming' })
  expect(notes(walk).slice(1)).toEqual([
    { content: 's/r:1:1' },
    { content: 's/r:1:2' },
    expect.objectContaining({ callId: 'c3', isError: true }),
    'b',
  ])
})

test('a message before the tools: none of them is launched', async () => {
  const walk = await start().send({ type: 'steer', id: 'b' }).resolve('callModel', calls(1))

  expect(walk.inputs('execute')).toEqual([])
  expect(notes(walk).slice(1)).toEqual([
    expect.objectContaining({ callId: 'c1', output: { error: expect.objectContaining({ code: 'tool_skipped' }) } }),
    'b',
  ])
  expect(walk.context.ids).toEqual(['r', 'b'])
})

test('a message during an answer of text: one more step', async () => {
  const walk = await start().send({ type: 'steer', id: 'b' }).resolve('callModel', answer())
  expect(walk.state).toEqual({ calling: 'streaming' })

  expect((await walk.resolve('callModel', answer({ id: 'r:2', text: 'again' }))).output).toMatchObject({ text: 'again', ids: ['r', 'b'], steps: 2 })
})

test('a person decides: the session is told, and the decision reaches the call that waits', async () => {
  const walk = await start().resolve('callModel', calls(2, { needsApproval: true }))
  expect(walk.state).toEqual({ invoking: 'awaiting-input' })
  const decide = (place: number, decision: string) => walk.send({ type: 'approve', callId: `s/r:1:${place}`, decision, inputHash: hash, attempt: 1 })
  expect(walk.heard().filter(({ type }) => type === 'tool.waiting')).toHaveLength(2)
  decide(7, 'approve')
  decide(1, 'deny')
  expect(walk.state).toEqual({ invoking: 'awaiting-input' })
  decide(2, 'approve')
  expect(walk.state).toEqual({ invoking: 'working' })
  await walk.resolve('execute', result(2))

  expect(walk.state).toEqual({ calling: 'streaming' })
  expect(walk.heard().filter(({ type }) => type === 'tool.decided')).toHaveLength(2)
})

test('stop during a model call: it is asked for what it has, and that is kept', async () => {
  const walk = start().send({ type: 'cancel' }).send({ type: 'cancel' })
  expect(walk.state).toEqual({ calling: 'stopping' })
  await walk.resolve('callModel', answer({ text: 'hel', partial: true }))

  expect(walk.state).toBe('cancelled')
  expect(walk.output).toMatchObject({ status: 'cancelled', text: 'hel', partial: true })
})

test.each([
  ['fails', (walk: ReturnType<typeof start>) => walk.reject('callModel', unavailable)],
  ['does not answer', (walk: ReturnType<typeof start>) => walk.pass(1000)],
  ['does not answer before the time of the turn is up', (walk: ReturnType<typeof start>) => walk.send(expire)],
])('stop, and the model call %s: cancelled all the same', async (_, happens) => {
  const walk = start().send({ type: 'cancel' })
  await happens(walk)

  expect(walk.output).toMatchObject({ status: 'cancelled', text: '' })
})

test('stop after the last word of a model call that wants tools: they are paired and do not run', async () => {
  const walk = await start().send({ type: 'cancel' }).resolve('callModel', calls(1))

  expect(walk.output).toMatchObject({ status: 'cancelled', transcriptLength: 7 })
  expect(walk.inputs('execute')).toEqual([])
})

test.each(['parallel', 'sequential'] as const)('stop during %s tools: all are paired, what was said meanwhile is not lost', async (toolExecution) => {
  const walk = await start({ toolExecution }).resolve('callModel', calls(3))
  walk.send({ type: 'steer', id: 'b' }).send({ type: 'cancel' })

  expect(walk.output).toMatchObject({ status: 'cancelled', transcriptLength: 10 })
  expect(
    notes(walk)
      .slice(1)
      .map((item) => (item as { callId?: string }).callId ?? item),
  ).toEqual(['c1', 'c2', 'c3', 'b'])
})

test('a model that fails in a way that may pass is asked again, and gives up in the end', async () => {
  const walk = await start({ modelAttemptMax: 2 }).reject('callModel', unavailable)
  expect(walk.state).toBe('retrying')
  expect(walk.heard().at(-1)).toMatchObject({ type: 'retry', attempt: 1, delayMs: 500 })
  expect(walk.pass(500).state).toEqual({ calling: 'streaming' })
  await walk.reject('callModel', unavailable)

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_unavailable' } })
})

test('an answer after a failure shows nothing of it', async () => {
  const walk = (await start().reject('callModel', unavailable)).pass(500)

  expect((await walk.resolve('callModel', answer())).output).toMatchObject({ error: null })
})

test('stop during the pause', async () => {
  expect((await start().reject('callModel', unavailable)).send({ type: 'cancel' }).output).toMatchObject({ status: 'cancelled' })
})

test('overflow: old history becomes a summary, once for each step', async () => {
  const walk = await start().reject('callModel', overflow)
  expect(walk.state).toBe('compacting')
  expect(walk.inputs('summarise')).toMatchObject([{ upTo: 5, id: 'r:summary-1' }])
  await walk.resolve('summarise', { kind: 'summary', id: 'r:summary-1', text: 'S', keep: 2, usage: noUsage })

  expect(walk.inputs('callModel').at(-1)).toMatchObject({ upTo: 3, call: 2 })
  expect(walk.heard()).toMatchObject([
    { type: 'compacting' },
    { type: 'compaction.started' },
    { type: 'compaction.ended' },
    { type: 'transcript', compact: { keep: 2, summary: 'r:summary-1' } },
    { type: 'compacted', keep: 2 },
  ])
  await walk.reject('callModel', overflow)
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ shorten: true, call: 3 })
  await walk.reject('callModel', overflow)
  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_overflow' }, compactions: 1 })
})

test('where somebody wants to know, it tells when calls of models and tools begin and end, and what tools that succeeded carry', async () => {
  const walk = loop.start({
    session: 's',
    runId: 'r',
    profile: aProfile({ toolExecution: 'sequential' }),
    ids: ['r'],
    transcriptLength: 5,
    reports: true,
  })
  const told = () => walk.heard().filter(({ type }) => type.startsWith('model.') || type.startsWith('tool.'))
  const [first, second] = [{ sends: { text: 'first' } }, { sends: { text: 'second' } }]
  await walk.resolve('callModel', answer({ text: '', calls: [aCall(1, { annotations: first }), aCall(2, { annotations: second }), aCall(3)] }))
  expect(told()).toEqual([
    { type: 'model.started', attempt: 1, model: 'test/model' },
    { type: 'model.ended', text: '' },
    { type: 'tool.started', callId: 's/r:1:1', name: 'work', input: {} },
  ])
  await walk.resolve('execute', result(1))
  expect(told()).toEqual([
    { type: 'tool.ended', callId: 's/r:1:1', name: 'work', status: 'completed', output: 1 },
    { type: 'tool.started', callId: 's/r:1:2', name: 'work', input: {} },
  ])
  await walk.reject('execute', new RuntimeError('tool_failed', 'no'))
  expect(told()[0]).toMatchObject({ type: 'tool.ended', callId: 's/r:1:2', output: { error: { code: 'tool_failed' } } })
  await walk.resolve('execute', result(3))

  expect((await walk.resolve('callModel', answer())).output.annotations).toEqual([first])
})

test('a call that somebody above runs is told to them, and gets what they answer', async () => {
  const walk = loop.start({ session: 's', runId: 'r', profile: aProfile(), ids: ['r'], transcriptLength: 5, delegates: true })
  await walk.resolve('callModel', answer({ text: '', calls: [aCall(1, { delegated: true }), aCall(2, { delegated: true })] }))
  expect(walk.heard().filter(({ type }) => type === 'tool.delegated')).toEqual([
    { type: 'tool.delegated', callId: 's/r:1:1', name: 'work', input: {} },
    { type: 'tool.delegated', callId: 's/r:1:2', name: 'work', input: {} },
  ])

  walk.send({ type: 'answer', callId: 's/r:1:2', output: 'two' })
  walk.send({ type: 'answer', callId: 'other', output: 'nobody asked' })
  expect(walk.inputs('callModel')).toHaveLength(1)
  walk.send({ type: 'answer', callId: 's/r:1:1', error: { code: 'tool_failed', message: 'no', retryable: false } })

  expect(walk.inputs('callModel').at(-1)).toMatchObject({ call: 2 })
  expect(walk.heard().findLast(({ type }) => type === 'transcript')).toMatchObject({
    add: [
      { role: 'tool', callId: 'c1', isError: true, output: { error: { message: 'no' } } },
      { role: 'tool', callId: 'c2', isError: false, output: 'two' },
    ],
  })
})

test('where nobody does, it tells nothing', async () => {
  const walk = start()
  await walk.resolve('callModel', calls(1))
  await walk.resolve('execute', result(1))

  expect(walk.heard().filter(({ type }) => type.startsWith('model.') || type.startsWith('tool.'))).toEqual([])
})

test.each([
  // Of a large window 20,000 tokens are kept free, of one below 80,000 a quarter.
  [200_000, 180_000],
  [80_000, 60_000],
  [79_996, 59_997],
  [40_000, 30_000],
  [8_000, 6_000],
])('a window of %i tokens is full beyond %i', async (contextTokens, most) => {
  const stepped = async (inputTokens: number) => {
    const response = answer({ calls: [aCall(1)], usage: { ...noUsage, inputTokens, outputTokens: 0 }, contextTokens })
    return (await (await start().resolve('callModel', response)).resolve('execute', result(1))).state
  }

  expect(await stepped(most)).toEqual({ calling: 'streaming' })
  expect(await stepped(most + 1)).toBe('compacting')
})

test('a conversation that leaves too little room for the answer is shortened before the next step', async () => {
  const full = answer({ calls: [aCall(1)], usage: { ...noUsage, inputTokens: 180_001, outputTokens: 0 }, contextTokens: 200_000 })
  const stepped = async (response: ModelCallOutput) => (await start().resolve('callModel', response)).resolve('execute', result(1))
  expect((await stepped({ ...full, usage: { ...full.usage, inputTokens: 180_000 } })).state).toEqual({ calling: 'streaming' })

  const walk = await stepped(full)
  expect(walk.state).toBe('compacting')
  await walk.reject('summarise', new RuntimeError('provider_unavailable', 'down'))

  // It was not needed yet.
  expect(walk.state).toEqual({ calling: 'streaming' })
  await walk.resolve('callModel', answer())
  expect(walk.output).toMatchObject({ status: 'completed', compactions: 0, tokens: 15, window: 200_000 })
})

test('what is known of the conversation from before counts, too', () => {
  const walk = loop.start({ session: 's', runId: 'r', profile: aProfile(), ids: ['r'], transcriptLength: 5, tokens: 31_000, window: 32_000 })

  expect(walk.state).toBe('compacting')
})

const rateLimit = new RuntimeError('provider_rate_limit', 'slow down', { retryable: true })

test('[OC-48] a model that cannot answer makes room for the next one, with what failed and why', async () => {
  const walk = await start({ fallbacks: ['test/b', 'test/model', 'test/c'] }).reject('callModel', rateLimit)
  expect(walk.inputs('callModel').map(({ model }) => model)).toEqual(['test/model', 'test/b'])
  expect(walk.heard().find(({ type }) => type === 'fallback')).toMatchObject({
    model: 'test/b',
    attempts: [{ model: 'test/model', reason: 'rate_limit' }],
  })
  await walk.resolve('callModel', answer({ model: 'b' }))

  expect(walk.output).toMatchObject({ status: 'completed', model: 'b', attempts: [{ model: 'test/model', reason: 'rate_limit' }] })
})

test('[OC-48] when none can answer, all begin anew after a pause; in the end every attempt is named', async () => {
  const walk = await start({ fallbacks: ['test/b'], modelAttemptMax: 2 }).reject('callModel', rateLimit)
  await walk.reject('callModel', unavailable)
  expect(walk.state).toBe('retrying')
  await walk.pass(500).reject('callModel', rateLimit)
  await walk.reject('callModel', unavailable)

  expect(walk.inputs('callModel').map(({ model }) => model)).toEqual(['test/model', 'test/b', 'test/model', 'test/b'])
  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_rate_limit', message: expect.stringContaining('test/b') } })
  expect(walk.output.attempts).toHaveLength(4)
})

test('[OC-49] an error that no other model would mend ends it at once', async () => {
  const walk = await start({ fallbacks: ['test/b'] }).reject('callModel', new RuntimeError('provider_rejected', 'a picture is too large'))

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' } })
  expect(walk.inputs('callModel')).toHaveLength(1)
})

test('[OC-50] as long as its provider has another credential, the same model is asked', async () => {
  const failed = new RuntimeError('provider_auth', 'no', { data: { credential: 'a', otherCredentials: true } })
  const walk = await start({ fallbacks: ['test/b'] }).reject('callModel', failed)
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ model: 'test/model', tried: ['a'] })
  await walk.reject('callModel', new RuntimeError('provider_auth', 'no', { data: { credential: 'b', otherCredentials: false } }))

  expect(walk.inputs('callModel').at(-1)).toMatchObject({ model: 'test/b' })
  expect(walk.inputs('callModel').at(-1)).not.toHaveProperty('tried')
})

test('[OC-52] a level of thinking that the provider does not take is replaced by one that it names', async () => {
  const refused = new RuntimeError('provider_rejected', "thinking level 'high' is not supported; supported values are: 'low', 'medium'")
  const walk = await start({ thinking: 'high' }).reject('callModel', refused)
  expect(walk.inputs('callModel').map(({ thinking }) => thinking)).toEqual(['high', 'low'])
  await walk.reject('callModel', refused)
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ thinking: 'medium' })
  await walk.reject('callModel', refused)

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' } })
})

test('a summary that fails ends the turn with its error', async () => {
  const walk = await (await start().reject('callModel', overflow)).reject('summarise', new RuntimeError('provider_auth', 'no'))

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } })
})

test.each<[string, Partial<Profile>, string]>([
  ['steps', { stepMax: 1 }, 'budget_steps'],
  ['tokens', { tokenMax: 15 }, 'budget_tokens'],
  ['tool calls', { toolCallMax: 0 }, 'budget_tool_calls'],
])('the budget of %s is looked at before the act', async (_, profile, code) => {
  const walk = await start(profile).resolve('callModel', calls(1))
  if (code !== 'budget_tool_calls') await walk.resolve('execute', result(1))

  expect(walk.output).toMatchObject({ status: 'failed', error: { code, hint: expect.any(String) }, transcriptLength: 7 })
  expect(walk.inputs('callModel')).toHaveLength(1)
})

test('the time of a turn is up while tools work: those are stopped and paired', async () => {
  const walk = (await start().resolve('callModel', calls(1))).send(expire)

  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'budget_time' }, transcriptLength: 7 })
  expect(notes(walk).at(-1)).toMatchObject({ output: { error: { code: 'budget_time' } } })
})

test('[OC-11] a message that is shown as well as having its own turn is not counted; one that was dropped meanwhile is not shown', async () => {
  const walk = start()
    .send({ type: 'steer', id: 'b', again: true })
    .send({ type: 'steer', id: 'c', again: true })
    .send({ type: 'forget', ids: ['b', 'x'] })
  await walk.resolve('callModel', answer())

  expect(notes(walk)).toEqual([{ content: 'r:1' }, { prompt: { ids: ['c'], again: true } }])
  expect(walk.context.ids).toEqual(['r'])
})

test('[OC-54] what a model has said by the time that its time is up is kept; somebody who stops it then, too, has stopped it', async () => {
  const walk = start().send(expire)
  expect(walk.state).toEqual({ calling: 'stopping' })
  await walk.resolve('callModel', answer({ text: 'hel', partial: true }))
  expect(walk.output).toMatchObject({ status: 'failed', error: { code: 'budget_time' }, text: 'hel', partial: true })

  expect((await start().send(expire).reject('callModel', unavailable)).output).toMatchObject({ status: 'failed', error: { code: 'budget_time' } })
  expect(start().send(expire).pass(1000).output).toMatchObject({ status: 'failed', error: { code: 'budget_time' } })
  expect(start().send(expire).send({ type: 'cancel' }).pass(1000).output).toMatchObject({ status: 'cancelled' })
})

test('after ten calls in a row of tools that do not exist it gives up, with all of them answered', async () => {
  const walk = await start().resolve('callModel', calls(10, { problem: { code: 'tool_unknown', message: 'there is no tool' } }))

  expect(walk.state).toBe('failed')
  expect(walk.output).toMatchObject({ error: { code: 'tool_unknown', hint: expect.any(String) }, toolCalls: 10, transcriptLength: 16 })
})

test('calls that the client runs end the loop when its own have ended, and are answered where it is stopped', async () => {
  const mixed = () => calls(2).calls.map((call, index) => (index === 1 ? { ...call, client: true as const } : call))
  const walk = await start().resolve('callModel', answer({ text: '', calls: mixed() }))
  expect(walk.inputs('execute')).toHaveLength(1)

  await walk.resolve('execute', result(1))

  expect(walk.state).toBe('completed')
  expect(walk.output).toMatchObject({ pendingCalls: [{ callId: 's/r:1:2', modelCallId: 'c2', name: 'work', input: {} }], transcriptLength: 7 })
  const stopped = (await start().resolve('callModel', answer({ text: '', calls: mixed() }))).send({ type: 'cancel' })
  expect(stopped.output).toMatchObject({ status: 'cancelled', transcriptLength: 8 })
  expect(stopped.output.pendingCalls).toBeUndefined()
})

test('[CH-21] links of a message that joins are looked at while the model is busy, and waited for before it is shown', async () => {
  const walk = start().send({ type: 'steer', id: 'b', unread: unread('b') })
  await walk.resolve('callModel', answer())
  expect(walk.state).toBe('reading')
  walk.tell('understanding-1', { type: 'say', event: understood('b') })

  expect(walk.state).toEqual({ calling: 'streaming' })
  expect(notes(walk)).toEqual([{ content: 'r:1' }, { prompt: { ids: ['b'], looked: ['b:lookup-0'] } }])
  expect(walk.inputs('callModel').at(-1)).toMatchObject({ upTo: 7 })
})

test('[CH-21] what was looked at in time is not waited for', async () => {
  const walk = start()
    .send({ type: 'steer', id: 'b', unread: unread('b') })
    .tell('understanding-1', { type: 'say', event: understood('b', { found: [] }) })
  await walk.resolve('callModel', answer())

  expect(notes(walk)).toEqual([{ content: 'r:1' }, 'b'])
})

test('[CH-20] of an order that was spoken the model is not told; it is asked again only where there is something else to say', async () => {
  const spoken = understood('b', { found: [], spoken: true })
  const alone = start().send({ type: 'steer', id: 'b', unread: unread('b') })
  await alone.resolve('callModel', answer())
  alone.tell('understanding-1', { type: 'say', event: spoken })
  expect(alone.output).toMatchObject({ status: 'completed', ids: ['r', 'b'], transcriptLength: 6 })

  const busy = start()
    .send({ type: 'steer', id: 'b', unread: unread('b') })
    .send({ type: 'steer', id: 'c' })
  await busy.resolve('callModel', answer())
  busy.tell('understanding-1', { type: 'say', event: spoken })
  expect(notes(busy)).toEqual([{ content: 'r:1' }, 'c'])
})

test('every transition of the chart has been taken', () => {
  expect(loop.missed()).toEqual([])
})

// ---- The pure functions

const aContext = (context: Partial<LoopContext> = {}): LoopContext => ({
  ...begin({ input: { session: 's', runId: 'r', profile: aProfile(), ids: ['r'], transcriptLength: 0 } }),
  ...context,
})
const inRound = (round: number): LoopContext => aContext({ asked: { ...aContext().asked, round } })

test('pauses grow to a minute, and a provider is given the time that it asks for, within reason', () => {
  expect([1, 2, 3, 8, 30].map((round) => retryDelayMs(inRound(round)))).toEqual([500, 1000, 2000, 60_000, 60_000])
  const asks = (retryAfterMs: number) => ({ ...unavailable.toJSON(), data: { retryAfterMs } })
  expect(retryDelayMs(aContext({ error: asks(90_000) }))).toBe(90_000)
  expect([100_000, 200_000].map((ms) => mayRetry(aContext(), asks(ms)))).toEqual([true, false])
  expect(mayRetry(inRound(4), unavailable.toJSON())).toBe(false)
  expect(mayRetry(aContext(), overflow.toJSON())).toBe(false)
})

test('what can be launched: all at once, or one when nothing runs', () => {
  const step = { ...noCalls, calls: [aCall(1), aCall(2), aCall(3)], results: [null, null, null] }
  const input = { ...aContext().input, profile: aProfile({ toolExecution: 'sequential' }) }
  expect(launchable(aContext({ step }))).toEqual([0, 1, 2])
  expect(launchable(aContext({ step, input }))).toEqual([0])
  expect(launchable(aContext({ step: { ...step, launched: 1 }, input }))).toEqual([])
  expect(launchable(aContext({ step: { ...step, launched: 1, results: [{ content: 'x' }, null, null] }, input }))).toEqual([1])
})

test('a stand-in says what became of the call', () => {
  const step = { ...noCalls, calls: [aCall(1), aCall(2)], results: [null, null], launched: 1 }
  const messages = (context: Partial<LoopContext>) =>
    resultsOf(aContext({ step, ...context })).map((item) => (item as { output: { error: { message: string } } }).output.error.message)

  expect(messages({})).toEqual(['stopped in its work: a newer message came first', 'not run: a newer message came first'])
  expect(messages({ cancelled: true })[1]).toBe('not run: somebody stopped the turn')
  expect(messages({ error: { code: 'budget_time', message: 'time is up', retryable: false } })).toEqual([
    'stopped in its work: time is up',
    'not run: time is up',
  ])
})

test.each(['length', 'content-filter'] as const)(
  'an answer that its provider cut off (%s) is completed, and says that it is not whole',
  async (finish) => {
    const walk = start()

    await walk.resolve('callModel', answer({ text: 'half a wo', finish }))

    expect(walk.output).toMatchObject({ status: 'completed', text: 'half a wo', partial: true, finish })
  },
)

test.each<[Partial<ModelCallOutput>]>([[{ finish: 'stop' }], [{}]])(
  'an answer that ended regularly says nothing about its end: %j',
  async (response) => {
    const walk = start()

    await walk.resolve('callModel', answer(response))

    expect(walk.output).toMatchObject({ status: 'completed', partial: false })
    expect(walk.output.finish).toBeNull()
  },
)

test('an answer that ended for a reason of its provider names it', async () => {
  const walk = start()

  await walk.resolve('callModel', answer({ finish: 'other' }))

  expect(walk.output).toMatchObject({ partial: false, finish: 'other' })
})

test('after an answer that was cut off, a whole one is whole', async () => {
  const walk = start()

  await walk.resolve('callModel', answer({ finish: 'length', calls: [aCall(1)] }))
  await walk.resolve('execute', result(1))
  await walk.resolve('callModel', answer({ id: 'r:2', finish: 'stop' }))

  expect(walk.output).toMatchObject({ status: 'completed', partial: false })
  expect(walk.output.finish).toBeNull()
})

test('an answer that somebody stopped is partial, without a word of its provider', async () => {
  const walk = start()
  walk.send({ type: 'cancel' })

  await walk.resolve('callModel', answer({ text: 'hel', partial: true, finish: 'other' }))

  expect(walk.output).toMatchObject({ status: 'cancelled', partial: true })
  expect(walk.output.finish).toBeNull()
})
