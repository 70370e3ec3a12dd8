/** Executables as tools of agents: they run inside of the run that calls them; of a session, as runs of their own. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, agent as sessionAgent, tool } from '../../../src/index.ts'
import { agent, END, type LadderEvent, ladder, supervisor, workflow } from '../../../src/ladder/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
const results = ({ messages }: ModelRequest) => messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []))

const scout = agent({ name: 'scout', description: 'Finds things out.', model: 'test/scout' })
const double = workflow({
  name: 'double',
  description: 'Doubles a number.',
  input: z.object({ n: z.number() }),
  steps: [{ name: 'twice', run: ({ input }) => input.n * 2 }],
})
const chief = agent({ name: 'chief', model: 'test/chief', tools: [scout, double] })

const models = (paid: string[] = []) => ({
  'test/chief': (request: ModelRequest) => {
    paid.push('chief')
    if (results(request).length > 0) return { text: JSON.stringify(results(request)), usage }
    return {
      calls: [
        { name: 'scout', input: { text: 'bees' } },
        { name: 'double', input: { n: 21 } },
        { name: 'scout', input: { text: 'wasps' } },
      ],
      usage,
    }
  },
  'test/scout': (request: ModelRequest) => (paid.push('scout'), { text: `all of ${last(request)}`, usage }),
})

test('[WL-121, WL-116, WL-005] agents and workflows are tools: one journal, and a report that nests under the tool', async () => {
  await using kit = await aLadderOf(models(), chief)
  const events: LadderEvent[] = []
  const { data, report, usage: used } = await kit.clock.until(chief.execute('go', { runId: 'r', on: { '*': (event) => void events.push(event) } }))

  expect(JSON.parse(data ?? '')).toEqual(['all of bees', 42, 'all of wasps'])
  expect(used).toEqual({ input: 28, output: 12, total: 40 })
  expect(report).toMatchObject({
    usage: { total: 40 },
    children: [
      {
        type: 'tool',
        name: 'scout',
        status: 'completed',
        usage: { total: 10 },
        children: [{ type: 'agent', name: 'scout', runId: 'r/tool-1/1', parentRunId: 'r/tool-1', rootRunId: 'r', usage: { total: 10 } }],
      },
      { type: 'tool', name: 'double', children: [{ type: 'workflow', name: 'double', children: [{ name: 'twice' }] }] },
      { type: 'tool', name: 'scout', children: [{ type: 'agent', name: 'scout' }] },
    ],
  })
  expect(events.filter(({ type }) => type === 'agent.completed').map(({ runId }) => runId)).toEqual(['r/tool-1/1', 'r/tool-3/1', 'r'])
  expect(await kit.runtime.replay({ kind: 'chief', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-116, WL-121] one that fails is a result for the model, which reads why and goes on', async () => {
  const sad = workflow({ name: 'sad', description: 'Fails.', steps: [{ name: 'a', run: () => Promise.reject(new Error('no paper')) }] })
  const boss = agent({ name: 'boss', model: 'test/b', tools: [sad] })
  const model = (request: ModelRequest) =>
    results(request).length > 0 ? { text: JSON.stringify(results(request)) } : { calls: [{ name: 'sad', input: { text: 'x' } }] }
  await using kit = await aLadderOf({ 'test/b': model }, boss)
  expect(await kit.clock.until(boss.execute('go'))).toMatchObject({
    data: expect.stringMatching(/STEP_FAILED.*no paper/),
    report: {
      children: [
        {
          name: 'sad',
          status: 'failed',
          error: { code: 'TOOL_EXEC_FAILED', message: expect.stringMatching(/^STEP_FAILED: .*no paper/) },
          children: [{ status: 'failed', error: { code: 'STEP_FAILED' } }],
        },
      ],
    },
  })
})

test('[WL-116] the model is told what a workflow takes, and what does not fit that begins none', async () => {
  const ran: number[] = []
  const half = workflow({
    name: 'half',
    description: 'Halves a number.',
    input: z.object({ n: z.number().describe('an even one') }),
    steps: [{ name: 'halve', run: ({ input }) => (ran.push(input.n), input.n / 2) }],
  })
  const boss = agent({ name: 'boss', model: 'test/b', tools: [half] })
  const told: unknown[] = []
  const inputs = [{ n: 'four' }, { n: 4 }]
  const model = ({ tools, messages }: ModelRequest) => {
    told.push(...tools)
    const input = inputs[messages.filter(({ role }) => role === 'tool').length]
    return input ? { calls: [{ name: 'half', input }] } : { text: 'done' }
  }
  await using kit = await aLadderOf({ 'test/b': model }, boss)

  const { report } = await kit.clock.until(boss.execute('go'))

  expect(told[0]).toMatchObject({ name: 'half', description: 'Halves a number.', inputSchema: { properties: { n: { description: 'an even one' } } } })
  expect(report.children).toMatchObject([
    { status: 'failed', error: { code: 'TOOL_EXEC_FAILED', context: { code: 'tool_input' } }, children: [] },
    { status: 'completed', children: [{ type: 'workflow' }] },
  ])
  expect(ran).toEqual([4])
})

test('[WL-121] a supervisor is a tool: its report stands below the call, and each call has a state of its own', async () => {
  const desk = supervisor({
    name: 'desk',
    description: 'Counts.',
    state: { n: 0 },
    intents: { count: ({ state }) => ({ n: state.n + 1 }) },
    route: ({ iteration }) => (iteration === 0 ? 'count' : END),
  })
  const boss = agent({ name: 'boss', model: 'test/b', tools: [desk] })
  const model = (request: ModelRequest) =>
    results(request).length < 2 ? { calls: [{ name: 'desk', input: { text: 'x' } }], usage } : { text: JSON.stringify(results(request)), usage }
  await using kit = await aLadderOf({ 'test/b': model }, boss)

  const { data, report } = await kit.clock.until(boss.execute('go', { runId: 'r' }))

  expect(JSON.parse(data ?? '')).toEqual([{ n: 1 }, { n: 1 }])
  expect(report.children).toMatchObject(
    [1, 2].map((call) => ({
      type: 'tool',
      name: 'desk',
      status: 'completed',
      children: [{ type: 'supervisor', runId: `r/tool-${call}/1`, parentRunId: `r/tool-${call}`, rootRunId: 'r', terminatedBy: 'route' }],
    })),
  )
})

test('[WL-129, WL-121] a call inside of a call waits for a person, who is asked through the outer run', async () => {
  const pay = tool({ name: 'pay', description: 'Pays.', input: z.object({}), approval: true, onCrash: 'retry', execute: () => 'paid' })
  const clerk = agent({ name: 'clerk', description: 'Pays.', model: 'test/clerk', tools: [pay] })
  const boss = agent({ name: 'boss', model: 'test/b', tools: [clerk] })
  await using kit = await aLadderOf(
    {
      'test/b': [{ calls: [{ name: 'clerk', input: { text: 'pay' } }] }, { text: 'well' }],
      'test/clerk': [{ calls: [{ name: 'pay' }] }, { text: 'it is paid' }],
    },
    boss,
  )
  const asked = Promise.withResolvers<LadderEvent>()
  const told: string[] = []
  const on = { 'agent.approval.requested': (event: LadderEvent) => (told.push(event.runId), asked.resolve(event)) }
  const run = boss.execute('go', { runId: 'r', on })
  expect(await kit.clock.until(asked.promise)).toMatchObject({ tool: 'pay', runId: 'r/tool-1/1', rootRunId: 'r' })
  const [pending] = await kit.clock.until(boss.pending('r'))
  await kit.clock.until(boss.decide('r', { callId: pending?.callId ?? '', decision: 'approve' }))
  expect(await kit.clock.until(run)).toMatchObject({
    data: 'well',
    report: { children: [{ children: [{ name: 'clerk', children: [{ name: 'pay', status: 'completed' }] }] }] },
  })
  expect(told).toEqual(['r/tool-1/1'])
  expect(await boss.pending('r')).toEqual([])
})

test('[WL-124, WL-121] cancelled while one inside works: it ends with it', async () => {
  const boss = agent({ name: 'boss', model: 'test/b', tools: [scout] })
  const leave = new AbortController()
  await using kit = await aLadderOf(
    {
      'test/b': [{ calls: [{ name: 'scout', input: { text: 'x' } }] }, { text: 'done' }],
      'test/scout': [{ chunks: ['a', 'b', 'c'], deltaDelayMs: 10_000 }],
    },
    boss,
  )
  const inner: string[] = []
  const on = {
    '*': (event: LadderEvent) => void (event.runId !== 'r' && inner.push(event.type)),
    'agent.trip.streaming': () => leave.abort('enough'),
  }
  expect(await kit.clock.until(boss.execute('go', { runId: 'r', signal: leave.signal, on }))).toMatchObject({
    error: { code: 'AGENT_CANCELLED', context: { cancelledAt: 1, reason: 'enough' } },
    report: { children: [{ name: 'scout', status: 'cancelled' }] },
  })
  expect(inner).not.toContain('agent.completed')
})

test('[WL-125, WL-121] killed at any commit it comes to the same report, and no answer that was written down is paid twice', async () => {
  const once: string[] = []
  await using kit = await aLadderOf(models(once), chief)
  const whole = await kit.clock.until(chief.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('chief', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const paid: string[] = []
    await using doomed = await aLadderOf(models(paid), chief)
    const result = await killedAt(doomed, () => chief.execute('go', { runId: 'r' }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(once.length + 2)
    expect(await doomed.runtime.replay({ kind: 'chief', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-116] an agent of a session calls a workflow: it runs by itself, under the name of the call', async () => {
  const main = sessionAgent({ name: 'main', model: 'test/a', tools: [double.asTool()] })
  await using kit = await testRuntime({
    extensions: [ladder({ executables: [double] })],
    agents: [main],
    models: { 'test/a': [{ calls: [{ name: 'double', input: { n: 4 } }] }, { text: 'eight' }] },
  })
  const run = await kit.clock.until(kit.session('s').send('go'))
  expect(await kit.clock.until(run.result())).toMatchObject({ text: 'eight' })
  expect(await kit.clock.until(double.execute({ n: 4 }, { runId: `s/${run.runId}:1:1` }))).toMatchObject({ data: 8 })
})

test('[WL-116] where such a workflow fails that agent reads why, and where its turn is cancelled the workflow is', async () => {
  const sad = workflow({ name: 'sad', description: 'Fails.', steps: [{ name: 'a', run: () => Promise.reject(new Error('no paper')) }] })
  const begun = Promise.withResolvers<string>()
  const steps = [
    { name: 'begin', run: ({ runId }: { runId: string }) => begun.resolve(runId) },
    { name: 'nap', sleep: '1d' },
  ]
  const slow = workflow({ name: 'slow', description: 'Sleeps.', steps })
  const main = sessionAgent({ name: 'main', model: 'test/a', tools: [sad.asTool(), slow.asTool()] })
  const call = (name: string) => ({ calls: [{ name, input: { text: 'x' } }] })
  const model = (request: ModelRequest) => [call('sad'), call('slow'), { text: 'never' }][results(request).length] as never
  const told: unknown[] = []
  await using kit = await testRuntime({
    extensions: [ladder({ executables: [sad, slow] })],
    agents: [main],
    models: { 'test/a': (request: ModelRequest) => (told.push(...results(request)), model(request)) },
  })
  await kit.clock.until(kit.session('s').send('go'))
  const asleep = kit.runtime.actor('slow', await kit.clock.until(begun.promise))

  await kit.clock.until(kit.session('s').cancel())

  expect(JSON.stringify(told)).toContain('no paper')
  const { context } = await kit.clock.until(asleep.waitFor((at) => at.hasTag('settled')))
  expect(context).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED' } })
})

test('an agent that is ended by its limits takes those that run inside with it', async () => {
  const heard: string[] = []
  const boss = agent({ name: 'boss', model: 'test/b', tools: [scout], limits: { runTimeoutMs: 5_000 } })
  await using kit = await aLadderOf(
    {
      'test/b': [{ calls: [{ name: 'scout', input: { text: 'x' } }] }, { text: 'done' }],
      'test/scout': [{ chunks: ['a', 'b', 'c'], deltaDelayMs: 60_000 }],
    },
    boss,
  )
  const on = { '*': ({ type, runId }: LadderEvent) => void (runId !== 'r' && heard.push(type)) }
  expect(await kit.clock.until(boss.execute('go', { runId: 'r', on }))).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', context: { code: 'budget_time', unit: 'ms', limit: expect.any(Number), actual: expect.any(Number) } },
    report: { children: [{ name: 'scout', status: 'cancelled' }] },
  })
  await kit.runtime.settled(1_000).catch(() => undefined)
  expect(heard).not.toContain('agent.completed')
  expect((await kit.runtime.actor('boss', 'r').snapshot()).children).toEqual({})
})

test('what cannot be a tool is said where it is written', () => {
  const mute = agent({ name: 'mute', model: 'test/a' })
  expect(() => agent({ name: 'boss', model: 'test/a', tools: [mute] })).toThrow(
    expect.objectContaining({ code: 'LADDER_CONFIG', message: expect.stringContaining('description') }),
  )
})
