/** What authors and callers get wrong. */
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  agent,
  batch,
  END,
  ladder,
  memorySnapshots,
  memoryStore,
  orchestrator,
  planner,
  schedule,
  supervisor,
  workflow,
} from '../../src/ladder/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { aLadder } from './a-ladder.ts'

const aDesk = () => orchestrator({ name: 'desk', checkpointStore: memoryStore(), intents: { a: () => undefined }, route: () => 'a' as const })

test('[WL-004] a step may give bytes, and the next one reads them', async () => {
  const bytes = workflow({
    name: 'bytes',
    steps: [
      { name: 'make', run: () => new Uint8Array([1, 2]) },
      { name: 'read', run: ({ steps }) => (steps.make as { output: Uint8Array }).output.length },
    ],
  })
  await using kit = await aLadder(bytes)
  expect(await kit.clock.until(bytes.execute(new Uint8Array([3])))).toMatchObject({ data: 2 })
})

test('[WL-004] a request of a session that is named by no text is refused, and nobody waits for it for ever', async () => {
  const desk = aDesk()
  await using kit = await aLadder(desk)
  const refused = desk.execute('', { sessionId: 's', history: [], requestId: {} as string })
  await expect(kit.clock.until(refused)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', hint: expect.stringContaining('requestId') })
})

test('[WL-004] the longest name of a session makes turns, and a longer one is refused before anything runs', async () => {
  const desk = aDesk()
  await using kit = await aLadder(desk)
  const called = (sessionId: string) => kit.clock.until(desk.execute('', { sessionId, history: [] }))
  expect(await called('é'.repeat(450))).toMatchObject({ turnIndex: 0 })
  await expect(called('é'.repeat(451))).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', hint: expect.stringContaining('shorter') })
})

test('[WL-004] a session says what is no decision, whether or not a call waits', async () => {
  const desk = aDesk()
  await using _ = await aLadder(desk)
  for (const nonsense of [null, undefined, {}, { callId: 'c', decision: 'maybe' }])
    await expect(desk.decide('s', nonsense as never)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
})

test.each([undefined, null, 5, 'text'])('[WL-004] a definition that is %j is refused where it is written', (nonsense) => {
  const makers = [agent, workflow, supervisor, orchestrator, planner, schedule] as unknown as ((definition: never) => unknown)[]
  for (const make of makers)
    expect(() => make(nonsense as never)).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.stringContaining('write') }))
})

test.each([undefined, null, {}, { executables: 5 }, { executables: [null] }, { executables: [{}] }])(
  '[WL-004] ladder(%j) is refused, and says what to write',
  (nonsense) => {
    expect(() => ladder(nonsense as never)).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.stringContaining('ladder({ executables') }),
    )
  },
)

test.each([
  [[null]],
  [[5]],
  [[{ name: 'all', parallel: 5 }]],
  [[{ name: 'slow', run: (): void => undefined, timeoutMs: 5 }]],
  [[{ name: 'misspelt', run: (): void => undefined, nextstep: (): void => undefined }]],
])('[WL-106] steps that are none, and options that mean nothing, are refused where they are written: %j', (steps) => {
  expect(() => workflow({ name: 'w', steps: steps as never })).toThrow(expect.objectContaining({ code: 'WORKFLOW_ERROR' }))
})

test('[WL-003] an executable that two runtimes have stays with the first when the second ends', async () => {
  const one = workflow({ name: 'one', steps: [{ name: 'all', run: () => 1 }] })
  await using first = await aLadder(one)
  {
    await using second = await testRuntime({ extensions: [ladder({ executables: [one] })] })
    expect(await second.clock.until(one.execute(undefined))).toMatchObject({ data: 1 })
  }
  expect(await first.clock.until(one.execute(undefined))).toMatchObject({ data: 1 })
})

test('[WL-004] whoever asks for a run that nobody has begun is told so in words about runs, and none is there afterwards', async () => {
  const one = workflow({ name: 'one', steps: [{ name: 'wait', waitFor: 'paid' }] })
  await using kit = await aLadder(one)
  const asked: (() => Promise<unknown>)[] = [
    () => one.resume('r'),
    () => one.goOn('r'),
    () => one.look('r'),
    () => one.outcome('r'),
    () => one.cancel('r'),
    () => one.pending('r'),
    () => one.decide('r', { callId: 'c', decision: 'approve' }),
    () => one.send('r', { type: 'paid' }),
    () => one.look('r'),
  ]
  for (const ask of asked)
    await expect(kit.clock.until<unknown>(ask())).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining("'one' has no run 'r'"),
      hint: expect.stringContaining('execute'),
    })
})

