/** Tool calls: side by side, tried again, and every way in which one can go wrong. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Tool, tool } from '../../src/index.ts'
import { expectNothingAlive, expectPaired, story, work, worker } from './harness.ts'

const tools = (world: Parameters<ReturnType<typeof worker>>[0]) => [worker()(world)]
/** A tool called `bad` that does what the test says. */
const bad = (execute: Tool['execute'], settings: object = {}) =>
  tool({ name: 'bad', description: 'is bad', input: z.object({}), execute, ...settings })
const noError = Object.create(null) as Error
const callBad = [{ calls: [{ name: 'bad' }] }, { text: 'I see' }]

test('parallel calls overlap, keep their order in the transcript, and share the commits of a step when they end together', async () => {
  await using told = await story([{ calls: [work('x', 300), work('y', 100), work('z', 300)] }, { text: 'all done' }], { tools })
  const began = told.clock.now()
  const run = await told.say('go')

  await told.clock.until(run.result())

  expect(told.did).toEqual(['x starts', 'y starts', 'z starts', 'y ends', 'x ends', 'z ends'])
  expect(told.clock.now() - began).toBe(300)
  expect((await told.transcript()).slice(2)).toEqual(['tool work: "x done"', 'tool work: "y done"', 'tool work: "z done"', 'assistant: all done'])
  expect((await run.result()).toolCalls).toBe(3)
  await expectNothingAlive(told)
})

test('commits: 2 for a plain turn, 2 more for each step with tools, however many calls end in one turn of the loop', async () => {
  const steps = [{ calls: [work('a')] }, { calls: [work('b'), work('c'), work('d'), work('e')] }, { text: 'done', chunkSize: 1 }]
  await using told = await story(steps, { tools })

  await told.clock.until((await told.say('go')).result())

  expect(await told.commits('main')).toBe(2 + 2 * 2)
})

test('sequential calls run one after the other', async () => {
  await using told = await story([{ calls: [work('x', 100), work('y', 100)] }, { text: 'done' }], { tools, toolExecution: 'sequential' })

  await told.clock.until((await told.say('go')).result())

  expect(told.did).toEqual(['x starts', 'x ends', 'y starts', 'y ends'])
})

test('unknown tools and broken JSON are answered to the model, and nothing runs [BAD-MODEL-TOOL]', async () => {
  const rawCalls = [
    { name: 'rm_rf', input: '{}' },
    { name: 'work', input: '{"name": "x"' },
    { name: 'work', input: '{"name": 7}' },
    { name: '', input: 'null' },
    { name: 'work', input: '{"__proto__": {"name": "x"}, "name": "y"}' },
  ]
  await using told = await story([{ rawCalls }, { text: 'sorry' }], { tools })

  const answer = await told.clock.until((await told.say('go')).result())

  expect(answer.text).toBe('sorry')
  expect(told.did).toEqual([])
  expect((await told.transcript()).slice(2, -1)).toEqual([
    'tool rm_rf: ! tool_unknown',
    'tool work: ! tool_input',
    'tool work: ! tool_input',
    'tool unknown_tool: ! tool_unknown',
    'tool work: ! tool_input',
  ])
  expectPaired(await told.main.history())
})

test('a model that calls nothing but unknown tools comes to its end by its budget', async () => {
  await using told = await story(() => ({ calls: [{ name: 'nothing' }] }), { stepMax: 5 })

  await expect(told.clock.until((await told.say('go')).result())).rejects.toMatchObject({ code: 'budget_steps' })
})

