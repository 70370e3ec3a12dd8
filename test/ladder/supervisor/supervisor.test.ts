/** Supervisors as their authors and users meet them. */
import { expect, expectTypeOf, test } from 'vitest'
import { initialTransition, transition } from 'xstate'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type Choice, END, type Intent, type LadderEvent, router, supervisor, workflow } from '../../../src/ladder/index.ts'
import { growth, growthMax } from '../../support/growth.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
const named = (events: LadderEvent[]) =>
  events.flatMap(({ type, agent: name }) =>
    type.startsWith('supervisor.') ? [`${type.slice(11)}${typeof name === 'string' ? ` ${name}` : ''}`] : [],
  )

const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer', output: z.object({ title: z.string() }) })
const count = workflow({
  name: 'count',
  description: 'Counts.',
  input: z.object({ text: z.string() }),
  steps: [{ name: 'all', run: ({ input }) => ({ length: input.text.length, words: 1 }) }],
})

test('[WL-085, WL-086, WL-092, WL-096, WL-103] code chooses between agents, workflows and functions; what they add to the state counts where it is declared', async () => {
  type State = { title?: string; length?: number; done?: boolean; stray?: string }
  const state: State = {}
  const desk = supervisor({
    name: 'desk',
    version: '3',
    input: z.string(),
    state,
    intents: {
      write: { agent: writer, output: z.object({ title: z.string() }), input: ({ input }) => `about ${input}` },
      bare: writer,
      count: { agent: count, input: ({ state }) => ({ text: state.title }), output: z.object({ length: z.number() }) },
      finish: () => JSON.parse('{"done":true,"__proto__":{"polluted":true},"constructor":1,"prototype":2}') as State,
      note: { run: ({ state }: { state: State }) => ({ stray: `${state.title}!` }), next: 'finish' },
    },
    route: ({ iteration }) => (['write', ['count', 'bare'], 'note', END] as const)[iteration] ?? END,
  })
  const titles = ['Bees', 'Wasps']
  await using kit = await aLadderOf({ 'test/writer': () => ({ text: JSON.stringify({ title: titles.shift(), more: 1 }), usage }) }, desk)
  const events: LadderEvent[] = []
  const {
    data,
    error,
    report,
    usage: used,
  } = await kit.clock.until(desk.execute('bees', { runId: 'r', on: { '*': (event) => void events.push(event) } }))

  expect(error).toBeUndefined()
  expectTypeOf(data).toEqualTypeOf<State | undefined>()
  expect(data).toEqual({ title: 'Bees', length: 4, stray: 'Bees!', done: true })
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  expect(used).toEqual({ input: 14, output: 6, total: 20 })
  expect(report).toMatchObject({
    type: 'supervisor',
    name: 'desk',
    version: '3',
    status: 'completed',
    terminatedBy: 'route',
    usage: { total: 20 },
    iterations: [
      { number: 0, decision: { source: 'route', next: ['write'] }, branches: { write: { status: 'completed', output: { title: 'Bees' } } } },
      { number: 1, decision: { next: ['count', 'bare'] }, state: { title: 'Bees', length: 4 } },
      { number: 2, decision: { next: ['note'] } },
      { number: 3, decision: { source: 'intent.next', next: ['finish'] } },
    ],
  })
  expect(
    report.children
      .map(({ type, name, runId, parentRunId }) => `${type} ${name} as ${runId} in ${parentRunId}`)
      .toSorted((a, b) => a.localeCompare(b)),
  ).toEqual([
    'agent writer as r/bare/1 in r',
    'agent writer as r/write/1 in r',
    'callback finish as r/finish in r',
    'callback note as r/note in r',
    'workflow count as r/count/1 in r',
  ])
  const [choice, end] = [['iteration.starting', 'router.deciding', 'router.decided'], ['iteration.completed']]
  const atOnce = events.flatMap(({ type, iteration, agent: name }) =>
    type === 'supervisor.agent.completed' && iteration === 1 ? [`agent.completed ${String(name)}`] : [],
  )
  const first = ['starting', ...choice, 'agent.starting write', 'agent.completed write', ...end]
  const second = [...choice, 'agent.starting bare', 'agent.starting count', ...atOnce, ...end]
  const third = [...choice, 'agent.starting note', 'agent.completed note', ...end]
  const fourth = ['iteration.starting', 'router.decided', 'agent.starting finish', 'agent.completed finish', ...end]
  expect(named(events)).toEqual([...first, ...second, ...third, ...fourth, ...choice, 'completed'])
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-103, WL-104] each thing that happens in two iterations is told in its order: who fails, what the evaluation says, and how it ends', async () => {
  const goals: (string | undefined)[] = []
  const desk = supervisor({
    name: 'desk',
    goal: 'a title',
    intents: { broken: () => Promise.reject(new Error('no paper')), fine: ({ goal }) => void goals.push(goal) },
    route: ({ iteration }) => (iteration === 0 ? 'broken' : 'fine'),
    evaluate: ({ iteration }) => (iteration === 0 ? { feedback: 'again' } : { satisfied: true }),
  })
  const lost = supervisor({ name: 'lost', intents: { a: () => undefined }, route: () => Promise.reject(new Error('no idea')) })
  await using kit = await aLadder(desk, lost)
  const events: LadderEvent[] = []
  const on = { '*': (event: LadderEvent) => void events.push(event) }
  await kit.clock.until(desk.execute('x', { on }))

  const iteration = (...branch: string[]) => [
    'iteration.starting',
    'router.deciding',
    'router.decided',
    ...branch,
    'evaluate.verdict',
    'iteration.completed',
  ]
  const first = iteration('agent.starting broken', 'agent.failed broken')
  const second = iteration('agent.starting fine', 'agent.completed fine')
  expect(named(events)).toEqual(['starting', ...first, ...second, 'completed'])
  expect(events.flatMap(({ type, iteration: number }) => (type.startsWith('supervisor.') && number !== undefined ? [number] : []))).toEqual([
    0,
    ...first.map(() => 0),
    ...second.map(() => 1),
    2,
  ])
  expect(events.filter(({ type }) => type === 'supervisor.evaluate.verdict').map(({ verdict }) => verdict)).toEqual([
    { feedback: 'again' },
    { satisfied: true },
  ])
  expect(events.find(({ type }) => type === 'supervisor.agent.failed')).toMatchObject({ error: { message: expect.stringContaining('no paper') } })
  expect(goals).toEqual(['a title'])
  events.length = 0
  await kit.clock.until(lost.execute('x', { on }))
  expect(named(events)).toEqual(['starting', 'iteration.starting', 'router.deciding', 'error'])
})

