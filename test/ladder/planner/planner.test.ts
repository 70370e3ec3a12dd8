/** Planners as their authors and users meet them. */
import { setTimeout } from 'node:timers/promises'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type LadderEvent, type Plan, planner, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
/** A model that says these plans, one after another. */
const plans =
  (steps: Plan['steps'][], asked: string[] = []) =>
  (request: ModelRequest) => {
    asked.push(last(request))
    return { text: JSON.stringify({ steps: steps[asked.length - 1] ?? [] }), usage }
  }

const capabilities = {
  search: {
    description: 'Finds words.',
    input: z.object({ word: z.string() }),
    use: ({ word }: { word: string }) => ({ hits: [`${word} 1`, `${word} 2`] }),
  },
  shout: { description: 'Makes it loud.', use: (input: unknown) => String(input).toUpperCase() },
}

test('[WL-133, WL-001, WL-002] a model plans, steps are done in order with what others came to, and data is what they came to', async () => {
  const writer = agent({ name: 'writer', model: 'test/writer' })
  const asked: string[] = []
  const clerk = planner({
    name: 'clerk',
    model: 'test/plan',
    capabilities: { ...capabilities, write: { use: writer, description: 'Writes a text.' } },
  })
  const steps = [
    { id: 'find', capability: 'search', input: { word: 'bee' } },
    { id: 'loud', capability: 'shout', input: { $from: 'find.hits.1' } },
    { id: 'text', capability: 'write', input: { about: { $from: 'loud' }, all: [{ $from: 'find.hits' }] } },
  ]
  await using kit = await aLadderOf(
    { 'test/plan': plans([steps], asked), 'test/writer': (request) => ({ text: `on ${last(request)}`, usage }) },
    clerk,
  )

  const streamed = clerk.stream('Write about bees.', { runId: 'r' })
  const events: LadderEvent[] = []
  await kit.clock.until(
    (async () => {
      for await (const event of streamed) if (event.type.startsWith('planner.')) events.push(event)
    })(),
  )
  const { data, report, usage: used } = await streamed.result

  expect(data).toEqual({ find: { hits: ['bee 1', 'bee 2'] }, loud: 'BEE 2', text: 'on {"about":"BEE 2","all":[["bee 1","bee 2"]]}' })
  expectTypeOf(data).toEqualTypeOf<Record<string, unknown> | undefined>()
  expect(used.total).toBe(20)
  expect(report).toMatchObject({
    type: 'planner',
    status: 'completed',
    plan: { steps },
    replans: 0,
    children: [
      { type: 'agent', name: 'clerk-plan', parentRunId: 'r', rootRunId: 'r' },
      { type: 'step', name: 'find', runId: 'r/find', status: 'completed', attempts: 1 },
      { type: 'step', name: 'loud' },
      { type: 'step', name: 'text', children: [{ type: 'agent', name: 'writer', runId: 'r/text/1', parentRunId: 'r/text' }], usage: { total: 10 } },
    ],
  })
  expect(events.map(({ type, step }) => `${type.slice(8)} ${step ?? ''}`.trim())).toEqual([
    'starting',
    'planning',
    'planned',
    'step.starting find',
    'step.completed find',
    'step.starting loud',
    'step.completed loud',
    'step.starting text',
    'step.completed text',
    'completed',
  ])
  // The model is told what there is.
  for (const said of ['Write about bees.', 'search: Finds words.', '"word"', 'write: Writes a text.', 'one after another'])
    expect(asked[0]).toContain(said)
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-133] a plan that cannot be followed is refused before any step', async () => {
  const ran: string[] = []
  const small = planner({
    name: 'small',
    model: 'test/plan',
    maxSteps: 1,
    capabilities: { do: { description: 'Does.', input: z.object({ n: z.number() }), use: ({ n }) => ran.push(String(n)) } },
  })
  const input = { n: 1 }
  const cases: [string, Plan['steps']][] = [
    [
      'wait for each other: a → b → a',
      [
        { id: 'a', capability: 'do', input, dependsOn: ['b'] },
        { id: 'b', capability: 'do', input, dependsOn: ['a'] },
      ],
    ],
    ['wait for each other: a → a', [{ id: 'a', capability: 'do', input: { n: { $from: 'a' } } }]],
    ["uses 'fly', which is not there", [{ id: 'a', capability: 'fly', input }]],
    ["depends on 'x', which is not there", [{ id: 'a', capability: 'do', input, dependsOn: ['x'] }]],
    ["depends on 'y', which is not there", [{ id: 'a', capability: 'do', input: { n: { $from: 'y.z' } } }]],
    [
      "two steps have the id 'a'",
      [
        { id: 'a', capability: 'do', input },
        { id: 'a', capability: 'do', input },
      ],
    ],
    ['is no id of a step', [{ id: 'a/b', capability: 'do', input }]],
    ['is no id of a step', [{ id: 'constructor', capability: 'do', input }]],
    ['it has 5 steps, and may have 4', [1, 2, 3, 4, 5].map((n) => ({ id: `s${n}`, capability: 'do', input }))],
    ["input of the step 'a'", [{ id: 'a', capability: 'do', input: { n: 'one' } }]],
  ]
  const asked: string[] = []
  await using kit = await aLadderOf(
    {
      'test/plan': plans(
        cases.map(([, steps]) => steps),
        asked,
      ),
    },
    small,
  )
  for (const [message] of cases) {
    const { error, report } = await kit.clock.until(small.execute('go'))
    expect(error, message).toMatchObject({ code: 'PLANNER_PLAN_INVALID', category: 'validation', message: expect.stringContaining(message) })
    expect(report.status).toBe('failed')
  }
  expect(ran).toEqual([])
  // A hundred where nothing is said.
  const wide = planner({ name: 'wide', model: 'test/plan', capabilities: { do: { description: 'Does.', use: () => ran.push('x') } } })
  const many = Array.from({ length: 101 }, (_, n) => ({ id: `s${n}`, capability: 'do' }))
  await using other = await aLadderOf({ 'test/plan': plans([many, many.slice(1)]) }, wide)
  expect((await other.clock.until(wide.execute('go'))).error).toMatchObject({ code: 'PLANNER_PLAN_INVALID' })
  expect(ran).toEqual([])
  expect((await other.clock.until(wide.execute('go'))).error).toBeUndefined()
  expect(ran).toHaveLength(100)
})

