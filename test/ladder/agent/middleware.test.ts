/** Middleware: layers around runs, trips and tools. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { type AroundRun, agent, type LadderError, type Middleware, middleware } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const add = tool({ name: 'add', description: 'Adds.', input: z.object({ a: z.number() }), onCrash: 'retry', execute: ({ a }) => a + 1 })
const script = () => [
  { calls: [{ name: 'add', input: { a: 1 } }], usage },
  { text: 'two', usage },
]

const levels = ['execute', 'trip', 'tool'] as const
/** Says at each level when it is passed. */
const noisy = (name: string, said: string[]): Middleware =>
  Object.fromEntries([
    ['name', name],
    ...levels.map((level) => [
      level,
      {
        before: () => void said.push(`${level} down ${name}`),
        after: (_: unknown, result: unknown) => void said.push(`${level} up ${name} ${String(result)}`),
        onError: (_: unknown, { code }: LadderError) => void said.push(`${level} failed ${name} ${code}`),
      },
    ]),
  ])

test('[WL-126] down from the first to the last, and up again, around the run, each trip and each tool', async () => {
  const said: string[] = []
  const sums = agent({ name: 'sums', model: 'test/a', tools: [add], middleware: [noisy('outer', said), noisy('inner', said)] })
  await using kit = await aLadderOf({ 'test/a': script() }, sums)
  const result = await kit.clock.until(sums.execute('go', { runId: 'r' }))

  expect(result).toMatchObject({
    data: 'two',
    usage: { total: 20 },
    report: { status: 'completed', trips: 2, children: [{ name: 'add', status: 'completed' }] },
  })
  const around = (level: string, of: string) => [`${level} down outer`, `${level} down inner`, `${level} up inner ${of}`, `${level} up outer ${of}`]
  expect(said.map((line) => line.trimEnd())).toEqual(
    [
      ...around('execute', 'two').slice(0, 2),
      ...around('trip', ''),
      ...around('tool', '2'),
      ...around('trip', 'two'),
      ...around('execute', 'two').slice(2),
    ].map((line) => line.trimEnd()),
  )
  expect(await kit.runtime.replay({ kind: 'sums', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-126] one that answers by itself spares what is inside of it; those around it hear its answer', async () => {
  const asked: string[] = []
  const counted = (level: (typeof levels)[number], said: string[]) =>
    agent({
      name: `at-${level}`,
      model: 'test/a',
      tools: [tool({ ...addition, execute: ({ a }) => asked.push('tool') && a })],
      middleware: [
        noisy('outer', said),
        { name: 'short', [level]: { before: () => ({ result: 'spared' }), after: () => void said.push(`${level} up short`) } },
        noisy('inner', said),
      ],
    })
  const addition = { name: 'add', description: 'Adds.', input: z.object({ a: z.number() }), onCrash: 'retry' as const }
  const heard: Record<string, string[]> = { execute: [], trip: [], tool: [] }
  const made = levels.map((level) => counted(level, heard[level] as string[]))
  await using kit = await aLadderOf(
    { 'test/a': (request) => (asked.push('model'), script()[request.messages.filter(({ role }) => role === 'assistant').length] as never) },
    ...made,
  )

  const results = []
  for (const one of made) {
    results.push(await kit.clock.until(one.execute('go')))
    results.push(asked.splice(0).join())
  }
  expect(results).toMatchObject([
    { data: 'spared', report: { trips: 0 } },
    '',
    { data: 'spared', usage: { total: 0 } },
    '',
    { data: 'two' },
    'model,model',
  ])
  for (const level of levels) {
    const own = (heard[level] ?? []).filter((line) => line.startsWith(level))
    expect(own, level).toEqual([`${level} down outer`, `${level} up outer spared`])
  }
})

test('[WL-126] what fails goes up through onError, until one of them recovers; what is inside of that one does not know', async () => {
  const said: string[] = []
  const saver = (level: (typeof levels)[number]): Middleware => ({
    name: 'saver',
    [level]: { onError: (_: unknown, { code }: LadderError) => ({ result: `saved from ${code}` }) },
  })
  const broken = tool({
    name: 'add',
    description: 'Breaks.',
    input: z.object({ a: z.number() }),
    onCrash: 'retry',
    execute: () => Promise.reject(new Error('no')),
  })
  const made = levels.map((level) =>
    agent({
      name: `at-${level}`,
      model: level === 'tool' ? 'test/a' : 'test/down',
      tools: [broken],
      middleware: [noisy('outer', said), saver(level), noisy('inner', said)],
    }),
  )
  const results = ({ messages }: { messages: { role: string; output?: unknown }[] }) => messages.find(({ role }) => role === 'tool')?.output
  const model = (request: { messages: { role: string }[] }) =>
    results(request) === undefined ? { calls: [{ name: 'add', input: { a: 1 } }] } : { text: String(results(request)) }
  await using kit = await aLadderOf({ 'test/a': model, 'test/down': [{ error: { code: 'provider_auth', message: 'who?' } }] }, ...made)

  const data = []
  for (const one of made) data.push((await kit.clock.until(one.execute('go'))).data)
  expect(data).toEqual(['saved from PROVIDER_AUTH', 'saved from PROVIDER_AUTH', 'saved from TOOL_EXEC_FAILED'])
  expect(said).toContain('execute failed inner PROVIDER_AUTH')
  expect(said).toContain('execute up outer saved from PROVIDER_AUTH')
  expect(said).toContain('trip failed inner PROVIDER_AUTH')
  expect(said).toContain('tool failed inner TOOL_EXEC_FAILED')
  expect(said).toContain('tool up outer saved from TOOL_EXEC_FAILED')
})

test('[WL-126] results and inputs can be others', async () => {
  const change: Middleware = {
    name: 'change',
    execute: { before: ({ input }) => ({ input: `${String(input)}!` }), after: (_, data) => ({ result: `<${String(data)}>` }) },
    trip: { after: (_, text) => (text === '' ? undefined : { result: text.toUpperCase() }) },
    tool: { before: ({ input }) => ({ input: { a: (input as { a: number }).a * 10 } }), after: (_, output) => ({ result: Number(output) + 0.5 }) },
  }
  const sums = agent({ name: 'sums', model: 'test/a', tools: [add], middleware: [change] })
  const seen: unknown[] = []
  const model = ({ messages }: { messages: { role: string; text?: string; output?: unknown }[] }) => {
    seen.push(messages.at(-1)?.text ?? messages.at(-1)?.output)
    return script()[messages.filter(({ role }) => role === 'assistant').length] as never
  }
  await using kit = await aLadderOf({ 'test/a': model }, sums)
  expect(await kit.clock.until(sums.execute('go'))).toMatchObject({ data: '<TWO>' })
  expect(seen).toEqual(['go!', 11.5])
})

test('[WL-126] each has a state of its own in each run: it stays from hook to hook, and the next run begins anew', async () => {
  const seen: number[] = []
  const states: object[] = []
  const counter = middleware({
    name: 'counter',
    state: { trips: 0, notes: [] as string[] },
    execute: { before: ({ state }) => void state.notes.push('begun'), after: ({ state }, data) => ({ result: { data, ...state } }) },
    trip: {
      before: ({ state, trip }) => {
        expectTypeOf(state).toEqualTypeOf<{ trips: number; notes: string[] }>()
        state.trips += 1
        seen.push(trip)
      },
      after: ({ state, calls, usage: spent }) => void state.notes.push(`${calls.map(({ name }) => name).join()} ${spent.total}`),
    },
  })
  expectTypeOf(counter).toEqualTypeOf<Middleware<{ trips: number; notes: string[] }>>()
  const other: Middleware = { name: 'other', execute: { after: ({ state }: AroundRun) => void states.push(structuredClone(state)) } }
  const sums = agent({ name: 'sums', model: 'test/a', tools: [add], middleware: [counter, other] })
  await using kit = await aLadderOf({ 'test/a': script() }, sums)
  for (const _ of [1, 2])
    expect((await kit.clock.until(sums.execute('go'))).data).toEqual({ data: 'two', trips: 2, notes: ['begun', 'add 10', ' 20'] })
  expect(seen).toEqual([1, 2, 1, 2])
  expect(states).toEqual([{}, {}])
})

test('[WL-126] one that throws fails the run with its name, and those around it may recover', async () => {
  const thrower = (level: 'execute' | 'trip', hook: string): Middleware => ({
    name: 'thrower',
    [level]: { [hook]: () => Promise.reject(new Error('oh')) },
  })
  const made = (['before', 'after'] as const).flatMap((hook) =>
    (['execute', 'trip'] as const).map((level) => agent({ name: `${level}-${hook}`, model: 'test/a', middleware: [thrower(level, hook)] })),
  )
  const saved = agent({
    name: 'saved',
    model: 'test/a',
    middleware: [{ name: 'saver', execute: { onError: (_, { message }) => ({ result: message }) } }, thrower('trip', 'after')],
  })
  const odd = agent({ name: 'odd', model: 'test/a', middleware: [{ name: 'odd', execute: { after: () => ({ result: () => 1 }) } }] })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: 'yes' }) }, ...made, saved, odd)
  for (const one of made) {
    const [, hook] = one.name.split('-')
    expect(await kit.clock.until(one.execute('go')), one.name).toMatchObject({
      error: { code: 'AGENT_EXEC_FAILED', message: `${hook} of the middleware 'thrower' threw: oh`, context: { middleware: 'thrower', hook } },
    })
  }
  expect(await kit.clock.until(saved.execute('go'))).toMatchObject({ data: "after of the middleware 'thrower' threw: oh" })
  expect(await kit.clock.until(odd.execute('go'))).toMatchObject({
    error: { code: 'AGENT_EXEC_FAILED', hint: expect.stringContaining('plain data') },
  })
})