const from = Array.from({ length: 11 }, (_, index) => `i${index}`)
const invalid: [string, () => unknown, { maxFanOut?: number }?][] = [
  ['somebody who is not there', () => 'nobody'],
  ['an empty list', () => []],
  ['no text', () => 5],
  ['nothing', () => undefined],
  ['too many at once', () => ['a', 'b', 'c'], { maxFanOut: 2 }],
  ['eleven at once, where nothing is said', () => from],
]
test.each(invalid)('[WL-086, WL-090] a route that chooses %s is refused with who there is, and nothing has run', async (_, route, more) => {
  const ran: string[] = []
  const intents = Object.fromEntries(['a', 'b', 'c', ...from].map((name) => [name, () => void ran.push(name)]))
  const lost = supervisor({ name: 'lost', intents, route: route as never, ...more })
  await using kit = await aLadder(lost)
  expect(await kit.clock.until(lost.execute(undefined))).toMatchObject({
    error: { code: 'SUPERVISOR_INVALID_ROUTE', context: { availableKeys: ['a', 'b', 'c', ...from] } },
    report: { status: 'failed', terminatedBy: 'error' },
  })
  expect(ran).toEqual([])
})

test('[WL-086, WL-093] a route and an evaluation that throw are SUPERVISOR_FAILED with what they threw', async () => {
  const broken = () => Promise.reject(new Error('no idea'))
  const first = supervisor({ name: 'first', intents: { a: () => undefined }, route: broken })
  const second = supervisor({ name: 'second', intents: { a: () => undefined }, route: () => 'a', evaluate: broken })
  await using kit = await aLadder(first, second)
  for (const one of [first, second])
    expect(await kit.clock.until(one.execute(undefined))).toMatchObject({
      error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no idea'), cause: 'no idea' },
    })
})