test('[WL-133] a step that is given what does not fit, names what is not there, or gives what cannot be kept, fails and nothing else', async () => {
  const ran: unknown[] = []
  const strict = workflow({ name: 'strict', input: z.number(), steps: [{ name: 'x', run: ({ input }) => ran.push(input) }] })
  const asked: string[] = []
  const clerk = planner({
    name: 'clerk',
    model: 'test/plan',
    capabilities: {
      strict: { description: 'Takes numbers.', use: strict },
      text: { description: 'Takes a text.', input: z.string(), use: (input) => (ran.push(input), input) },
      one: { description: 'One.', use: () => ({ one: 1 }) },
      odd: { description: 'Gives a function.', use: () => () => 1 },
    },
    onStep: () => 'continue',
  })
  const steps = [
    { id: 'one', capability: 'one' },
    { id: 'a', capability: 'strict', input: 'two' },
    { id: 'b', capability: 'text', input: { $from: 'one.one' } },
    { id: 'c', capability: 'text', input: { $from: 'one.two' } },
    { id: 'd', capability: 'text', input: { $from: 'one.__proto__' } },
    { id: 'e', capability: 'strict', input: { $from: 'one.one' } },
    { id: 'f', capability: 'odd' },
  ]
  await using kit = await aLadderOf({ 'test/plan': plans([steps], asked) }, clerk)
  const { data, report, error } = await kit.clock.until(clerk.execute('go'))
  expect(asked[0]).toContain('strict: Takes numbers. Input: {"$schema"')
  // What cannot be kept is not judged either: there is nothing to judge.
  expect(error).toMatchObject({ code: 'PLANNER_FAILED', context: { step: 'f' } })
  expect(data).toBeUndefined()
  expect(report.children.slice(1).map(({ name, status, error: failure }) => `${name} ${status} ${failure?.code ?? ''}`.trim())).toEqual([
    'one completed',
    'a failed SCHEMA_VALIDATION_FAILED',
    'b failed SCHEMA_VALIDATION_FAILED',
    'c failed STEP_FAILED',
    'd failed STEP_FAILED',
    'e completed',
    'f failed STEP_FAILED',
  ])
  expect(ran).toEqual([1])
})