test('[WL-126] gone on with after code around the run has failed, no model is asked again', async () => {
  let [asked, isBroken] = [0, true]
  const flaky: Middleware = { name: 'flaky', execute: { after: () => (isBroken ? Promise.reject(new Error('oh')) : undefined) } }
  const it = agent({ name: 'it', model: 'test/a', middleware: [flaky] })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: `answer ${++asked}`, usage }) }, it)
  expect(await kit.clock.until(it.execute('go', { runId: 'r' }))).toMatchObject({ error: { context: { middleware: 'flaky' } }, usage: { total: 10 } })
  isBroken = false
  expect(await kit.clock.until(it.resume('r'))).toMatchObject({ data: 'answer 1', usage: { total: 10 }, report: { status: 'completed' } })
})

test('[WL-126, WL-122] an answer that middleware has made is checked like one of the model', async () => {
  const shout: Middleware = { name: 'json', trip: { after: (_, text) => ({ result: JSON.stringify({ said: text }) }) } }
  const made = agent({ name: 'made', model: 'test/a', output: z.object({ said: z.string() }), middleware: [shout] })
  const bad = agent({ name: 'bad', model: 'test/a', output: z.object({ n: z.number() }), middleware: [shout] })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: 'yes' }) }, made, bad)
  expect(await kit.clock.until(made.execute('go'))).toMatchObject({ data: { said: 'yes' } })
  expect(await kit.clock.until(bad.execute('go'))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
})

