/** Every option of every function of the ladder, given what it is not. */
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent as session } from '../../src/index.ts'
import {
  type AnyExecutable,
  agent,
  batch,
  classifier,
  END,
  fanOut,
  judge,
  LadderError,
  ladder,
  lenient,
  memory,
  memoryAnswers,
  memorySnapshots,
  memoryStore,
  memoryVectors,
  middleware,
  orchestrator,
  planner,
  redisSnapshots,
  redisStore,
  redisVectors,
  registrySnapshots,
  registryStore,
  registryVectors,
  router,
  schedule,
  serve,
  setLadderDefaults,
  setLadderObservers,
  sqliteSnapshots,
  sqliteStore,
  sqliteVectors,
  subAgent,
  supervisor,
  team,
  workflow,
} from '../../src/ladder/index.ts'
import { aLadder } from './a-ladder.ts'

/** What no option takes that does not say so. */
const nonsense = {
  null: null,
  number: -1.5,
  list: [5],
  text: '?',
  flag: true,
  object: { strange: 5 },
  code: () => 5,
}
type Sort = keyof typeof nonsense
/** What each option takes of that; `none`: nothing, it has to be checked more closely. */
type Options = Readonly<Record<string, Sort | readonly Sort[] | 'none' | 'any'>>

const flow = workflow({ name: 'flow', description: 'Flows.', steps: [{ name: 'one', run: () => 1 }] })
const step = { name: 'one', run: () => 1 }
const route = (): typeof END => END
const a = (): object => ({})
const database = new DatabaseSync(':memory:')
afterAll(() => database.close())
const registry = { get: a, put: a, delete: a, list: a } as never
const redis = { eval: a } as never
const heard: Options = { on: 'none', observe: ['flag', 'code'] }
const described: Options = { version: 'text', description: 'text' }
const aroundAgent: Options = {
  ...heard,
  ...described,
  model: 'text',
  instructions: 'text',
  tools: 'none',
  approval: 'code',
  leakedToolCalls: 'flag',
  price: 'none',
  prices: 'none',
  onUsage: 'code',
  onComplete: 'code',
  budget: 'none',
  guardrails: 'none',
  middleware: 'none',
  cache: 'none',
  limits: 'none',
  wrapModel: 'code',
  beforeTool: 'none',
  repair: 'none',
}
const supervised: Options = {
  ...heard,
  ...described,
  input: 'none',
  state: 'object',
  goal: 'text',
  systemPrompt: 'text',
  historyWindow: 'none',
  classifier: 'code',
  ack: 'code',
  initialAgent: 'none',
  maxIterations: 'none',
  maxFanOut: 'none',
  artifacts: 'none',
  output: 'none',
  snapshotStore: 'none',
}
const chosen: Options = { intents: 'none', router: 'none', evaluate: 'code' }
const retry: Options = { attempts: 'none', backoff: 'code', retryOn: 'code' }