test('[WL-133] as a dag, what waits for nothing runs at once, no more than may; the rest waits for what it depends on', async () => {
  let [now, most] = [0, 0]
  const order: string[] = []
  const dag = (maxConcurrency?: number) =>
    planner({
      name: 'dag',
      mode: 'dag',
      model: 'test/plan',
      ...(maxConcurrency && { maxConcurrency }),
      capabilities: {
        do: {
          description: 'Does.',
          use: async (_: unknown, { step }) => {
            most = Math.max(most, ++now)
            await setTimeout(2)
            now--
            order.push(step.id)
          },
        },
      },
    })
  const steps = [
    { id: 'end', capability: 'do', dependsOn: ['a', 'b', 'c', 'd', 'e'] },
    ...['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, capability: 'do' })),
    { id: 'next', capability: 'do', input: [{ $from: 'end' }] },
  ]
  for (const [expected, max] of [[4], [2, 2]] as [number, number?][]) {
    ;[now, most] = [0, 0]
    order.length = 0
    const one = dag(max)
    await using kit = await aLadderOf({ 'test/plan': plans([steps]) }, one)
    const { data } = await kit.clock.until(one.execute('go'))
    expect(Object.keys(data ?? {})).toHaveLength(7)
    expect(most).toBe(expected)
    expect(order.slice(-2)).toEqual(['end', 'next'])
  }
})

test('[WL-133] a step that fails leads to another plan as long as there may be one; what was completed is not done again', async () => {
  const ran: string[] = []
  const asked: string[] = []
  const made = (maxReplans: number) =>
    planner({
      name: 'clerk',
      model: 'test/plan',
      replan: { maxReplans },
      capabilities: {
        get: { description: 'Gets.', use: (input: unknown) => (ran.push(`get ${String(input)}`), `got ${String(input)}`) },
        break: { description: 'Breaks.', use: () => Promise.reject(new Error('no ink')) },
      },
    })
  const first = [
    { id: 'a', capability: 'get', input: 'a' },
    { id: 'b', capability: 'break' },
    { id: 'c', capability: 'get', input: 'never' },
  ]
  const second = [
    { id: 'a', capability: 'get', input: 'a' },
    { id: 'b', capability: 'get', input: { $from: 'a' } },
  ]
  const clerk = made(1)
  await using kit = await aLadderOf({ 'test/plan': plans([first, second], asked) }, clerk)
  const replanning: unknown[] = []
  const { data, report } = await kit.clock.until(clerk.execute('go', { on: { 'planner.replanning': ({ feedback }) => replanning.push(feedback) } }))
  expect(data).toEqual({ a: 'got a', b: 'got got a' })
  expect(ran).toEqual(['get a', 'get got a'])
  expect(replanning).toEqual([expect.stringContaining('no ink')])
  expect(asked[1]).toContain('a (get): got a')
  expect(asked[1]).toContain('no ink')
  expect(report).toMatchObject({ status: 'completed', replans: 1, plan: { steps: second } })
  expect(report.children.map(({ type, name, status }) => `${type} ${name} ${status}`)).toEqual([
    'agent clerk-plan completed',
    'agent clerk-plan completed',
    'step a completed',
    'step b failed',
    'step b completed',
  ])

  const strict = made(0)
  await using other = await aLadderOf({ 'test/plan': plans([first]) }, strict)
  expect(await other.clock.until(strict.execute('go'))).toMatchObject({
    error: { code: 'PLANNER_FAILED', category: 'execution', context: { step: 'b', code: 'STEP_FAILED' } },
    report: { status: 'failed' },
  })
  const tireless = made(2)
  await using third = await aLadderOf({ 'test/plan': plans([first, first, first, first]) }, tireless)
  expect(await third.clock.until(tireless.execute('go'))).toMatchObject({ error: { code: 'PLANNER_FAILED' }, report: { replans: 2 } })
})

test('[WL-133] after each step its author says whether it goes on, ends, or is planned anew', async () => {
  const steps = ['a', 'b', 'c'].map((id) => ({ id, capability: id === 'b' ? 'break' : 'get', input: id }))
  const dependent = [...steps, { id: 'd', capability: 'get', input: { $from: 'b' } }]
  const outcomes: string[] = []
  const made = (verdict: (id: string) => 'continue' | 'abort' | { replan: string } | undefined, maxReplans = 0) =>
    planner({
      name: 'clerk',
      model: 'test/plan',
      replan: { maxReplans },
      capabilities: {
        get: { description: 'Gets.', use: (input: unknown) => input },
        break: { description: 'Breaks.', use: () => Promise.reject(new Error('no ink')) },
      },
      onStep: ({ step, output, error }) => {
        outcomes.push(`${step.id} ${error ? error.code : String(output)}`)
        return verdict(step.id)
      },
    })
  const run = async (one: ReturnType<typeof made>, ...all: Plan['steps'][]) => {
    outcomes.length = 0
    const asked: string[] = []
    await using kit = await aLadderOf({ 'test/plan': plans(all, asked) }, one)
    return { ...(await kit.clock.until(one.execute('go'))), asked }
  }

  const went = await run(
    made(() => 'continue'),
    dependent,
  )
  expect(went).toMatchObject({ data: { a: 'a', c: 'c' }, report: { status: 'completed' } })
  expect(went.report.children.slice(1).map(({ name, status }) => `${name} ${status}`)).toEqual([
    'a completed',
    'b failed',
    'c completed',
    'd skipped',
  ])
  expect(outcomes).toEqual(['a a', 'b STEP_FAILED', 'c c'])

  const ended = await run(
    made((id) => (id === 'a' ? 'abort' : undefined)),
    steps,
  )
  expect(ended.error).toMatchObject({ code: 'PLANNER_FAILED', message: expect.stringContaining('onStep') })
  expect(outcomes).toEqual(['a a'])

  const anew = await run(
    made((id) => (id === 'a' ? { replan: 'without b' } : undefined), 1),
    steps,
    [{ id: 'c', capability: 'get', input: { $from: 'a' } }],
  )
  expect(anew).toMatchObject({ data: { a: 'a', c: 'a' }, report: { replans: 1 } })
  expect(anew.asked[1]).toContain('without b')

  const never = await run(
    made((id) => ({ replan: `not ${id}` }), 1),
    steps,
    steps,
    steps,
  )
  expect(never).toMatchObject({ error: { code: 'PLANNER_FAILED', context: { maxReplans: 1 } }, report: { replans: 1 } })
  expect(never.asked).toHaveLength(2)

  const confused = await run(
    made(() => 'what' as never),
    steps,
  )
  expect(confused.error).toMatchObject({ code: 'PLANNER_FAILED', message: expect.stringContaining('onStep') })
})

test('[WL-133, WL-006] a plan that waits for a person: nothing is done before, the plan or another one is approved, once', async () => {
  const ran: string[] = []
  const asked: string[] = []
  const steps = [{ id: 'a', capability: 'do', input: 'a' }]
  const other = { steps: [{ id: 'b', capability: 'do', input: 'b' }] }
  const careful = planner({
    name: 'careful',
    model: 'test/plan',
    planOnly: true,
    capabilities: { do: { description: 'Does.', use: (input: unknown, { context }) => ran.push(`${String(input)} ${String(context.by)}`) } },
  })
  await using kit = await aLadderOf({ 'test/plan': plans([steps, steps, steps], asked) }, careful)

  const waiting = await kit.clock.until(careful.execute('go', { runId: 'r' }))
  expect(waiting).toMatchObject({ report: { status: 'awaiting-approval', plan: { steps } } })
  expect(waiting.error).toBeUndefined()
  expect(ran).toEqual([])
  // Asking again changes nothing, after a crash neither, and the plan is not made anew.
  await kit.crash()
  await kit.restart()
  expect(await kit.clock.until(careful.execute('go', { runId: 'r' }))).toMatchObject({ report: { status: 'awaiting-approval' } })
  expect(await kit.clock.until(careful.resume('r'))).toMatchObject({ report: { status: 'awaiting-approval' } })

  expect(await kit.clock.until(careful.approve('r', undefined, { context: { by: 'ann' } }))).toMatchObject({
    data: { a: 1 },
    report: { status: 'completed' },
  })
  expect(ran).toEqual(['a ann'])
  await expect(careful.approve('r')).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })

  // One that a person wrote is checked as well, and the one before still waits.
  await kit.clock.until(careful.execute('go', { runId: 's' }))
  const refused = await kit.clock.until(careful.approve('s', { steps: [{ id: 'b', capability: 'fly' }] }))
  expect(refused).toMatchObject({ error: { code: 'PLANNER_PLAN_INVALID' }, report: { status: 'awaiting-approval', plan: { steps } } })
  expect(await kit.clock.until(careful.approve('s', other))).toMatchObject({ data: { b: 2 }, report: { status: 'completed', plan: other } })

  await kit.clock.until(careful.execute('go', { runId: 't' }))
  await careful.cancel('t', 'no')
  expect(await kit.clock.until(careful.execute('go', { runId: 't' }))).toMatchObject({
    error: { code: 'PLANNER_CANCELLED' },
    report: { status: 'cancelled' },
  })
  await expect(careful.approve('t')).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
  expect(await kit.clock.until(careful.resume('t'))).toMatchObject({ report: { status: 'awaiting-approval', plan: { steps } } })
  expect(asked).toHaveLength(3)

  // With a plan that was approved before, no model is asked.
  expect(await kit.clock.until(careful.execute('go', { approvedPlan: other }))).toMatchObject({
    data: { b: 3 },
    report: { children: [{ name: 'b' }] },
  })
  expect(await kit.clock.until(careful.execute('go', { approvedPlan: { steps: [{ id: 'x', capability: 'fly' }] } }))).toMatchObject({
    error: { code: 'PLANNER_PLAN_INVALID' },
    report: { status: 'failed' },
  })
  expect(asked).toHaveLength(3)
  expect(await kit.runtime.replay({ kind: 'careful', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-133, WL-006] a run that is cancelled cuts off what runs, and goes on with the same plan', async () => {
  const asked: string[] = []
  const ran: string[] = []
  let hang = true
  const clerk = planner({
    name: 'clerk',
    model: 'test/plan',
    mode: 'dag',
    capabilities: {
      do: {
        description: 'Does.',
        use: (input: unknown, { signal }) => {
          ran.push(String(input))
          if (input === 'a' || !hang) return input
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
        },
      },
    },
  })
  const steps = [
    { id: 'a', capability: 'do', input: 'a' },
    { id: 'b', capability: 'do', input: 'b' },
    { id: 'c', capability: 'do', input: { $from: 'b' } },
  ]
  await using kit = await aLadderOf({ 'test/plan': plans([steps], asked) }, clerk)
  const stop = new AbortController()
  const on = { 'planner.step.completed': () => stop.abort('enough') }
  const cancelled = await kit.clock.until(clerk.execute('go', { runId: 'r', signal: stop.signal, on }))
  expect(cancelled).toMatchObject({
    error: { code: 'PLANNER_CANCELLED', category: 'cancelled', context: { cancelledAt: 1, reason: 'enough' } },
    report: { status: 'cancelled', children: [{ type: 'agent' }, { name: 'a', status: 'completed' }, { name: 'b', status: 'cancelled' }] },
  })
  hang = false
  ran.length = 0
  expect(await kit.clock.until(clerk.resume('r'))).toMatchObject({ data: { a: 'a', b: 'b', c: 'b' }, report: { status: 'completed' } })
  expect(ran).toEqual(['b', 'b'])
  expect(asked).toHaveLength(1)
})

test('[WL-133] steps are bounded; a planning model that fails ends the run with PLANNER_FAILED, and may be asked again', async () => {
  const [ran, asked]: [string[], string[]] = [[], []]
  const bounded = planner({
    name: 'bounded',
    model: 'test/plan',
    maxSteps: 2,
    capabilities: { do: { description: 'Does.', use: (_: unknown, { step }) => ran.push(step.id) } },
    output: (outputs) => Object.keys(outputs).length,
  })
  const steps = ['a', 'b', 'c'].map((id) => ({ id, capability: 'do' }))
  const model = (request: ModelRequest) => (asked.length === 0 ? (asked.push('x'), { text: 'no plan' }) : plans([[], steps], asked)(request))
  await using kit = await aLadderOf({ 'test/plan': model }, bounded)
  expect(await kit.clock.until(bounded.execute('go', { runId: 'r' }))).toMatchObject({
    error: { code: 'PLANNER_FAILED', context: { code: 'SCHEMA_VALIDATION_FAILED' } },
  })
  const worn = await kit.clock.until(bounded.resume('r'))
  expect(worn.error).toMatchObject({ code: 'PLANNER_FAILED', context: { maxSteps: 2 } })
  expect(ran).toEqual(['a', 'b'])
  const { data } = await kit.clock.until(bounded.resume('r'))
  expectTypeOf(data).toEqualTypeOf<number | undefined>()
  expect(data).toBe(3)
  expect(asked).toHaveLength(2)
})

test('[WL-133, WL-129] a planner runs inside of a workflow, asks a planner of its own, and its calls that wait are decided above', async () => {
  const wipe = tool({ name: 'wipe', description: 'Wipes.', input: z.object({}), onCrash: 'retry', approval: true, execute: () => 'clean' })
  const cleaner = agent({ name: 'cleaner', model: 'test/cleaner', tools: [wipe] })
  const own = agent({ name: 'thinker', model: 'test/thinker' })
  const clerk = planner({ name: 'clerk', agent: own, capabilities: { clean: { use: cleaner, description: 'Cleans.' } } })
  const waits = planner({ name: 'waits', agent: own, planOnly: true, capabilities: { clean: { use: cleaner, description: 'Cleans.' } } })
  const flow = workflow({ name: 'flow', steps: [{ name: 'do', agent: clerk, input: () => 'go' }] })
  const stuck = workflow({ name: 'stuck', steps: [{ name: 'do', agent: waits, input: () => 'go' }] })
  await using kit = await aLadderOf(
    {
      'test/thinker': () => ({ text: '```json\n{"steps":[{"id":"a","capability":"clean","input":"room"}]}\n```' }),
      'test/cleaner': ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'wipe' }] }),
    },
    flow,
    stuck,
  )
  const running = flow.execute(undefined, { runId: 'r' })
  const pending = async () => {
    for (;;) {
      const calls = await flow.pending('r').catch(() => [])
      if (calls.length > 0) return calls
      await setTimeout(1)
    }
  }
  for (const { callId } of await kit.clock.until(pending())) await kit.clock.until(flow.decide('r', { callId, decision: 'approve' }))
  const { data, report } = await kit.clock.until(running)
  expect(data).toEqual({ a: 'done' })
  expect(report.children[0]?.children[0]).toMatchObject({
    type: 'planner',
    rootRunId: 'r',
    children: [{ name: 'thinker' }, { name: 'a', children: [{ name: 'cleaner' }] }],
  })
  // Nobody could approve it there.
  expect((await kit.clock.until(stuck.execute(undefined))).error).toMatchObject({ message: expect.stringContaining('inside of another run') })
})

