/** Runs that are cancelled while others work inside of them: what those have used is counted. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AnyExecutable,
  agent,
  batch,
  END,
  type LadderEvent,
  type Middleware,
  planner,
  type Report,
  supervisor,
  workflow,
} from '../../src/ladder/index.ts'
import { traceOf } from '../../src/testing/index.ts'
import { aLadderOf, killedAt, timeless } from './a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
/** It says something, and then something else slowly. */
const talking = { chunks: ['a', 'b', 'c'], deltaDelayMs: 10_000, usage }

const scout = agent({ name: 'scout', description: 'Looks things up.', model: 'test/scout' })
const rungs = {
  agent: () => agent({ name: 'top', model: 'test/top', tools: [scout], toolExecution: 'parallel' }),
  workflow: () =>
    workflow({
      name: 'top',
      steps: [
        {
          name: 'all',
          parallel: [
            { name: 'one', agent: scout },
            { name: 'two', run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))) },
            { name: 'three', agent: scout },
          ],
        },
        { name: 'after', run: () => 'never' },
      ],
    }),
  nested: () => workflow({ name: 'top', steps: [{ name: 'deep', agent: workflow({ name: 'inner', steps: [{ name: 'one', agent: scout }] }) }] }),
  supervisor: () => supervisor({ name: 'top', intents: { one: scout, three: scout }, route: () => ['one', 'three'] }),
  batch: () => batch(scout, { name: 'top', retry: { attempts: 2 } }),
  planner: () =>
    planner({
      name: 'top',
      model: 'test/plan',
      mode: 'dag',
      capabilities: { look: { description: 'Looks.', use: scout }, hang: { description: 'Hangs.', use: () => new Promise(() => undefined) } },
      replan: { maxReplans: 1 },
    }),
  planning: () => planner({ name: 'top', model: 'test/scout', capabilities: { look: { description: 'Looks.', use: scout } } }),
  'a batch inside': () => workflow({ name: 'top', steps: [{ name: 'deep', agent: batch(scout, { name: 'inner' }), input: () => ['x', 'y'] }] }),
}
type Made = (typeof rungs)[keyof typeof rungs]
/** How many work inside when it is cancelled, and what others have used by then. */
const working = (name: string) => ({
  count: name === 'nested' || name === 'planning' ? 1 : 2,
  before: name === 'agent' || name === 'planner' ? 10 : 0,
})
const models = {
  'test/plan': () => ({
    text: JSON.stringify({
      steps: [
        { id: 'a', capability: 'look', input: 'x' },
        { id: 'b', capability: 'hang' },
        { id: 'c', capability: 'look', input: 'y' },
      ],
    }),
    usage,
  }),
  'test/scout': [talking, { text: 'found', usage }],
  'test/top': [
    {
      calls: [
        { name: 'scout', input: { text: 'x' } },
        { name: 'scout', input: { text: 'y' } },
      ],
      usage,
    },
    { text: 'done', usage },
  ],
}

/** Those that talk slowly. */
const scouts = (report: Report): Report[] =>
  report.type === 'agent' && report.status === 'cancelled' && report.name !== 'top' ? [report] : report.children.flatMap(scouts)

const unpaid = (value: unknown): unknown => JSON.parse(JSON.stringify(timeless(value)).replaceAll(/"(?:input|output|total)":\d+/g, '"u":0'))

/** Runs until all that work inside have said something, and cancels. */
const cancelledRun = (name: string, made: Made) => {
  const top = made()
  return {
    top,
    async execute() {
      const heard = new Set<string>()
      const { count } = working(name)
      const leave = new AbortController()
      const on = {
        'agent.trip.streaming': ({ runId }: LadderEvent) => {
          const isSlow = runId !== 'r' && (name === 'planning' || !runId.startsWith('r/plan()'))
          if (isSlow && heard.add(runId).size === count) leave.abort('enough')
        },
      }
      return top.execute((name === 'batch' ? ['x', 'y'] : 'go') as never, { runId: 'r', signal: leave.signal, on })
    },
  }
}

for (const [name, made] of Object.entries(rungs))
  test(`[WL-005, WL-007, WL-124, WL-102, WL-115] ${name}: cancelled while others work inside, it ends when they have said what they used`, async () => {
    const { top, execute } = cancelledRun(name, made)
    await using kit = await aLadderOf(models, top)
    const { error, usage: sum, report } = await kit.clock.until(execute())
    const { count, before } = working(name)
    expect(error).toMatchObject({ category: 'cancelled', context: { reason: 'enough' } })
    expect(report.status).toBe('cancelled')
    expect(scouts(report)).toHaveLength(count)
    for (const one of scouts(report)) expect(one).toMatchObject({ status: 'cancelled', trips: 1, usage: { total: 10 } })
    expect(sum.total).toBe(before + 10 * count)
    expect(report.usage).toEqual(sum)
    expect(await kit.runtime.replay({ kind: 'top', id: 'r' })).toMatchObject({ verdict: 'identical' })
    // Nothing of it goes on, and the run can.
    expect((await kit.runtime.actor('top', 'r').snapshot()).children).toEqual({})
  })