test.each<[string, Tool, string]>([
  ['throws [BAD-TOOL-THROWS]', bad(() => Promise.reject(new Error('out of paper'))), 'tool bad: ! tool_failed'],
  ['throws something that is no error', bad(() => Promise.reject(noError)), 'tool bad: ! tool_failed'],
  ['returns a circle [BAD-TOOL-CIRCULAR]', bad(() => ((circle: Record<string, unknown>) => (circle.self = circle))({})), 'tool bad: ! tool_output'],
  ['returns 100 MB [BAD-TOOL-HUGE]', bad(() => 'x'.repeat(100 * 1024 * 1024)), 'tool bad: ! tool_output'],
  ['returns a function', bad(() => () => 1), 'tool bad: ! tool_output'],
  ['returns nothing', bad(() => undefined), 'tool bad: null'],
])('a tool that %s: the model is told, the turn goes on, the session is as good as before', async (_, broken, result) => {
  await using told = await story(callBad, { tools: () => [broken] })

  const answer = await told.clock.until((await told.say('go')).result())

  expect(answer.text).toBe('I see')
  expect((await told.transcript())[2]).toBe(result)
  expect(JSON.stringify(await told.main.history()).length).toBeLessThan(2000)
  await told.crash()
  await told.restart()
  expect((await told.transcript())[2]).toBe(result)
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

test('a tool that hangs and ignores its signal is left behind when its time is up [BAD-TOOL-HANGS]', async () => {
  await using told = await story(callBad, { tools: () => [bad(() => new Promise(() => undefined), { timeoutMs: 5000 })] })
  const began = told.clock.now()

  await told.clock.until((await told.say('go')).result())

  expect((await told.transcript())[2]).toBe('tool bad: ! tool_timeout')
  expect(told.clock.now() - began).toBe(5000)
  await expectNothingAlive(told)
})

test('a timeout goes on counting over a crash: a tool that hangs again and again ends all the same', async () => {
  const hangs = bad(() => new Promise(() => undefined), { timeoutMs: 5000, onCrash: 'retry' })
  await using told = await story(callBad, { tools: () => [hangs] })
  const began = told.clock.now()
  await told.say('go', { idempotencyKey: 'a' })
  for (let crash = 0; crash < 3; crash++) {
    await told.clock.advance(1500)
    await told.crash()
    await told.restart()
  }

  await told.clock.until(told.main.wait('a'))

  expect((await told.transcript())[2]).toBe('tool bad: ! tool_timeout')
  expect(told.clock.now() - began).toBeLessThan(7000)
})

test('a failure that may pass is tried again after a pause that grows; the model sees the last word only', async () => {
  const at: number[] = []
  await using told = await story(callBad, {
    tools: ({ clock }) => [
      bad(
        (_, { attempt }) => {
          at.push(clock.now())
          if (attempt < 4) throw Object.assign(new Error('busy'), { retryable: true })
          return `attempt ${attempt}`
        },
        { attemptMax: 4 },
      ),
    ],
  })

  await told.clock.until((await told.say('go')).result())

  expect(at.slice(1).map((time, index) => time - (at[index] ?? 0))).toEqual([250, 500, 1000])
  expect((await told.transcript())[2]).toBe('tool bad: "attempt 4"')
})

test('the pause before another attempt survives a crash; attempts have an end', async () => {
  let attempts = 0
  const busy = bad(
    () => {
      attempts++
      throw Object.assign(new Error('busy'), { retryable: true })
    },
    { attemptMax: 3 },
  )
  await using told = await story(callBad, { tools: () => [busy] })
  await told.say('go', { idempotencyKey: 'a' })
  await told.clock.advance(100)
  await told.crash()
  await told.restart()

  await told.clock.until(told.main.wait('a'))

  expect(attempts).toBe(3)
  expect((await told.transcript())[2]).toBe('tool bad: ! tool_failed')
})

test('what a tool says while it works is shown live and stored nowhere', async () => {
  const chatty = bad((_, { progress }) => {
    progress('half way')
    return 'ok'
  })
  await using told = await story(callBad, { tools: () => [chatty] })

  await told.clock.until((await told.say('go')).result())

  const phases = told.events('main').flatMap((event) => (event.type === 'tool' ? [[event.phase, event.seq === undefined ? 'live' : 'stored']] : []))
  expect(phases).toEqual([
    ['requested', 'stored'],
    ['progress', 'live'],
    ['completed', 'stored'],
  ])
})

test('calls of two sessions never share a name, also when users choose the same ids', async () => {
  const names: string[] = []
  await using told = await story(callBad, { tools: () => [bad((_, { callId }) => void names.push(callId))] })
  for (const key of ['s1', 's2']) {
    const run = await told.clock.until(told.session(key).send('pay', { idempotencyKey: '1' }))
    await told.clock.until(run.result())
  }

  expect(new Set(names).size).toBe(2)
})
