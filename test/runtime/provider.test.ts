/** A provider that fails, and the budgets of a turn. */
import { expect, test } from 'vitest'
import { agent, type RunEvent } from '../../src/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { expectNothingAlive, outcomes, story, work, worker } from './harness.ts'

const tools = (world: Parameters<ReturnType<typeof worker>>[0]) => [worker()(world)]
const retries = (events: RunEvent[]) => events.flatMap((event) => (event.type === 'retry' ? [event.delayMs] : []))

test('what may pass is tried again after a pause that grows; the answer shows nothing of it', async () => {
  const errors = [{ status: 503 }, { code: 'provider_timeout' as const }, { status: 500 }]
  await using told = await story([{ text: 'at last', errors }])
  const began = told.clock.now()

  const answer = await told.clock.until((await told.say('hello')).result())

  expect(answer).toMatchObject({ text: 'at last', steps: 1 })
  expect(answer).not.toHaveProperty('error')
  expect(retries(told.events('main'))).toEqual([500, 1000, 2000])
  expect(told.clock.now() - began).toBe(3500)
})

test('Retry-After is kept to; a provider that wants more patience than is sensible fails at once, with its wish', async () => {
  await using told = await story([
    { text: 'ok', errors: [{ status: 429, retryAfterMs: 90_000 }] },
    { error: { status: 429, retryAfterMs: 3_600_000 } },
  ])
  const began = told.clock.now()
  await told.clock.until((await told.say('hello')).result())
  expect(told.clock.now() - began).toBe(90_000)

  const run = await told.say('again')

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_rate_limit', data: { retryAfterMs: 3_600_000 } })
  expect(told.clock.now() - began).toBe(90_000)
})

test('it gives up after as many attempts as it has with the typed error of the last attempt; the next message works', async () => {
  let broken = true
  await using told = await story(() => (broken ? { error: { status: 503 } } : { text: 'back' }), { modelAttemptMax: 3 })
  const run = await told.say('a', { idempotencyKey: 'a' })

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_unavailable', data: { runId: 'a', text: '' } })
  expect(retries(told.events('main'))).toHaveLength(2)
  await expectNothingAlive(told)
  broken = false
  await told.clock.until((await told.say('b', { idempotencyKey: 'b' })).result())
  expect(await told.transcript()).toEqual(['user: a', 'user: b', 'assistant: back'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'error', b: 'final' })
})

test.each(['provider_auth', 'provider_billing', 'provider_rejected'] as const)('%s fails at once', async (code) => {
  await using told = await story([{ error: { code } }])
  const began = told.clock.now()

  await expect(told.clock.until((await told.say('a')).result())).rejects.toMatchObject({ code })
  expect(told.clock.now()).toBe(began)
})

test('an unknown model or one whose script is over fails at once, and the session goes on', async () => {
  await using told = await story([{ text: 'one' }])
  await expect(told.clock.until((await told.say('a', { model: 'nobody/knows' })).result())).rejects.toMatchObject({ code: 'provider_unknown_model' })

  expect((await told.clock.until((await told.say('b')).result())).text).toBe('one')
})

test('the pause before another attempt survives a crash, and its end comes when it was due', async () => {
  await using told = await story([{ text: 'ok', errors: [{ status: 429, retryAfterMs: 60_000 }] }])
  await told.say('a', { idempotencyKey: 'a' })
  const began = told.clock.now()
  await told.clock.advance(20_000)
  await told.crash()
  await told.clock.advance(20_000)
  // Another process does not know that the script failed before, so it fails once more there.
  await told.restart({ models: { 'test/model': [{ text: 'ok' }] } })

  await told.clock.until(told.main.wait('a'))

  expect(told.clock.now() - began).toBe(60_000)
})

const cut = { chunks: ['half a ', 'wo', 'rd'], cutAfter: 9 }
test.each([
  ['that stops in mid-word [BAD-MODEL-CUT]', { ...cut }, 'provider_malformed'],
  ['that streams garbage [BAD-MODEL-GARBAGE]', { text: 'so far so good', garbage: true }, 'provider_malformed'],
  ['that never ends [BAD-MODEL-ENDLESS]', { text: 'again ', endless: true, deltaDelayMs: 1000 }, 'provider_timeout'],
  ['that says too much [BAD-MODEL-ENDLESS]', { text: 'again '.repeat(100), endless: true }, 'provider_malformed'],
  ['that goes silent', { text: 'well, ', hang: true }, 'provider_timeout'],
])('a model %s: never half an answer, a typed error in bounded time, and other sessions go on [INV-9, INV-10]', async (_, response, code) => {
  await using told = await story([response], {
    modelAttemptMax: 2,
    limits: { modelCall: { idleTimeoutMs: 5000, totalTimeoutMs: 30_000, outputCharsMax: 5000 } },
    runtime: { models: { 'test/model': [response], 'test/good': [{ text: 'all well' }] } },
  })
  const run = await told.say('a')
  const other = await told.clock.until(told.session('other').send('b', { model: 'test/good' }))

  expect((await told.clock.until(other.result())).text).toBe('all well')
  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code, data: { text: '' } })
  expect(await told.transcript()).toEqual(['user: a'])
  const attempts = new Set(told.events('main').flatMap((event) => (event.type === 'delta' ? [event.attempt] : [])))
  expect([...attempts]).toEqual([1, 2])
  await expectNothingAlive(told)
})