const { workflow: flow, supervisor: desk, agent: clerk, batch: all, planner: plan } = rungs
const kinds: Record<string, Made> = { workflow: flow, supervisor: desk, agent: clerk, batch: all, planner: plan }
for (const [name, made] of Object.entries(kinds))
  test(`[WL-113, WL-125] ${name}: killed at any commit, before or after it was cancelled, it ends with the same tree`, async () => {
    const first = cancelledRun(name, made)
    await using kit = await aLadderOf(models, first.top)
    const whole = await kit.clock.until(first.execute())
    const { seq } = await kit.runtime.actor('top', 'r').snapshot()
    const cancelled = Number((await traceOf(kit.runtime, 'r', 'top')).find((line) => line.includes('/ cancel'))?.split(' ')[0])
    expect(seq).toBeGreaterThan(cancelled)
    for (let commit = 1; commit <= seq; commit++) {
      const again = cancelledRun(name, made)
      await using doomed = await aLadderOf(models, again.top)
      const result = await killedAt(doomed, again.execute, commit)
      expect(unpaid(result), `killed at commit ${commit}`).toEqual(unpaid(whole))
      // What a model had used that died before it told is not known to anybody.
      expect(result?.usage.total, `killed at commit ${commit}`).toBeOneOf([whole.usage.total, working(name).before])
      if (commit >= seq) expect(timeless(result)).toEqual(timeless(whole))
      expect(await doomed.runtime.replay({ kind: 'top', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
    }
  })

test('[WL-007, WL-091, WL-102] what an intent has used whose time is up counts: it ends when what runs inside of it, or was called by it, has said so', async () => {
  const desk = supervisor({
    name: 'desk',
    intents: {
      inside: { agent: scout, timeoutMs: 15_000 },
      code: { run: ({ run }) => run(scout, 'x') as never, timeoutMs: 15_000 },
      quick: () => ({ quick: true }),
    },
    route: ({ iteration }) => (iteration === 0 ? ['inside', 'code', 'quick'] : END),
  })
  await using kit = await aLadderOf({ 'test/scout': () => talking }, desk, scout)
  const { data, error, report, usage: sum } = await kit.clock.until(desk.execute('go', { runId: 'r' }))
  expect(error).toBeUndefined()
  expect(data).toEqual({ quick: true })
  const late = { status: 'failed', error: { code: 'STEP_TIMEOUT' } }
  expect(report.iterations).toMatchObject([{ branches: { inside: late, code: late, quick: { status: 'completed' } } }])
  expect(scouts(report)).toMatchObject([
    { status: 'cancelled', usage: { total: 10 }, parentRunId: 'r', runId: expect.stringMatching(/^r\/inside\//) },
    { status: 'cancelled', usage: { total: 10 }, parentRunId: 'r/code' },
  ])
  expect(sum.total).toBe(20)
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
  expect((await kit.runtime.actor('desk', 'r').snapshot()).context).toMatchObject({ waiting: [], going: {} })
})

const limited = (limits: { runTimeoutMs?: number; wallTimeMs?: number }, middleware: readonly Middleware[] = []) =>
  agent({ name: 'top', model: 'test/top', tools: [scout], toolExecution: 'parallel', limits, middleware })
const saver: Middleware = { name: 'saver', trip: { onError: (_, { code }) => ({ result: code }) } }
test.for<[string, () => AnyExecutable, object]>([
  ['runTimeoutMs', () => limited({ runTimeoutMs: 15_000 }), { error: { code: 'BUDGET_EXCEEDED' }, report: { status: 'failed' } }],
  ['wallTimeMs', () => limited({ wallTimeMs: 15_000 }), { error: { code: 'BUDGET_EXCEEDED' }, report: { status: 'failed' } }],
  ['one that code recovers from', () => limited({ runTimeoutMs: 15_000 }, [saver]), { data: 'BUDGET_EXCEEDED', report: { status: 'completed' } }],
])('[WL-005, WL-007, WL-115] what runs inside of an agent have used counts that its limit stops: %s', async ([, made, end]) => {
  const top = made()
  await using kit = await aLadderOf(models, top)
  const whole = await kit.clock.until(top.execute('go', { runId: 'r' }))
  expect(whole).toMatchObject(end)
  expect(scouts(whole.report)).toHaveLength(2)
  for (const one of scouts(whole.report)) expect(one).toMatchObject({ status: 'cancelled', trips: 1, usage: { total: 10 } })
  expect(whole.usage.total).toBe(30)
  expect(whole.report.usage).toEqual(whole.usage)
  expect(await kit.runtime.replay({ kind: 'top', id: 'r' })).toMatchObject({ verdict: 'identical' })
  expect((await kit.runtime.actor('top', 'r').snapshot()).children).toEqual({})
})

test('[WL-007, WL-113, WL-125] an agent that its limit stops, killed at any commit, ends with the same tree', async () => {
  const made = () => limited({ runTimeoutMs: 15_000 })
  const execute = (top: ReturnType<typeof made>) => () => top.execute('go', { runId: 'r' })
  const calm = made()
  await using kit = await aLadderOf(models, calm)
  const whole = await kit.clock.until(execute(calm)())
  const { seq } = await kit.runtime.actor('top', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const top = made()
    await using doomed = await aLadderOf(models, top)
    const result = await killedAt(doomed, execute(top), commit)
    expect(unpaid(result), `killed at commit ${commit}`).toEqual(unpaid(whole))
    // What a model had used that died before it told is not known to anybody.
    expect(result?.usage.total, `killed at commit ${commit}`).toBeOneOf([30, 20, 10])
    expect(await doomed.runtime.replay({ kind: 'top', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-114, WL-115] an agent that its limit has stopped goes on, and is cancelled then as any other', async () => {
  const top = limited({ runTimeoutMs: 15_000 })
  await using kit = await aLadderOf({ ...models, 'test/top': [...models['test/top'].slice(0, 1), talking] }, top)
  expect(await kit.clock.until(top.execute('go', { runId: 'r' }))).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
  const leave = new AbortController()
  const on = { 'agent.trip.streaming': () => leave.abort('enough') }
  const { error, usage: sum } = await kit.clock.until(top.resume('r', { signal: leave.signal, on }))
  expect(error).toMatchObject({ category: 'cancelled', context: { reason: 'enough' } })
  expect(sum.total).toBe(40)
})

test('[WL-007, WL-133] what steps have used that are cut off because another one ends the plan counts', async () => {
  const fails = workflow({
    name: 'fails',
    steps: [
      { name: 'sleeps', sleep: 15_000 },
      { name: 'a', run: () => Promise.reject(new Error('no')) },
    ],
  })
  const look = { description: 'Looks.', use: scout }
  const trip = planner({ name: 'trip', mode: 'dag', model: 'test/plan', capabilities: { look, fail: { description: 'Fails.', use: fails } } })
  const steps = [
    { id: 'one', capability: 'look', input: 'x' },
    { id: 'two', capability: 'fail', input: 'y' },
  ]
  await using kit = await aLadderOf({ 'test/scout': () => talking, 'test/plan': () => ({ text: JSON.stringify({ steps }) }) }, trip)
  const { error, report } = await kit.clock.until(trip.execute('go', { runId: 'r' }))
  expect(error).toMatchObject({ code: 'PLANNER_FAILED', context: { step: 'two' } })
  expect(scouts(report)).toMatchObject([{ status: 'cancelled', usage: { total: 10 } }])
  expect(report.usage.total).toBe(10)
})

const hanging = () => {
  const begun = Promise.withResolvers<void>()
  let isOpen = false
  const hang = (): Promise<string> => {
    begun.resolve()
    return isOpen ? Promise.resolve('made') : new Promise(() => undefined)
  }
  return { begun: begun.promise, hang, open: () => void (isOpen = true) }
}
const concluding: Record<string, (hang: () => Promise<string>) => AnyExecutable> = {
  workflow: (hang) => workflow({ name: 'top', steps: [{ name: 'one', run: () => 1 }], output: hang }),
  supervisor: (hang) =>
    supervisor({ name: 'top', intents: { one: () => ({}) }, initialAgent: 'one', route: () => END, output: z.unknown().transform(hang) }),
  planner: (hang) => planner({ name: 'top', capabilities: { one: { description: 'x', use: () => 1 } }, model: 'test/none', output: hang }),
}
test.for(Object.entries(concluding))(
  '[WL-124, WL-102, WL-115] %s: cancelled while its output is made, it ends, and makes that when it is gone on with',
  async ([, made]) => {
    const { begun, hang, open } = hanging()
    const top = made(hang)
    await using kit = await aLadderOf({ 'test/none': () => ({ text: '{"steps":[]}' }) }, top)
    const run = top.execute('go', { runId: 'r' })
    await kit.clock.until(begun)
    await top.cancel('r', 'enough')
    expect(await kit.clock.until(run)).toMatchObject({
      error: { category: 'cancelled', context: { reason: 'enough' } },
      report: { status: 'cancelled' },
    })
    open()
    expect(await kit.clock.until(top.resume('r'))).toMatchObject({ data: 'made', report: { status: 'completed' } })
  },
)