test.for<[string, string, Middleware['trip'], number]>([
  ['made of one', 'test/a', { after: (_, text) => ({ result: `{"said":"${text}"}` }) }, 2],
  ['made in the place of one', 'test/a', { before: () => ({ result: '{"said":"yes"}' }) }, 0],
  ['made of a failure', 'test/down', { onError: () => ({ result: '{"said":"yes"}' }) }, 0],
])('[WL-126, WL-122, WL-114] what does not fit is no data of a run that is gone on with: %s', async ([, model, trip, times]) => {
  let asked = 0
  const around: Middleware = { name: 'around', execute: { after: () => undefined } }
  const it = agent({ name: 'it', model, output: z.object({ n: z.number() }), middleware: [{ name: 'json', ...(trip && { trip }) }, around] })
  const down = { error: { code: 'provider_auth' as const, message: 'who?' } }
  await using kit = await aLadderOf({ 'test/a': () => ({ text: `answer ${++asked}` }), 'test/down': () => down }, it)
  const unfit = { error: { code: 'SCHEMA_VALIDATION_FAILED' }, report: { status: 'failed' } }
  for (const go of [() => it.execute('go', { runId: 'r' }), () => it.resume('r')]) {
    const result = await kit.clock.until(go())
    expect(result).toMatchObject(unfit)
    expect(result.data).toBeUndefined()
  }
  expect(asked).toBe(times)
  expect(await kit.runtime.replay({ kind: 'it', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-126] what is no middleware is said where it is written', () => {
  const one = { name: 'a' }
  for (const bad of [1, [{}], [one, one], [{ name: 'a', trip: { before: 1 } }], [{ name: 'a', state: 1 }]])
    expect(() => agent({ name: 'a', middleware: bad as never }), JSON.stringify(bad)).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.any(String) }),
    )
  // @ts-expect-error a trip comes to a text
  middleware({ name: 'a', trip: { after: () => ({ result: 1 }) } })
})