test('[WL-003, WL-044] what a store of the caller throws comes as STORE_FAILED with its cause, wherever it is asked', async () => {
  const store = memoryStore()
  const desk = orchestrator({ name: 'desk', checkpointStore: store, intents: { a: () => undefined }, route: () => 'a' as const })
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  const cause = new Error('no connection')
  const down = (): never => {
    throw cause
  }
  const failed = { code: 'STORE_FAILED', message: expect.stringContaining('no connection'), cause, hint: expect.any(String) }
  const { list, delete: remove } = store
  Object.assign(store, { list: down, delete: () => Promise.reject(cause) })
  await expect(desk.sessions()).rejects.toMatchObject(failed)
  await expect(kit.clock.until(desk.delete('s'))).rejects.toMatchObject(failed)
  Object.assign(store, { list, delete: remove, rows: down })
  await expect(kit.clock.until(desk.delete('s'))).rejects.toMatchObject(failed)
  expect(await desk.sessions()).toEqual(['s'])
})

test.each([[[1]], ['done'], [5], [new Date(0)], [new Map([['a', 1]])]])(
  '[WL-091, WL-092] code of an intent that gives %j, which has no keys for the state, fails its branch and no other',
  async (given) => {
    const desk = supervisor({
      name: 'desk',
      intents: { strange: () => given as never, fine: () => ({ done: true }), nothing: () => null as never },
      route: ({ iteration }) => (iteration === 0 ? ['strange', 'fine', 'nothing'] : END),
    })
    await using kit = await aLadder(desk)
    const { data, report } = await kit.clock.until(desk.execute(''))
    expect(data).toEqual({ done: true })
    const [{ branches } = { branches: {} }] = report.iterations as { branches: Record<string, object> }[]
    expect(branches).toMatchObject({
      strange: { status: 'failed', error: { code: 'SUPERVISOR_FAILED', hint: expect.stringContaining('return an object') } },
      fine: { status: 'completed' },
      nothing: { status: 'completed' },
    })
  },
)

test.each([
  ['is no object', z.object({}).transform(() => 'x'), { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('gave a string') }],
  ['does not fit', z.object({ n: z.number() }), { code: 'SCHEMA_VALIDATION_FAILED', context: { issues: [{ path: 'n' }] } }],
  ['never comes', { '~standard': { version: 1, vendor: 'test', validate: () => new Promise(() => undefined) } }, { code: 'STEP_TIMEOUT' }],
] as const)('[WL-091, WL-092] what the schema of an intent makes of its answer %s: that fails its branch and no other', async (_, output, error) => {
  const judged: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    intents: { strange: { run: () => ({ n: 'x' }), output, timeoutMs: 5_000 } as never, fine: () => ({ done: true }) },
    route: ({ iteration }) => (iteration === 0 ? ['strange', 'fine'] : END),
    evaluate: ({ state }) => void judged.push(state),
  })
  await using kit = await aLadder(desk)
  const { data, report } = await kit.clock.until(desk.execute(''))
  expect(data).toEqual({ done: true })
  expect(report).toMatchObject({ iterations: [{ branches: { strange: { status: 'failed', error }, fine: { status: 'completed' } } }] })
  expect(judged).toEqual([{ done: true }])
})

test.each([
  ['an evaluation', { evaluate: () => 'yes' }],
  ['refine', { route: undefined, classifier: { run: () => ({ intent: 'a' }), refine: () => ({ state: [1] }) } }],
])('[WL-092, WL-093, WL-089] %s that gives something else than an object ends the run, and says what it was', async (_, more) => {
  const desk = supervisor({ name: 'desk', intents: { a: () => ({}) }, route: () => 'a', maxIterations: 1, ...more } as never)
  await using kit = await aLadder(desk)
  const { error } = await kit.clock.until(desk.execute(''))
  expect(error).toMatchObject({
    code: 'SUPERVISOR_FAILED',
    message: expect.stringMatching(/gave a (?:list|string)/),
    hint: expect.stringContaining('return'),
  })
})

test('[WL-004] what is sent to a run that nobody has begun is refused, whatever it is, and none is there afterwards', async () => {
  const answers = agent({ name: 'answers', description: 'Answers.', model: 'test/scripted' })
  const flow = workflow({ name: 'flow', steps: [{ name: 'wait', waitFor: 'paid' }] })
  const desk = supervisor({ name: 'desk', intents: { a: () => undefined }, route: () => 'a' as const })
  const plan = planner({ name: 'plan', model: 'test/scripted', capabilities: { ask: { use: answers, description: 'Answers.' } } })
  const all = batch(flow, { name: 'all' })
  await using kit = await aLadder(answers, flow, desk, plan, all)
  for (const { name } of [answers, flow, desk, plan, all])
    for (const type of ['execute', 'resume', 'cancel', 'paid', 'approve']) {
      const actor = kit.runtime.actor(name, 'r')
      await expect(actor.send({ type })).rejects.toMatchObject({
        code: 'bad_request',
        message: expect.stringContaining('was not begun'),
        hint: expect.stringContaining('execute()'),
      })
      await expect(actor.snapshot()).rejects.toMatchObject({ code: 'not_found' })
    }
})