test('[WL-087, WL-104] a model that names nobody is asked again where it may be, as one that names somebody who is not there', async () => {
  const told: string[] = []
  const desk = supervisor({
    name: 'desk',
    intents: { write: { run: () => ({}), description: 'Writes it.' } },
    router: router({ intents: ['write'], model: 'test/router', repair: 1 }),
  })
  const answers = ['{"next":[]}', '{"next":["write"]}', `{"next":"${END}"}`]
  const model = (request: ModelRequest) => ({ text: answers[told.push(last(request)) - 1] as string, usage })
  await using kit = await aLadderOf({ 'test/router': model }, desk)
  expect(await kit.clock.until(desk.execute('bees'))).toMatchObject({ report: { status: 'completed' } })
  expect(told).toHaveLength(3)
})

test('[WL-087, WL-104] a model chooses: it is told the goal, who there is, and what was done', async () => {
  const told: string[] = []
  const pick = router({ intents: ['write', 'check'], model: 'test/router', repair: 1 })
  const desk = supervisor({
    name: 'desk',
    goal: 'a short title',
    systemPrompt: 'You run a newspaper.',
    state: { n: 0 },
    intents: {
      write: { run: ({ state }: { state: { n: number } }) => ({ n: state.n + 1 }), description: 'Writes it.' },
      check: { run: () => ({}), description: 'Looks at it.' },
    },
    router: pick,
  })
  const answers = ['{"next":"write","reasoning":"nothing is there"}', '{"next":"wriet"}', '{"next":["write","check"]}', `{"next":"${END}"}`]
  let asked = 0
  const model = (request: ModelRequest) => {
    told.push(last(request))
    return { text: answers[asked++] as string, usage }
  }
  await using kit = await aLadderOf({ 'test/router': model }, desk)
  const { data, report } = await kit.clock.until(desk.execute('bees'))

  expect(data).toEqual({ n: 2 })
  expect(report).toMatchObject({
    terminatedBy: 'router',
    usage: { total: 40 },
    iterations: [{ decision: { source: 'router', next: ['write'], reasoning: 'nothing is there' } }, { decision: { next: ['write', 'check'] } }],
  })
  for (const part of ['a short title', '- write: Writes it.', `- ${END}`, 'iteration 1 of at most 10', 'Input: bees']) expect(told[0]).toContain(part)
  // It stands before all else, each time.
  for (const text of told.toSpliced(2, 1)) expect(text).toMatch(/^You run a newspaper\.\n\nGoal: a short title\n/)
  expect(told[1]).toContain('1. write → write: {"n":1}')
  expect(told[2]).toContain('cannot be used')
})

test('[WL-087] the model is told the state, what the evaluation said, and the first 160 characters of what came out', async () => {
  const told: string[] = []
  const desk = supervisor({
    name: 'desk',
    state: { n: 0, text: '' },
    intents: { write: { run: ({ state }) => ({ n: state.n + 1, text: 'x'.repeat(300) }), description: 'Writes.' } },
    router: router({ intents: ['write'], model: 'test/router' }),
    evaluate: ({ state }) => ({ feedback: `worse than ${state.n}` }),
  })
  const answers = ['{"next":"write"}', `{"next":"${END}"}`]
  await using kit = await aLadderOf({ 'test/router': (request: ModelRequest) => ({ text: answers[told.push(last(request)) - 1] as string }) }, desk)
  await kit.clock.until(desk.execute('bees'))
  expect(told[0]).toContain('State: {"n":0,"text":""}')
  expect(told[0]).not.toContain('Feedback')
  expect(told[1]).toContain(`State: {"n":1,"text":"${'x'.repeat(300)}"}`)
  expect(told[1]).toContain('Feedback: worse than 1')
  const output = JSON.stringify({ n: 1, text: 'x'.repeat(300) })
  expect(told[1]).toContain(`1. write → write: ${output.slice(0, 160)}…\n`)
})

