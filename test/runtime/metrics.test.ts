/** The base metrics of a node beside its traces: whoever has only the journals counts the same. */
import { expect, test } from 'vitest'
import { noUsage, type Usage } from '../../src/contracts/message.ts'
import { durationBuckets, type Metrics } from '../../src/runtime/metrics.rules.ts'
import { ann, askToEnd, staged } from '../reply/stage.ts'
import { expectNothingAlive, type Story, work, worker } from './harness.ts'

/** Counted from traces and nothing else: what turns became, what models reported, and who began anew. */
const fromTraces = async (told: Story, keys: string[]): Promise<Metrics> => {
  const runs = { ended: 0, failed: 0, aborted: 0 }
  const durations: number[] = []
  const tokens: Metrics['model_tokens_total'] = {}
  let resets = 0
  for (const key of keys) {
    const began = new Map<string, number>()
    for (const { at, states = {}, detail, event } of await told.trace(key)) {
      for (const [path, state] of Object.entries(states)) {
        if (!/^\/turn#\d+$/.test(path)) continue
        if (!began.has(path)) began.set(path, at)
        if (state !== 'completed' && state !== 'failed' && state !== 'cancelled') continue
        durations.push(at - began.get(path)!)
        runs.ended++
        if (state === 'failed') runs.failed++
        if (state === 'cancelled') runs.aborted++
      }
      type Detail = { data?: { kind?: string; model: string; usage: Usage }; annotations?: { directives?: { name: string }[] } }
      const { data, annotations: { directives = [] } = {} } = (detail ?? {}) as Detail
      if (event === 'message' && directives.some(({ name }) => name === 'reset')) resets++
      if (data?.kind !== 'model') continue
      const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = data.usage
      const sum = (tokens[data.model] ??= { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
      sum.input += inputTokens - cachedInputTokens - cacheWriteTokens
      sum.output += outputTokens
      sum.cacheRead += cachedInputTokens
      sum.cacheWrite += cacheWriteTokens
    }
  }
  return {
    agent_run_duration_ms: {
      count: durations.length,
      sum: durations.reduce((sum, ms) => sum + ms, 0),
      buckets: durationBuckets.map((end) => durations.filter((ms) => ms <= end).length),
    },
    agent_run_failure_rate: runs.failed / runs.ended,
    runs,
    model_tokens_total: tokens,
    session_reset_count: resets,
  }
}

const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0, cacheWriteTokens = 0): Usage => ({
  ...noUsage,
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cacheWriteTokens,
})

/** Three turns, of which one fails and one begins anew; then one with tools, one whose model is another, and one that is stopped. */
const aDay = async (steps: (told: Story) => Promise<void>): Promise<Story> => {
  const told = await staged(
    ({ messages }) => {
      const text = messages.findLast(({ role }) => role === 'user')
      const said = text?.role === 'user' ? text.text : ''
      if (said === 'lost') return { error: { status: 400 }, delayMs: 200 }
      if (said === 'tired') return { error: { status: 401 }, delayMs: 300 }
      if (said === 'work' && messages.at(-1)?.role === 'user') return { calls: [work('x', 700)], delayMs: 50, usage: usage(500, 40, 100, 50) }
      if (said === 'switch') return messages.at(-1)?.role === 'user' ? { calls: [work('y')], usage: usage(70, 7) } : { error: { status: 401 } }
      return { text: 'hello', delayMs: said === 'one' ? 1000 : 400, usage: usage(10, 1) }
    },
    {
      tools: (world) => [worker()(world)],
      models: { 'other/b': () => ({ text: 'instead', delayMs: 90, usage: usage(200, 20, 150) }) },
      fallbacks: ['other/b'],
    },
  )
  await steps(told)
  return told
}

test('[OC-92] three turns, one failed, one after a reset: each of the four metrics is what the trace says', async () => {
  await using told = await aDay(async (told) => {
    for (const text of ['one', 'lost', '/new']) await askToEnd(told, text, ann(text))
  })
  const metrics = told.runtime.metrics()

  expect(metrics).toEqual(await fromTraces(told, ['main']))
  // So that it is not nothing that agrees.
  expect(metrics).toMatchObject({ runs: { ended: 3, failed: 1 }, session_reset_count: 1, agent_run_failure_rate: 1 / 3 })
  expect(metrics.agent_run_duration_ms).toMatchObject({ count: 3, sum: 1600 })
  await expectNothingAlive(told)
})

test('[OC-92] the same with tools, with another model that takes over, at once and in the middle, and with a turn that somebody stops', async () => {
  await using told = await aDay(async (told) => {
    for (const text of ['one', 'work', 'tired', 'switch', '/new', 'work']) await askToEnd(told, text, ann(`${text} ${told.clock.now()}`))
    await told.say('work', ann('stopped'))
    await told.clock.advance(300)
    await told.main.cancel()
    await told.quiet()
  })
  const metrics = told.runtime.metrics()

  expect(metrics).toEqual(await fromTraces(told, ['main']))
  expect(metrics.runs).toEqual({ ended: 7, failed: 0, aborted: 1 })
  expect(Object.keys(metrics.model_tokens_total).toSorted()).toEqual(['other/b', 'test/model'])
  expect(metrics.model_tokens_total['test/model']?.cacheWrite).toBeGreaterThan(0)
})