test('[WL-004] a message to the subject of a run that nobody has begun becomes a dead letter that says so; the run begins later with what it is given', async () => {
  const flow = workflow({ name: 'flow', steps: [{ name: 'all', run: ({ input }) => input }] })
  await using kit = await aLadder(flow)
  const { runtime } = kit
  const { address } = runtime.actor('flow', 'r')
  await runtime.publish(runtime.subjects.in(address), new TextEncoder().encode('{"type":"execute"}'), 'early')
  const { inbox } = partsOf(runtime).transport
  await vi.waitFor(async () => {
    await kit.clock.settle()
    expect(await inbox.deadLetters()).toMatchObject([{ id: 'early', reason: expect.stringContaining('was not begun') }])
  })
  expect(await kit.clock.until(flow.execute(5, { runId: 'r' }))).toMatchObject({ data: 5 })
})

test('[WL-004, WL-100] code that wants to run what is nothing to run, or says what means nothing, is told what to write', async () => {
  const other = workflow({ name: 'other', steps: [{ name: 'all', run: () => 1 }] })
  const circular: Record<string, unknown> = Object.create(null)
  circular.self = circular
  const wrongs: readonly [unknown[], string, string][] = [
    [[null], 'LADDER_CONFIG', 'what agent()'],
    [[undefined], 'LADDER_CONFIG', 'what agent()'],
    [['other'], 'LADDER_CONFIG', 'what agent()'],
    [[{ name: 'other' }], 'LADDER_CONFIG', 'what agent()'],
    [[aDesk()], 'LADDER_CONFIG', 'execute(input, { sessionId'],
    [[other, '', 5], 'SCHEMA_VALIDATION_FAILED', 'write an object'],
    [[other, '', { histroy: [] }], 'SCHEMA_VALIDATION_FAILED', 'history'],
    [[other, circular], 'STEP_FAILED', ''],
  ]
  const wrong = (index: unknown) => wrongs[index as number]?.[0] as never[]
  const flow = workflow({ name: 'flow', steps: [{ name: 'all', run: ({ input, run }) => (run as (...all: never[]) => unknown)(...wrong(input)) }] })
  const later = workflow({
    name: 'later',
    steps: [{ name: 'rest', sleepUntil: (async ({ input, run }: never) => (run as (...all: never[]) => unknown)(...wrong(input))) as never }],
  })
  const desk = supervisor({
    name: 'desk',
    intents: { a: ({ input, run }) => (run as unknown as (...all: never[]) => never)(...wrong(input)) },
    route: ({ iteration }) => (iteration === 0 ? 'a' : END),
  })
  await using kit = await aLadder(flow, later, desk, other)
  for (const [index, [, code, hint]] of wrongs.entries()) {
    const { error } = await kit.clock.until(flow.execute(index))
    expect(error, `${index}`).toMatchObject({ code, hint: expect.stringContaining(hint) })
    expect(`${error?.message} ${String(error?.cause)}`, `${index}`).not.toMatch(/TypeError|undefined \(|reading/)
    const { report } = await kit.clock.until(desk.execute(index))
    const [{ branches } = { branches: {} }] = report.iterations as { branches: Record<string, object> }[]
    if (code !== 'STEP_FAILED') expect(branches.a, `${index}`).toMatchObject({ error: { code, hint: expect.stringContaining(hint) } })
  }
  expect(await kit.clock.until(later.execute(0))).toMatchObject({ error: { message: expect.stringContaining('where it only says') } })
})

test('[WL-004] what cannot be read is refused with its place, wherever a caller gives it, and nothing begins', async () => {
  const trap = (): object =>
    Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('a trap')
      },
    })
  const flow = workflow({ name: 'flow', steps: [{ name: 'all', run: ({ input }) => input }] })
  const desk = aDesk()
  await using kit = await aLadder(flow, desk)
  const refused = { message: expect.stringContaining('cannot be read: a trap'), hint: expect.stringContaining('getters') }
  const runs: (() => Promise<unknown>)[] = [
    () => flow.execute(trap(), { runId: 'r' }),
    () => flow.start([trap()], { runId: 'r' }),
    () => flow.execute('', { runId: 'r', context: trap() as never }),
    () => flow.execute('', trap()),
    () => desk.execute(trap(), { sessionId: 's', history: [] }),
  ]
  for (const [index, run] of runs.entries()) await expect(kit.clock.until(run()), `${index}`).rejects.toMatchObject(refused)
  await expect(kit.clock.until(flow.look('r'))).rejects.toMatchObject({ code: 'not_found' })
})