test.each([
  ['somebody who is not there', '{"next":"nobody"}'],
  ['nobody', '{"next":[]}'],
  ['no JSON', 'the writer, I think'],
])('[WL-086, WL-087] a router that answers with %s is asked once, and the run fails with those who are there', async (_, text) => {
  const asked: string[] = []
  const a = { run: () => undefined, description: 'A.' }
  const desk = supervisor({ name: 'desk', intents: { a }, router: router({ intents: ['a'], model: 'test/router' }) })
  await using kit = await aLadderOf({ 'test/router': (request: ModelRequest) => (asked.push(last(request)), { text }) }, desk)
  expect(await kit.clock.until(desk.execute('x'))).toMatchObject({
    error: {
      code: 'SUPERVISOR_INVALID_ROUTE',
      message: expect.stringContaining("the router of 'desk' chose nobody who is there"),
      hint: expect.stringContaining('repair: 1'),
      context: { availableKeys: ['a'], source: 'router' },
    },
    report: { terminatedBy: 'error', iterations: [] },
  })
  expect(asked).toHaveLength(1)
})

test('[WL-087] a router has one trip: it answers at once, and calls no tool before', async () => {
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'seen' })
  const desk = supervisor({
    name: 'desk',
    intents: { a: { run: () => undefined, description: 'A.' } },
    router: router({ intents: ['a'], model: 'test/router', tools: [look] }),
  })
  const trips: string[] = []
  const model = (request: ModelRequest) => (trips.push(last(request)), { calls: [{ name: 'look', input: {} }] })
  await using kit = await aLadderOf({ 'test/router': model }, desk)
  expect(await kit.clock.until(desk.execute('x'))).toMatchObject({ error: { code: 'AGENT_MAX_TRIPS' } })
  expect(trips).toHaveLength(1)
})

test('[WL-087] a router that goes on naming nobody fails the run', async () => {
  const pick = agent({ name: 'pick', model: 'test/router', output: z.object({ next: z.string() }) })
  const desk = supervisor({ name: 'desk', intents: { a: { run: () => undefined, description: 'A.' } }, router: pick })
  await using kit = await aLadderOf({ 'test/router': [{ text: '{"next":"nobody"}' }] }, desk)
  expect(await kit.clock.until(desk.execute('x'))).toMatchObject({ error: { code: 'SUPERVISOR_INVALID_ROUTE', context: { source: 'router' } } })
})

test('[WL-088, WL-094] who begins is not chosen; what the evaluation says comes before what an intent says', async () => {
  const asked: number[] = []
  const done: string[] = []
  const intents = {
    a: { run: () => void done.push('a'), next: 'b' as const },
    b: () => void done.push('b'),
    c: () => void done.push('c'),
  }
  const desk = supervisor({
    name: 'desk',
    intents,
    initialAgent: 'a',
    route: ({ iteration }) => (asked.push(iteration), END),
    evaluate: ({ iteration }) => (iteration === 0 ? { reassignTo: 'c' } : undefined),
  })
  await using kit = await aLadder(desk)
  const { report } = await kit.clock.until(desk.execute(undefined))
  expect(done).toEqual(['a', 'c'])
  expect(asked).toEqual([2])
  expect(report.iterations).toMatchObject([{ decision: { source: 'initialAgent' } }, { decision: { source: 'evaluate', next: ['c'] } }])
})

test('[WL-094] of those that run at once all are heard about who is next, and an end of one is the end', async () => {
  const intents = {
    a: { run: () => undefined, next: ['c', 'd'] as const },
    b: { run: () => undefined, next: 'd' as const },
    c: () => undefined,
    d: { run: () => undefined, next: () => END },
  }
  const desk = supervisor({ name: 'desk', intents: intents as never, route: () => ['a', 'b'] as never })
  await using kit = await aLadder(desk)
  expect((await kit.clock.until(desk.execute(undefined))).report).toMatchObject({
    terminatedBy: 'intent.next',
    iterations: [{ decision: { next: ['a', 'b'] } }, { decision: { next: ['c', 'd'] } }],
  })
})