/** By what it is: how it is made with options, and what those take. */
const makers: Readonly<Record<string, readonly [make: (given: never) => unknown, options: Options]>> = {
  agent: [
    (given: object) => agent({ name: 'a', ...given }),
    { ...aroundAgent, name: 'none', input: 'none', output: 'none', prompt: 'code', maxTrips: 'none' },
  ],
  judge: [(given: object) => judge({ name: 'a', output: z.string(), ...given }), { ...aroundAgent, output: 'none', prompt: 'code' }],
  subAgent: [
    (given: object) => subAgent({ name: 'a', ...given }),
    { ...aroundAgent, input: 'none', output: 'none', prompt: 'none', maxTrips: 'none' },
  ],
  'a budget': [
    (given: object) => agent({ name: 'a', budget: { maxTokens: 1, ...given } }),
    { maxTokens: 'none', maxCostUSD: 'none', maxLatencyMs: 'none', onViolation: 'none', fallback: 'none' },
  ],
  'a cache': [
    (given: object) => agent({ name: 'a', cache: { store: memoryAnswers(), ...given } }),
    { store: 'none', embed: 'code', threshold: 'none', scope: 'code' },
  ],
  guardrails: [(given: object) => agent({ name: 'a', guardrails: given }), { input: 'none', output: 'none' }],
  approvals: [(given: object) => agent({ name: 'a', approval: given }), { allow: 'none', deny: 'none', timeoutMs: 'none', onTimeout: 'none' }],
  middleware: [(given: object) => middleware({ name: 'm', ...given }), { name: 'text', state: 'any', execute: 'none', trip: 'none', tool: 'none' }],
  'a layer': [(given: object) => middleware({ name: 'm', trip: given }), { before: 'code', after: 'code', onError: 'code' }],
  memoryAnswers: [memoryAnswers, { max: 'none', scopesMax: 'none' }],
  router: [(given: object) => router({ intents: ['a'], ...given }), { ...aroundAgent, intents: 'none', name: 'none' }],
  classifier: [(given: object) => classifier({ intents: ['a'], ...given }), { ...aroundAgent, intents: 'none', name: 'none' }],
  workflow: [
    (given: object) => workflow({ name: 'w', steps: [step], ...given }),
    {
      ...heard,
      ...described,
      name: 'none',
      input: 'none',
      state: 'object',
      steps: 'none',
      output: 'code',
      retry: 'none',
      nextStep: 'code',
      maxSteps: 'none',
      snapshotStore: 'none',
    },
  ],
  'a step': [
    (given: object) => workflow({ name: 'w', steps: [{ ...step, ...given }] }),
    { name: 'none', run: 'code', skip: 'code', before: 'code', after: 'code', output: 'none', retry: 'none', nextStep: 'code', onFailure: 'code' },
  ],
  'a parallel step': [
    (given: object) => workflow({ name: 'w', steps: [{ name: 'p', parallel: [step], ...given }] }),
    { parallel: 'none', mergeState: 'code', nextStep: 'code', onFailure: 'code' },
  ],
  'a step that asks': [(given: object) => workflow({ name: 'w', steps: [{ name: 'p', agent: flow, ...given }] }), { agent: 'none', input: 'code' }],
  'a step that waits': [
    (given: object) => workflow({ name: 'w', steps: [{ name: 'p', waitFor: 'paid', ...given }] }),
    { waitFor: 'none', schema: 'none', timeoutMs: 'none' },
  ],
  'an output of a step': [(given: object) => workflow({ name: 'w', steps: [{ ...step, output: given }] }), { extract: 'code', schema: 'none' }],
  'a retry': [(given: object) => workflow({ name: 'w', steps: [step], retry: given }), retry],
  'a retry of a step': [(given: object) => workflow({ name: 'w', steps: [{ ...step, retry: given }] }), retry],
  supervisor: [
    (given: object) => supervisor({ name: 's', intents: { a }, route, ...given }),
    { ...supervised, ...chosen, name: 'none', history: 'none', route: 'code' },
  ],
  'an intent': [
    (given: object) => supervisor({ name: 's', intents: { a: { run: a, ...given } as never }, route }),
    {
      run: 'code',
      agent: 'none',
      input: 'code',
      description: 'text',
      output: 'none',
      next: ['text', 'list', 'code'],
      history: 'code',
      timeoutMs: 'none',
      mode: 'none',
      streamTo: 'none',
    },
  ],
  'a classifier': [
    (given: object) => supervisor({ name: 's', intents: { a }, classifier: { run: () => ({ intent: 'a' as const }), ...given } as never }),
    { run: 'code', agent: 'none', input: 'code', refine: 'code' },
  ],
  'an acknowledgement': [
    (given: object) => supervisor({ name: 's', intents: { a }, route, ack: { run: a, ...given } as never }),
    { run: 'code', agent: 'none', input: 'code', output: 'none' },
  ],
  artifacts: [(given: object) => supervisor({ name: 's', intents: { a }, route, artifacts: given }), { schema: 'none', finalizeArtifacts: 'code' }],
  windows: [
    (given: object) => supervisor({ name: 's', intents: { a }, route, historyWindow: given }),
    { agents: 'code', router: 'code', ack: 'code' },
  ],
  team: [
    (given: object) => team({ name: 't', manager: () => END, members: { a }, gate: () => undefined, ...given }),
    { ...supervised, name: 'none', history: 'none', manager: 'code', members: 'none', gate: 'code' },
  ],
  orchestrator: [
    (given: object) => orchestrator({ name: 'o', intents: { a }, route, ...given }),
    {
      ...supervised,
      ...chosen,
      name: 'none',
      route: 'code',
      iterate: 'flag',
      summarize: 'code',
      keepSnapshots: 'none',
      checkpointStore: 'none',
      sessionLock: 'flag',
      memory: 'none',
      endsWhen: 'code',
      commands: 'none',
    },
  ],
  'a policy': [
    (given: object) => orchestrator({ name: 'o', intents: { a }, route, summarize: given }),
    { afterTurns: 'none', keep: 'none', summarizer: 'none', onCompact: 'code', lock: 'none' },
  ],
  'a lock': [(lock: object) => orchestrator({ name: 'o', intents: { a }, route, summarize: { lock } }), { maxWait: 'none' }],
  'a memory of sessions': [
    (given: object) => orchestrator({ name: 'o', intents: { a }, route, memory: { store: memory(), ...given } }),
    { store: 'none', recall: 'none', remember: 'flag', rememberTier: 'none', scope: 'code', injectKey: 'text' },
  ],
  planner: [
    (given: object) => planner({ name: 'p', capabilities: { a: { use: a, description: 'A.' } }, ...given }),
    {
      ...heard,
      ...described,
      name: 'none',
      input: 'none',
      capabilities: 'none',
      mode: 'none',
      maxConcurrency: 'none',
      maxSteps: 'none',
      replan: 'none',
      onStep: 'code',
      planOnly: 'flag',
      output: 'code',
      agent: 'none',
      model: 'text',
      instructions: 'text',
      repair: 'none',
    },
  ],
  'a capability': [
    (given: object) => planner({ name: 'p', capabilities: { a: { use: a, description: 'A.', ...given } } }),
    { use: 'code', description: 'text', input: 'none' },
  ],
  replanning: [
    (given: object) => planner({ name: 'p', capabilities: { a: { use: a, description: 'A.' } }, replan: { maxReplans: 1, ...given } }),
    { maxReplans: 'none' },
  ],
  batch: [(given: object) => batch(flow, given), { ...heard, ...described, name: 'none', concurrency: 'none', retry: 'none' }],
  schedule: [
    (given: object) => schedule({ name: 's', run: flow, every: '1h', ...given }),
    { name: 'none', description: 'text', run: 'none', input: 'any', overlap: 'none', catchUp: 'none', graceMs: 'none', keep: 'none', every: 'none' },
  ],
  'a schedule by cron': [(given: object) => schedule({ name: 's', run: flow, cron: '0 9 * * *', ...given }), { cron: 'none', timezone: 'none' }],
  'a schedule at a time': [(given: object) => schedule({ name: 's', run: flow, at: new Date(1), ...given }), { at: 'number' }],
  memory: [
    (given: object) => memory(given),
    {
      working: 'flag',
      semantic: 'none',
      episodic: 'none',
      procedural: 'none',
      embedder: 'code',
      vectors: 'none',
      defaultTier: 'none',
      namespace: 'text',
      clock: 'code',
    },
  ],
  'a tier': [
    (episodic: object) => memory({ episodic, embedder: a as never, vectors: memoryVectors() }),
    { k: 'none', threshold: 'number', weight: 'none', halfLifeMs: 'none' },
  ],
  'the working tier': [(working: object) => memory({ working }), { maxItems: 'none' }],
  ladder: [(given: object) => ladder({ executables: [flow], ...given }), { executables: 'none', serve: 'flag', onDrift: 'none' }],
  serve: [
    (given: object) => serve([flow], { token: 'x'.repeat(16), ...given }),
    { token: 'null', authorise: 'code', path: 'none', bodyBytesMax: 'none', cancelOnClose: 'flag' },
  ],
  setLadderObservers: [(given: object) => setLadderObservers([], given), { byDefault: 'flag' }],
  setLadderDefaults: [setLadderDefaults, { defaultCheckpointStore: 'none', defaultSnapshotStore: 'none' }],
  memoryStore: [memoryStore, { clock: 'code' }],
  registryStore: [(given: object) => registryStore(registry, given), { clock: 'code' }],
  registryVectors: [(given: object) => registryVectors(registry, given), { itemsMax: 'none' }],
  redisStore: [(given: object) => redisStore(redis, given), { clock: 'code', prefix: 'text' }],
  redisSnapshots: [(given: object) => redisSnapshots(redis, given), { prefix: 'text' }],
  redisVectors: [(given: object) => redisVectors(redis, given), { prefix: 'text', itemsMax: 'none' }],
  sqliteStore: [(given: object) => sqliteStore(database, given), { clock: 'code', table: 'none' }],
  sqliteSnapshots: [(given: object) => sqliteSnapshots(database, given), { table: 'none' }],
  sqliteVectors: [(given: object) => sqliteVectors(database, given), { table: 'none' }],
  asTool: [(given: object) => flow.asTool(given), { name: 'none', description: 'text', input: 'none', approval: ['flag', 'code'], mode: 'none' }],
  'a session as a tool': [
    (given: object) => orchestrator({ name: 'o', intents: { a }, route }).asTool({ inputSchema: z.object({}), ...given }),
    { name: 'none', description: 'text', inputSchema: 'none', sessionScope: 'none', approval: ['flag', 'code'] },
  ],
}