test('deltas are numbered by run, attempt and index without a gap, come before the commit, and at the end the journal speaks [INV-9]', async () => {
  await using told = await story(
    [
      { chunks: ['a', 'b'], calls: [work('x')], reasoning: 'hm hm' },
      { chunks: ['c', 'd', 'e'], deltaDelayMs: 10 },
    ],
    { tools },
  )
  const run = await told.say('go', { idempotencyKey: 'r' })
  const seen: { at: number; commits: number }[] = []
  for await (const event of run.events())
    if (event.type === 'delta') seen.push({ at: event.index, commits: await told.commits('main') })
    else if (event.type === 'tool' && event.phase === 'completed') void told.clock.advance(100)

  const deltas = told.events('main').flatMap((event) => (event.type === 'delta' ? [event] : []))
  expect(deltas.map(({ runId, attempt, index, kind, text }) => [runId, attempt, index, kind, text])).toEqual([
    ['r', 1, 0, 'reasoning', 'hm '],
    ['r', 1, 1, 'reasoning', 'hm'],
    ['r', 1, 2, 'text', 'a'],
    ['r', 1, 3, 'text', 'b'],
    ['r', 2, 0, 'text', 'c'],
    ['r', 2, 1, 'text', 'd'],
    ['r', 2, 2, 'text', 'e'],
  ])
  expect(told.events('main').at(-1)).toMatchObject({ type: 'final', text: 'cde' })
  expect(await told.commits('main')).toBe(4)
  expect(seen.at(-1)?.commits).toBeLessThan(4)
})

test('after a crash in mid-stream the model is asked anew: another attempt, whose text is the answer [INV-9]', async () => {
  await using told = await story([{ chunks: ['one ', 'two ', 'three'], deltaDelayMs: 100 }])
  await told.say('count', { idempotencyKey: 'a' })
  await told.clock.advance(150)
  await told.crash()
  await told.restart()

  const answer = await told.clock.until(told.main.wait('a'))

  const deltas = told.events('main').flatMap((event) => (event.type === 'delta' ? [`${event.attempt}.${event.index} ${event.text}`] : []))
  expect(deltas).toEqual(['1.0 one ', '1.1 two ', '2.0 one ', '2.1 two ', '2.2 three'])
  expect(answer.text).toBe('one two three')
})

test('budget of steps: checked before the next model call', async () => {
  await using told = await story(({ messages }) => ({ calls: [work(`n${messages.length}`)] }), { tools, stepMax: 3 })

  await expect(told.clock.until((await told.say('go')).result())).rejects.toMatchObject({
    code: 'budget_steps',
    hint: expect.stringContaining('limits: { steps }'),
  })

  expect(told.did.filter((what) => what.endsWith('ends'))).toHaveLength(3)
  expect((await told.transcript()).at(-1)).toMatch(/^tool work: "n\d+ done"/)
})

test('budget of tokens: a turn that has used them makes no other call', async () => {
  await using told = await story(() => ({ calls: [work('x')], usage: { inputTokens: 90, outputTokens: 10 } }), { tools, tokenMax: 250 })
  const run = await told.say('go')

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'budget_tokens', hint: expect.stringContaining('limits: { tokens }') })

  expect(told.events('main').at(-1)).toMatchObject({ type: 'error', steps: 3, usage: { inputTokens: 270, outputTokens: 30 } })
})

test('budget of tool calls: a batch that would exceed it does not run at all, and is paired', async () => {
  await using told = await story([{ calls: [work('a'), work('b')] }, { calls: [work('c'), work('d')] }, { text: 'ok' }], { tools, toolCallMax: 3 })

  await expect(told.clock.until((await told.say('go')).result())).rejects.toMatchObject({
    code: 'budget_tool_calls',
    hint: expect.stringContaining('limits: { toolCalls }'),
  })

  expect(told.did).not.toContain('c starts')
  expect((await told.transcript()).slice(-2)).toEqual(['tool work: ! budget_tool_calls', 'tool work: ! budget_tool_calls'])
  expect((await told.clock.until((await told.say('sorry')).result())).text).toBe('ok')
})

test.each([
  ['a model call', { text: 'slow', hang: true }],
  ['a tool', { calls: [work('x', 3_600_000)] }],
  ['a pause', { error: { status: 429, retryAfterMs: 110_000 } }],
])('budget of wall time: it ends %s, also over a crash [INV-7]', async (_, response) => {
  await using told = await story([response], { tools, turnTimeMs: 30_000 })
  const began = told.clock.now()
  await told.say('go', { idempotencyKey: 'a' })
  await told.clock.advance(10_000)
  await told.crash()
  await told.restart()

  await expect(told.clock.until(told.main.wait('a'))).rejects.toMatchObject({
    code: 'budget_time',
    hint: expect.stringContaining('limits: { wallTimeMs }'),
  })

  expect(told.clock.now() - began).toBe(30_000)
  await expectNothingAlive(told)
})

test('[INV-10] a model of somebody’s own that answers with nonsense fails its turn, not its session', async () => {
  const broken = { ref: 't/broken', call: async () => ({ text: 12 }) as never }
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/broken', maxRetries: 0 })],
    models: { 't/broken': broken, 't/fine': [{ text: 'fine' }] },
  })

  const run = await kit.clock.until(kit.session('s').send('hi'))
  await expect(kit.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_malformed', message: expect.stringContaining('text') })

  const next = await kit.clock.until(kit.session('s').send('hi', { model: 't/fine' }))
  expect(await kit.clock.until(next.result())).toMatchObject({ text: 'fine' })
})