test('[WL-090, WL-094] those who are next may be no more than may run at once, whoever has named them', async () => {
  const ran: string[] = []
  const plain = (name: string) => () => void ran.push(name)
  const named = (name: string, next: readonly string[]) => ({ run: plain(name), next })
  const intents = { a: named('a', ['c', 'd']), b: named('b', ['d', 'e']), c: plain('c'), d: plain('d'), e: plain('e') }
  const both = (maxFanOut: number) =>
    supervisor({ name: 'both', intents: intents as never, route: ({ iteration }) => (iteration === 0 ? ['a', 'b'] : END) as never, maxFanOut })
  const [few, many] = [both(2), both(3)]
  await using kit = await aLadder(few)
  expect(await kit.clock.until(few.execute(undefined))).toMatchObject({
    error: {
      code: 'SUPERVISOR_INVALID_ROUTE',
      message: expect.stringContaining("next of 'a', 'b'"),
      context: { availableKeys: ['a', 'b', 'c', 'd', 'e'], source: 'intent.next' },
    },
  })
  expect(ran.toSorted()).toEqual(['a', 'b'])
  ran.length = 0
  await using other = await aLadder(many)
  expect(await other.clock.until(many.execute(undefined))).toMatchObject({
    report: {
      iterations: [
        { decision: { raw: ['a', 'b'] } },
        {
          decision: {
            source: 'intent.next',
            next: ['c', 'd', 'e'],
            raw: [
              ['c', 'd'],
              ['d', 'e'],
            ],
          },
        },
      ],
    },
  })
  expect(ran.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('[WL-085] a function reads as its input what its intent says, or what the supervisor was given; where it is dispatched with one, that', async () => {
  const read: string[] = []
  const desk = supervisor({
    name: 'desk',
    input: z.string(),
    state: { length: 0 },
    intents: {
      measure: {
        run: ({ input }) => (read.push(input), { length: input.length, more: true }),
        input: ({ input }) => `about ${input}`,
        description: 'Measures.',
        output: z.object({ length: z.number() }),
        next: 'plain',
      },
      plain: async ({ input, dispatch }) => {
        read.push(input)
        await dispatch('measure')
        await dispatch('measure', 'other')
      },
    },
    route: ({ iteration }) => (iteration === 0 ? 'measure' : END),
  })
  await using kit = await aLadder(desk)
  const { data, report } = await kit.clock.until(desk.execute('bees'))
  expect(data).toEqual({ length: 10 })
  expect(report.iterations).toMatchObject([{ branches: { measure: { output: { length: 10, more: true } } } }, {}])
  expect(JSON.stringify(report.iterations)).not.toContain('"adds"')
  expect(read).toEqual(['about bees', 'bees', 'about bees', 'other'])
})

test('[WL-090, WL-091, WL-092] all run at once, none twice; one that fails, or hangs, does not stop the others; the later one wins', async () => {
  let running = 0
  let most = 0
  const work = (name: string) => async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return { [name]: true, who: name }
  }
  const intents: Record<string, Intent<unknown, Record<string, unknown>, string>> = {
    ...Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`w${index}`, work(`w${index}`)])),
    broken: () => Promise.reject(new Error('no paper')),
    hangs: { run: () => new Promise<never>(() => undefined), timeoutMs: 5_000 },
  }
  const judged: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    intents,
    route: ({ iteration }): Choice => (iteration === 0 ? ['w3', 'w0', 'w1', 'w7', 'w3', 'w4', 'w5', 'w6', 'w2', 'broken', 'hangs'] : END),
    evaluate: ({ state }) => void judged.push(state.who),
  })
  await using kit = await aLadder(desk)
  const events: LadderEvent[] = []
  const { data, report } = await kit.clock.until(desk.execute(undefined, { on: { 'supervisor.merge.conflict': (event) => void events.push(event) } }))
  expect(most).toBe(8)
  expect(data).toMatchObject({ w0: true, w7: true, who: 'w2' })
  expect(judged).toEqual(['w2'])
  expect(report.iterations).toMatchObject([
    {
      branches: {
        w3: { status: 'completed' },
        broken: { status: 'failed', error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no paper') } },
        hangs: { status: 'failed', error: { code: 'STEP_TIMEOUT' } },
      },
    },
  ])
  expect(events).toMatchObject([{ keys: ['who'] }])
})