/** @returns what was thrown; nothing where it was taken */
const thrownBy = (make: () => unknown): unknown => {
  try {
    make()
    return undefined
  } catch (error) {
    return error
  }
}
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : 'taken')
const isTyped = (error: unknown): boolean =>
  error instanceof Error && (error instanceof LadderError || error.name === 'RuntimeError') && /\S/.test(String((error as LadderError).hint))

test.each(Object.entries(makers))(
  '[WL-003, WL-004, WL-012] %s: each option that is something else is refused with a code and a hint, and left out where it is undefined',
  (_, [make, options]) => {
    const wrong: string[] = []
    const one = make as (given: unknown) => unknown
    if (thrownBy(() => one({})) !== undefined) wrong.push(`{}: ${String(thrownBy(() => one({})))}`)
    if (!isTyped(thrownBy(() => one({ strange: 1 })))) wrong.push(`strange: ${String(thrownBy(() => one({ strange: 1 })))}`)
    for (const [option, takes] of Object.entries(options)) {
      for (const [sort, value] of Object.entries(nonsense)) {
        const error = thrownBy(() => one({ [option]: value }))
        const isTaken = takes === sort || (Array.isArray(takes) && takes.includes(sort))
        if (takes !== 'any' && isTaken ? error !== undefined && !isTyped(error) : takes !== 'any' && !isTyped(error))
          wrong.push(`${option}: ${sort}: ${wordsOf(error)}`)
      }
      const required = [
        'run',
        'steps',
        'intents',
        'route',
        'members',
        'manager',
        'gate',
        'capabilities',
        'every',
        'cron',
        'at',
        'agent',
        'parallel',
        'waitFor',
        'executables',
        'use',
        'description',
        'store',
        'inputSchema',
        'token',
        'maxReplans',
        'maxTokens',
        'output',
        'name',
      ]
      const error = thrownBy(() => one({ [option]: undefined }))
      if (error !== undefined && (!required.includes(option) || !isTyped(error))) wrong.push(`${option}: undefined: ${wordsOf(error)}`)
    }
    expect(wrong).toEqual([])
  },
)