test('[WL-003] what is thrown and is no error says what stands in it', async () => {
  let thrown: unknown
  const flow = workflow({
    name: 'flow',
    steps: [
      {
        name: 'all',
        run: () => {
          throw thrown
        },
      },
    ],
  })
  await using kit = await aLadder(flow)
  const said = async (value: unknown): Promise<string | undefined> => {
    thrown = value
    return (await kit.clock.until(flow.execute(undefined))).error?.message
  }
  expect(await said({ status: 402, reason: 'no money' })).toContain('{"status":402,"reason":"no money"}')
  expect(await said({ message: 'no money', status: 402 })).toContain('failed: no money')
  expect(await said(null)).toContain('failed: null')
})

test('[WL-110, WL-088, WL-133] an answer of code that is no JSON has the code of one that means nothing', async () => {
  const circle: { self?: object } = {}
  circle.self = circle
  const flow = workflow({ name: 'flow', steps: [{ name: 'all', run: () => 1, nextStep: () => circle as never }] })
  const team = supervisor({ name: 'team', intents: { a: () => undefined }, route: () => circle as never })
  await using kit = await aLadder(flow, team)
  expect(await kit.clock.until(flow.execute(undefined))).toMatchObject({ error: { code: 'WORKFLOW_INVALID_GOTO' } })
  expect(await kit.clock.until(team.execute(undefined))).toMatchObject({ error: { code: 'SUPERVISOR_INVALID_ROUTE' } })
})

test.each([
  [null, 0],
  [undefined, 0],
  [5, 'a row'],
  [{ state: 5 }, 'a row'],
  ['row', 'a row'],
])(
  '[WL-042, WL-044] a store of the caller whose load() gives %j has no session, or fails the turn; no session is taken for a drifted one',
  async (given, came) => {
    const desk = orchestrator({
      name: 'desk',
      checkpointStore: Object.assign(memoryStore(), { load: () => Promise.resolve(given as never) }),
      intents: { a: () => undefined },
      route: () => 'a' as const,
    })
    await using kit = await aLadder(desk)
    const result = await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
    if (came === 0) expect(result).toMatchObject({ turnIndex: 0 })
    else
      expect(result.error).toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('load() of the store gave'),
        hint: expect.stringContaining('signature'),
      })
  },
)

test('[WL-042] a store that cannot list or drop anything does for turns; who asks it for a list is told what it lacks', async () => {
  const { list: _, prune: __, replace: ___, setOptions: ____, ...store } = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    keepSnapshots: 1,
    state: { n: 0 },
    intents: { a: ({ state }) => ({ n: state.n + 1 }) },
    route: () => 'a' as const,
  })
  await using kit = await aLadder(desk)
  for (const n of [1, 2, 3]) {
    const { data, error, report } = await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
    expect([data, error, report.warnings]).toEqual([{ n }, undefined, undefined])
  }
  await expect(desk.sessions()).rejects.toMatchObject({ code: 'STORE_FAILED', hint: expect.stringContaining('list()') })
  await kit.clock.until(desk.delete('s'))
  expect(await store.rows('desk', 's')).toEqual([])
})

test('[WL-036, WL-044, WL-113] a store that never answers fails a turn after a time and holds up no run; the next turn goes on from what is stored', async () => {
  const hangs = (): Promise<never> => new Promise(() => undefined)
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: { n: 0 },
    intents: { a: ({ state }) => ({ n: state.n + 1 }) },
    route: () => 'a' as const,
  })
  const flow = workflow({ name: 'flow', snapshotStore: Object.assign(memorySnapshots(), { save: hangs }), steps: [{ name: 'all', run: () => 1 }] })
  await using kit = await aLadder(desk, flow)
  const turn = () => kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  const { save } = store
  store.save = hangs
  expect(await turn()).toMatchObject({
    error: { code: 'STORE_FAILED', message: expect.stringContaining('save() of the store has given no answer for 30 seconds') },
  })
  store.save = save
  expect(await turn()).toMatchObject({ turnIndex: 0, data: { n: 1 } })
  expect(await kit.clock.until(flow.execute(undefined))).toMatchObject({ data: 1 })
})