test('[WL-093, WL-096] it ends when the evaluation is satisfied, which also tells the next choice something', async () => {
  const seen: (string | undefined)[] = []
  const desk = supervisor({
    name: 'desk',
    state: { n: 0 },
    intents: { more: ({ state }) => ({ n: state.n + 1 }) },
    route: ({ feedback }) => (seen.push(feedback), 'more'),
    evaluate: ({ state }) => (state.n >= 3 ? { satisfied: true } : { feedback: `only ${state.n}` }),
    output: z.object({ n: z.number() }),
  })
  await using kit = await aLadder(desk)
  const { data, report } = await kit.clock.until(desk.execute(undefined))
  expect(data).toEqual({ n: 3 })
  expectTypeOf(data).toEqualTypeOf<{ n: number } | undefined>()
  expect(report).toMatchObject({ terminatedBy: 'evaluate', iterations: [{}, {}, { verdict: { satisfied: true } }] })
  expect(seen).toEqual([undefined, 'only 1', 'only 2'])
})

test('[WL-093, WL-094] an evaluation may send it on and say something at once; nothing said leaves the choice as it was', async () => {
  const told: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    intents: { a: () => undefined, b: ({ feedback }) => void told.push(feedback) },
    route: ({ iteration, feedback }) => (told.push(feedback), iteration < 3 ? 'a' : END),
    evaluate: ({ iteration }) => (iteration === 0 ? { reassignTo: ['b'], feedback: 'shorter' } : {}),
  })
  await using kit = await aLadder(desk)
  const { report } = await kit.clock.until(desk.execute(undefined))
  expect(report.iterations?.map((one) => (one as { decision: object }).decision)).toMatchObject([
    { source: 'route', next: ['a'] },
    { source: 'evaluate', next: ['b'] },
    { source: 'route', next: ['a'] },
  ])
  expect(told).toEqual([undefined, 'shorter', undefined, undefined])
})

test('[WL-095, WL-096] one that never ends is ended after ten iterations', async () => {
  let ran = 0
  const desk = supervisor({ name: 'desk', intents: { a: () => void ran++ }, route: () => 'a' })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute(undefined))).toMatchObject({
    error: { code: 'SUPERVISOR_MAX_ITERATIONS', category: 'limit' },
    report: { status: 'max-iterations', terminatedBy: 'max-iterations' },
  })
  expect(ran).toBe(10)
})

test('[WL-095, WL-096] where it never ends as somebody fails each time, the error says who, and why', async () => {
  const desk = supervisor({ name: 'desk', intents: { a: (() => 'no object') as never, b: () => ({}) }, route: () => ['a', 'b'], maxIterations: 2 })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute(undefined))).toMatchObject({
    error: {
      code: 'SUPERVISOR_MAX_ITERATIONS',
      context: { failed: ['a'] },
      hint: expect.stringMatching(/^in the last one a failed: .*gave a string/),
    },
  })
})

test('[WL-101] an iteration says how it was decided and how long that took, and what all that ran in it has used', async () => {
  const desk = supervisor({
    name: 'desk',
    intents: {
      write: { agent: writer, description: 'Writes.', next: 'note' },
      note: { run: async ({ run }) => void (await run(writer, 'x')), description: 'Notes.' },
    },
    router: router({ intents: ['write', 'note'], model: 'test/router' }),
    evaluate: async ({ run, iteration }) => (iteration === 1 ? { feedback: (await run(writer, 'y')).report.name } : undefined),
  })
  const answers = ['write', END]
  const choose = () => ({ text: JSON.stringify({ next: answers.shift() }), delayMs: 1_000, usage })
  await using kit = await aLadderOf({ 'test/router': choose, 'test/writer': () => ({ text: '{"title":"Bees"}', usage }) }, desk, writer)
  const { report } = await kit.clock.until(desk.execute('bees'))
  expect(report.usage.total).toBe(50)
  expect(report.iterations).toMatchObject([
    { number: 0, decision: { source: 'router', next: ['write'], duration: 1_000 }, usage: { total: 20 } },
    { number: 1, decision: { source: 'intent.next', duration: 0 }, verdict: { feedback: 'writer' }, usage: { total: 20 } },
  ])
})