const inPlace: Readonly<Record<string, (given: never) => unknown>> = {
  agent,
  judge,
  subAgent,
  router,
  classifier,
  workflow,
  supervisor,
  team,
  orchestrator,
  planner,
  schedule,
  ladder,
  lenient,
  middleware,
  memoryAnswers,
  memory,
  batch,
  'batch(flow, …)': (given) => batch(flow, given),
  serve: (given) => serve(given, { token: null }),
  'serve([…])': (given) => serve([given], { token: null }),
  'serve([flow], …)': (given) => serve([flow], given),
  fanOut: (given) => fanOut(given, 2),
  'fanOut(flow, …)': (given) => fanOut(flow, given),
  'fanOut(flow, 2, …)': (given) => fanOut(flow, 2, given),
  setLadderObservers,
  'setLadderObservers([], …)': (given) => setLadderObservers([], given),
  setLadderDefaults,
  memoryStore,
  registryStore,
  'registryStore(registry, …)': (given) => registryStore(registry, given),
  registrySnapshots,
  registryVectors,
  redisStore,
  redisSnapshots,
  redisVectors,
  'redisStore(redis, …)': (given) => redisStore(redis, given),
  'redisSnapshots(redis, …)': (given) => redisSnapshots(redis, given),
  'redisVectors(redis, …)': (given) => redisVectors(redis, given),
  sqliteStore,
  sqliteSnapshots,
  sqliteVectors,
  'sqliteStore(database, …)': (given) => sqliteStore(database, given),
  'sqliteSnapshots(database, …)': (given) => sqliteSnapshots(database, given),
  'sqliteVectors(database, …)': (given) => sqliteVectors(database, given),
  on: (given) => flow.on(given),
  asTool: (given) => flow.asTool(given),
  'on of a session': (given) => orchestrator({ name: 'o', intents: { a }, route }).on(given),
  'asTool of a session': (given) => orchestrator({ name: 'o', intents: { a }, route }).asTool(given),
}