test('[WL-133] what is wrong with a planner is said when it is written; inputs of capabilities have the types of their schemas', () => {
  const good = { name: 'clerk', capabilities: { do: { description: 'Does.', use: () => 1 } } }
  const wrong = (more: object) => () => planner({ ...good, ...more })
  expect(wrong({})).not.toThrow()
  for (const more of [
    { name: 'A clerk' },
    { capabilities: {} },
    { capabilities: { do: { description: 'Does.' } } },
    { capabilities: { do: { use: () => 1 } } },
    { capabilities: { 'a b': good.capabilities.do } },
    { capabilities: { do: { ...good.capabilities.do, input: {} } } },
    { mode: 'all' },
    { maxConcurrency: 0 },
    { maxSteps: 0.5 },
    { replan: { maxReplans: -1 } },
    { agent: {} },
    { onStep: 'x' },
  ])
    expect(wrong(more), JSON.stringify(more)).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.any(String) }))

  planner({
    name: 'typed',
    capabilities: {
      add: {
        description: 'Adds.',
        input: z.object({ a: z.number() }),
        use: (input) => {
          expectTypeOf(input).toEqualTypeOf<{ a: number }>()
          return input.a
        },
      },
      // @ts-expect-error what it uses takes no text
      mixed: { description: 'Does.', input: z.string(), use: ({ n }: { n: number }) => n },
    },
  })
  // @ts-expect-error a model or an agent, not both
  expect(() => planner({ ...good, model: 'test/a', agent: agent({ name: 'x' }) })).not.toThrow()
})