test('[WL-102, WL-103] a run whose signal has aborted before returns as one that is cancelled, before anything of it has run, and can go on', async () => {
  const ran: number[] = []
  const route = ({ iteration }: { iteration: number }) => (iteration < 2 ? 'a' : END)
  const desk = supervisor({ name: 'desk', intents: { a: ({ iteration }) => void ran.push(iteration) }, route })
  await using kit = await aLadder(desk)
  const told: LadderEvent[] = []

  const never = await kit.clock.until(
    desk.execute(undefined, { runId: 'r', signal: AbortSignal.abort('too late'), on: { '*': (event) => void told.push(event) } }),
  )

  expect(never).toMatchObject({
    error: { code: 'SUPERVISOR_CANCELLED', category: 'cancelled', context: { cancelledAt: 0, reason: 'too late' } },
    report: { status: 'cancelled', terminatedBy: 'cancelled', iterations: [] },
  })
  expect(named(told).at(-1)).toBe('cancelled')
  expect(ran).toEqual([])
  expect(await kit.clock.until(desk.resume('r'))).toMatchObject({ report: { status: 'completed', iterations: { length: 2 } } })
  expect(ran).toEqual([0, 1])
})

test('[WL-102] cancelled while branches work: they are told, what was done stays, and it goes on with the iteration that was cut off', async () => {
  const ran: string[] = []
  let patience = true
  const leave = new AbortController()
  const desk = supervisor({
    name: 'desk',
    state: { n: 0 },
    intents: {
      quick: ({ state }) => (ran.push('quick'), { n: state.n + 1 }),
      slow: ({ signal }) => {
        ran.push('slow')
        if (!patience) return undefined
        leave.abort('enough')
        return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('told'))))
      },
    },
    route: ({ iteration }) => (['quick', 'slow', END] as const)[iteration] ?? END,
  })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute(undefined, { runId: 'r', signal: leave.signal }))).toMatchObject({
    error: { code: 'SUPERVISOR_CANCELLED', category: 'cancelled', context: { cancelledAt: 1, reason: 'enough' } },
    report: { status: 'cancelled', terminatedBy: 'cancelled', iterations: [{ number: 0 }] },
  })
  patience = false
  expect(await kit.clock.until(desk.resume('r'))).toMatchObject({ data: { n: 1 }, report: { status: 'completed' } })
  expect(ran).toEqual(['quick', 'slow', 'slow'])
})

test('an output that does not fit fails the run, and once it does no iteration is gone through again', async () => {
  let ran = 0
  const output = z.object({ n: z.number() })
  const fits = { now: false }
  const lenient = {
    '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => (fits.now ? { value } : output['~standard'].validate(value)) },
  }
  const desk = supervisor({
    name: 'desk',
    intents: { a: () => void ran++ },
    route: ({ iteration }) => (iteration === 0 ? 'a' : END),
    output: lenient,
  })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute(undefined, { runId: 'r' }))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
  fits.now = true
  expect(await kit.clock.until(desk.resume('r'))).toMatchObject({ data: {} })
  expect(ran).toBe(1)
})