test.each(Object.entries(inPlace))('[WL-003, WL-012] %s: what is nothing of the kind is refused with a code and a hint', (name, make) => {
  const taken: Readonly<Record<string, readonly Sort[]>> = { fanOut: ['code', 'object'], 'fanOut(flow, 2, …)': ['text'], memory: [], on: [] }
  for (const [sort, value] of Object.entries(nonsense)) {
    const error = thrownBy(() => make(value as never))
    if (!taken[name]?.includes(sort as Sort)) expect(isTyped(error), `${sort}: ${String(error)}`).toBe(true)
  }
})

test('[WL-003] what is said with a call, and is something else, is refused before anything runs', async () => {
  const plan = planner({ name: 'plan', model: 'test/a', capabilities: { a: { use: a, description: 'A.' } } })
  const clerk = agent({ name: 'clerk', model: 'test/a' })
  const desk = orchestrator({ name: 'desk', checkpointStore: memoryStore(), intents: { a }, route })
  const hourly = schedule({ name: 'hourly', run: flow, every: '1h' })
  await using kit = await aLadder(flow, plan, clerk, desk, hourly)
  const refused = async (what: string, call: () => unknown): Promise<void> => {
    const error = await kit.clock.until(Promise.resolve().then(call) as Promise<void>).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(isTyped(error), `${what}: ${String(error)}`).toBe(true)
  }
  const runs: AnyExecutable[] = [flow, plan, clerk]
  for (const one of runs)
    for (const [sort, value] of Object.entries(nonsense)) {
      const given = value as never
      await refused(`execute ${sort}`, () => one.execute('', given))
      await refused(`stream ${sort}`, () => one.stream('', given).result)
      await refused(`start ${sort}`, () => one.start('', given))
      await refused(`resume ${sort}`, () => one.resume('r', given))
      await refused(`outcome ${sort}`, () => one.outcome('r', given))
      for (const option of ['context', 'signal', 'on', 'runId'])
        if (!(option === 'context' && sort === 'object') && !(option === 'runId' && sort === 'text'))
          await refused(`execute ${option} ${sort}`, () => one.execute('', { [option]: given }))
      if (sort !== 'text') await refused(`cancel ${sort}`, () => one.cancel('r', given))
    }
  const of = { sessionId: 's', history: [] }
  for (const [sort, value] of Object.entries({ ...nonsense, undefined: undefined })) {
    const given = value as never
    await refused(`turn ${sort}`, () => desk.execute('', given))
    await refused(`turn heard ${sort}`, () => desk.stream('', given).result)
    await refused(`compact ${sort}`, () => desk.command('compact', given))
    await refused(`compaction of ${sort}`, () => desk.command('compact', { sessionId: given, history: given }))
    await refused(`sessionId ${sort}`, () => desk.execute('', { ...of, sessionId: sort === 'text' ? '' : given }))
    await refused(`history ${sort}`, () => desk.execute('', { ...of, history: given }))
    if (sort === 'undefined') continue
    for (const option of ['context', 'signal', 'on', 'state', 'force', 'requestId'])
      if (
        !((option === 'context' || option === 'state') && sort === 'object') &&
        !(option === 'force' && sort === 'flag') &&
        !(option === 'requestId' && sort === 'text')
      )
        await refused(`turn ${option} ${sort}`, () => desk.execute('', { ...of, [option]: given }))
    await refused(`resume ${sort}`, () => desk.resume('s', given))
    if (sort !== 'text') await refused(`sessions ${sort}`, () => desk.sessions(given))
    if (sort !== 'text') await refused(`cancel ${sort}`, () => desk.cancel('s', given))
    await refused(`trigger ${sort}`, () => hourly.trigger(given))
    await refused(`past firings ${sort}`, () => hourly.history(given))
    await refused(`command ${sort}`, () => (desk as { command(...given: unknown[]): unknown }).command('compact', { ...of }, given))
    await refused(`recall ${sort}`, () => memory().recall('x', given))
    await refused(`remember ${sort}`, () => memory().remember('x', given))
    if (sort !== 'text') await refused(`recall of ${sort}`, () => memory().recall(given))
  }
  expect(await desk.sessions()).toEqual([])
})

