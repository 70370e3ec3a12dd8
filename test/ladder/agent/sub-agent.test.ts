/** Fresh agents for one task each. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, subAgent, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 40, outputTokens: 20 }
const dig = tool({ name: 'dig', description: 'Digs.', input: z.object({ at: z.number() }), onCrash: 'retry', execute: ({ at }) => at })
const helper = subAgent({ model: 'test/help', tools: [dig], budget: { maxTokens: 100, maxTrips: 5 } })
const boss = () => agent({ name: 'boss', model: 'test/b', tools: [helper] })

/** The first task is short, the second one never ends. */
const models = (paid: string[] = []) => ({
  'test/b': (request: ModelRequest) => {
    const place = request.messages.filter(({ role }) => role === 'assistant').length
    paid.push(`boss ${place}`)
    return [
      { calls: [{ name: 'sub-agent', input: { task: 'short' } }], usage },
      { calls: [{ name: 'sub-agent', input: { task: 'endless' } }], usage },
      { text: JSON.stringify(request.messages.filter(({ role }) => role === 'tool')), usage },
    ][place] as never
  },
  'test/help': (request: ModelRequest) => {
    const [first, ...more] = request.messages
    const task = first?.role === 'user' ? first.text : ''
    paid.push(`${task} ${more.length}`)
    return task === 'short' ? { text: 'found', usage } : ({ calls: [{ name: 'dig', input: { at: more.length } }], usage } as never)
  },
})

test('[WL-134] the model hands out tasks: each is a fresh agent below its call, and where the budget is spent the caller goes on', async () => {
  const paid: string[] = []
  const top = boss()
  await using kit = await aLadderOf(models(paid), top)
  const { data, report, usage: sum } = await kit.clock.until(top.execute('go', { runId: 'r' }))
  expect(report).toMatchObject({
    status: 'completed',
    children: [
      {
        name: 'sub-agent',
        status: 'completed',
        children: [{ type: 'agent', name: 'sub-agent', status: 'completed', trips: 1, parentRunId: 'r/tool-1' }],
      },
      {
        name: 'sub-agent',
        status: 'failed',
        children: [
          { status: 'failed', trips: 2, error: { code: 'BUDGET_EXCEEDED', category: 'limit', context: { unit: 'tokens', limit: 100, actual: 120 } } },
        ],
      },
    ],
  })
  expect(data).toContain('found')
  expect(data).toContain('BUDGET_EXCEEDED')
  // The second one began with nothing but its task.
  expect(paid).toEqual(['boss 0', 'short 0', 'boss 1', 'endless 0', 'endless 2', 'boss 2'])
  expect(sum.total).toBe(6 * 60)
  expect(await kit.runtime.replay({ kind: 'boss', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-134] it is a step of a workflow and runs alone too; it ends after its trips, and what is no budget is said where it is written', async () => {
  const steps = workflow({
    name: 'steps',
    steps: [
      { name: 'help', agent: helper, input: () => ({ task: 'endless' }), onFailure: () => ({ goto: 'after' }) },
      { name: 'after', run: ({ steps: { help } }) => help?.error?.code },
    ],
  })
  const brief = subAgent({ name: 'brief', model: 'test/help', tools: [dig], budget: { maxTrips: 1 } })
  await using kit = await aLadderOf(models(), steps, brief)
  expect(await kit.clock.until(steps.execute(undefined))).toMatchObject({ data: 'BUDGET_EXCEEDED' })
  expect(await kit.clock.until(brief.execute({ task: 'endless' }))).toMatchObject({ error: { code: 'AGENT_MAX_TRIPS' } })
  expect(await kit.clock.until(brief.execute({ task: 'short' }))).toMatchObject({ data: 'found' })
  for (const budget of [{ maxTokens: 0 }, { maxTokens: 'many' }, { tokens: 5 }, { maxCostUSD: 0 }, { maxCostUSD: Number.NaN }])
    expect(() => subAgent({ budget: budget as never })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.any(String) }))
})

test('[WL-134, WL-127] a task may cost so many dollars, where its model has a price; then its call fails and says so in numbers', async () => {
  const dear = subAgent({ model: 'test/help', tools: [dig], price: { input: 1000, output: 1000 }, budget: { maxCostUSD: 0.1 } })
  const top = agent({ name: 'boss', model: 'test/b', tools: [dear] })
  await using kit = await aLadderOf(models(), top)
  const { report } = await kit.clock.until(top.execute('go', { runId: 'r' }))
  expect(report).toMatchObject({
    status: 'completed',
    children: [
      { status: 'completed', children: [{ usage: { cost: { total: expect.closeTo(0.06, 12) } } }] },
      {
        status: 'failed',
        children: [{ trips: 2, error: { code: 'BUDGET_EXCEEDED', context: { unit: 'USD', limit: 0.1, actual: expect.closeTo(0.12, 12) } } }],
      },
    ],
  })
})

test('[WL-134] a task may take so long, and then its call fails', async () => {
  const hasty = subAgent({ name: 'hasty', model: 'test/slow', budget: { maxLatencyMs: 5_000 } })
  await using kit = await aLadderOf({ 'test/slow': [{ text: 'late', delayMs: 60_000 }] }, hasty)
  expect(await kit.clock.until(hasty.execute({ task: 'x' }))).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', context: { unit: 'ms', limit: 5_000 } },
  })
})

test('[WL-134, WL-125] killed at any commit it comes to the same report, and no answer that was written down is paid twice', async () => {
  const once: string[] = []
  const calm = boss()
  await using kit = await aLadderOf(models(once), calm)
  const whole = await kit.clock.until(calm.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('boss', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const paid: string[] = []
    const top = boss()
    await using doomed = await aLadderOf(models(paid), top)
    expect(timeless(await killedAt(doomed, () => top.execute('go', { runId: 'r' }), commit)), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(paid.length, `killed at commit ${commit}`).toBeLessThanOrEqual(once.length + 1)
  }
})