test.each([
  ['the evaluation is satisfied', { evaluate: () => ({ satisfied: true }) }],
  ['an intent says END', { intents: { a: { run: () => ({ n: 1 }), next: END } } }],
] as const)('[WL-093, WL-096] where %s, the data is made with the end of the iteration: four commits are a run', async (_, more) => {
  const made: object[] = []
  const output = z.object({ n: z.number() }).transform((state) => (made.push(state), { twice: 2 * state.n }))
  const desk = supervisor({ name: 'desk', state: {}, intents: { a: () => ({ n: 1 }) }, route: () => 'a' as const, output, ...(more as object) })
  await using kit = await aLadder(desk)

  const { data } = await kit.clock.until(desk.execute(undefined, { runId: 'r' }))

  expect(data).toEqual({ twice: 2 })
  expect(made).toHaveLength(1)
  expect((await kit.runtime.actor('desk', 'r').snapshot()).seq).toBe(4)
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-096] data that is more than JSON comes as it is', async () => {
  const output = z.object({ n: z.number() }).transform(({ n }) => ({ at: new Date(n) }))
  const desk = supervisor({
    name: 'desk',
    state: {},
    intents: { a: () => ({ n: 1 }) },
    route: () => 'a' as const,
    evaluate: () => ({ satisfied: true }),
    output,
  })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.execute(undefined, { runId: 'r' }))).toMatchObject({ data: { at: new Date(1) } })
})

test('[WL-085, WL-087, WL-090] what cannot be a supervisor is said where it is written', () => {
  const a = () => undefined
  const route = () => END
  const written = (definition: object) => () => supervisor({ name: 'desk', intents: { a }, route: undefined as never, ...definition })
  const bad: [object, string][] = [
    [{ route, name: 'No' }, 'SUPERVISOR_CONFIG'],
    [{ route, intents: {} }, 'SUPERVISOR_CONFIG'],
    [{}, 'SUPERVISOR_CONFIG'],
    [{ route, router: writer }, 'SUPERVISOR_CONFIG'],
    [{ router: {} }, 'SUPERVISOR_CONFIG'],
    [{ route, initialAgent: 'b' }, 'SUPERVISOR_CONFIG'],
    [{ route, maxIterations: 0 }, 'SUPERVISOR_CONFIG'],
    [{ route, maxFanOut: 1.5 }, 'SUPERVISOR_CONFIG'],
    [{ route, maxFanOut: 0 }, 'SUPERVISOR_CONFIG'],
    [{ route, intents: { __end__: a } }, 'SUPERVISOR_CONFIG'],
    [{ route, intents: { a: {} } }, 'SUPERVISOR_CONFIG'],
    [{ route, intents: { a: { agent: writer, run: a } } }, 'SUPERVISOR_INTENT_MIXED_DISPATCH'],
    [{ router: agent({ name: 'talker', model: 'test/talker' }) }, 'SUPERVISOR_CONFIG'],
    [{ router: router({ intents: ['a'] }) }, 'SUPERVISOR_INTENT_DESCRIPTION_REQUIRED'],
  ]
  for (const [definition, code] of bad)
    expect(written(definition), JSON.stringify(definition)).toThrow(expect.objectContaining({ code, hint: expect.any(String) }))
})

test('the name of an intent that is not there is a compile error', () => {
  const intents = { a: () => undefined, b: () => undefined }
  supervisor({ name: 'desk', intents, route: () => 'a' })
  // @ts-expect-error no intent has this name
  supervisor({ name: 'desk', intents, route: () => 'c' })
  // @ts-expect-error no intent has this name
  supervisor({ name: 'desk', intents, route: () => 'a', initialAgent: undefined as unknown as 'c' })
  // @ts-expect-error no intent has this name
  supervisor({ name: 'desk', intents, route: () => 'a', evaluate: () => ({ reassignTo: 'c' }) })
})

test('an iteration costs more with each intent there is, and no power of them', () => {
  const prepare = (count: number) => {
    const intents = Object.fromEntries(Array.from({ length: count }, (_, index) => [`i${index}`, () => undefined]))
    const { machine } = supervisor({ name: 'desk', state: {}, intents, initialAgent: 'i0', route: () => END })
    const [ready] = initialTransition(machine, { runId: 'r', input: 'x', state: {} })
    return () => {
      const [dispatching] = transition(machine, ready, { type: 'execute' })
      expect(dispatching.value).toMatchObject({ working: { dispatching: { i0: 'running', i1: 'resting' } } })
    }
  }

  expect(growth(100, prepare)).toBeLessThan(growthMax)
})