test('undefined is as good as left out', async () => {
  const flow2 = workflow({
    name: 'two',
    version: undefined,
    steps: [{ name: 'one', run: () => 1, waitFor: undefined, parallel: undefined }],
    retry: undefined,
  } as never)
  schedule({ name: 's', run: flow, cron: '0 9 * * *', every: undefined, at: undefined })
  await using kit = await aLadder(flow2)
  expect(await kit.clock.until(flow2.execute('', { runId: undefined, on: undefined, signal: undefined } as never))).toMatchObject({ data: 1 })
})

test('a name that is nearly right is told, and what is wrong is said in words', () => {
  expect(() => workflow({ name: 'w', steps: [step], maxStep: 3 } as never)).toThrow(
    expect.objectContaining({ message: "'w' has 'maxStep', which means nothing there", hint: 'did you mean maxSteps?' }),
  )
  expect(() => workflow({ name: 'w', steps: [step], maxSteps: null } as never)).toThrow(
    expect.objectContaining({ message: "maxSteps of 'w' is null", hint: 'it is a whole number from 1 on' }),
  )
  expect(() => memorySnapshots()).not.toThrow()
})

test('an agent of a session where one of the ladder is wanted, a misspelt option of a step, and intents as a list are told apart from other mistakes', () => {
  const main = session({ name: 'main' }) as never
  const hint = expect.stringContaining('agent() of statecast/ladder')
  const route = () => 'main' as never
  const places = [
    () => ladder({ executables: [main] }),
    () => agent({ name: 'a', tools: [main] }),
    () => supervisor({ name: 's', intents: { main }, route }),
    () => supervisor({ name: 's', intents: { main: { agent: main } }, route }),
    () => workflow({ name: 'w', steps: [{ name: 'main', agent: main }] }),
  ]
  for (const place of places) expect(place).toThrow(expect.objectContaining({ hint }))
  const steps = (more: object) => workflow({ name: 'w', steps: [{ name: 'one', ...more }] } as never)
  expect(() => steps({ rum: () => 1 })).toThrow(expect.objectContaining({ hint: 'did you mean run?' }))
  expect(() => steps({ run: () => 1, timeoutMs: 5 })).toThrow(expect.objectContaining({ hint: expect.stringContaining('beside waitFor') }))
  expect(() => supervisor({ name: 's', intents: [flow], route } as never)).toThrow(expect.objectContaining({ message: "intents of 's' are a list" }))
})
