/** Who stands beside the intents of a supervisor: who classifies, who acknowledges; intents that stream, several of the same, and teams. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, classifier, END, fanOut, type LadderEvent, ladder, router, supervisor, team, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
const words = (events: LadderEvent[]) =>
  events.flatMap(({ type, agent: name }) =>
    type.startsWith('supervisor.') ? [`${type.slice(11)}${typeof name === 'string' ? ` ${name}` : ''}`] : [],
  )
const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })

const aDesk = (more: object = {}) => {
  const told: string[] = []
  const sort = classifier({ intents: ['billing', 'other', 'nobody'], model: 'test/sort' })
  const desk = supervisor({
    name: 'desk',
    state: { sure: 1, said: '' },
    intents: {
      billing: { run: () => ({ said: 'billing' }), description: 'About invoices.' },
      other: { run: () => ({ said: 'other' }), description: 'All else.' },
    },
    classifier: {
      agent: sort,
      refine: (_: unknown, { confidence = 0 }: { confidence?: number }) =>
        confidence < 0.6 ? { intent: 'other' as const, state: { sure: confidence } } : undefined,
    },
    ...more,
  })
  const models = (intent: string, confidence: number) => ({
    'test/sort': (request: ModelRequest) => (told.push(last(request)), { text: JSON.stringify({ intent, confidence, reasoning: 'so' }), usage }),
  })
  return { desk, models, told }
}

test('[WL-089, WL-096] a classifier says who works, and by itself it is over after that; who is unsure is refined', async () => {
  const { desk, models, told } = aDesk()
  for (const [confidence, intent, state] of [
    [0.9, 'billing', { sure: 1, said: 'billing' }],
    [0.5, 'other', { sure: 0.5, said: 'other' }],
  ] as const) {
    await using kit = await aLadderOf(models('billing', confidence), desk)
    const events: LadderEvent[] = []
    const { data, report } = await kit.clock.until(desk.execute('my invoice', { runId: 'r', on: { '*': (event) => void events.push(event) } }))
    expect(data).toEqual(state)
    expect(report).toMatchObject({
      terminatedBy: 'classifier',
      usage: { total: 10 },
      iterations: [{ decision: { source: 'classifier', next: [intent], confidence, reasoning: 'so', raw: intent } }],
      children: [{ type: 'agent', name: 'classifier' }, { type: 'callback' }],
    })
    const begin = ['starting', 'iteration.starting', 'classifier.starting', 'classifier.completed', 'router.decided', `agent.starting ${intent}`]
    expect(words(events).slice(0, 6)).toEqual(begin)
    expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
  }
  expect(told[0]).toContain('- billing: About invoices.')
  expect(told[0]).toContain('Input: my invoice')
  expect(told[0]).not.toContain(END)
})

test('[WL-089, WL-094] with a route the first iteration is classified, and the next ones are chosen; a classifier that is code may end it at once', async () => {
  const asked: number[] = []
  const route = ({ iteration }: { iteration: number }) => (asked.push(iteration), iteration === 1 ? 'billing' : END)
  const { desk } = aDesk({ route, classifier: () => ({ intent: 'other' }) })
  const over = supervisor({ name: 'over', intents: { a: () => undefined }, classifier: { run: () => ({ intent: 'a' }), refine: () => END } })
  await using kit = await aLadder(desk, over)
  expect((await kit.clock.until(desk.execute('x'))).report).toMatchObject({
    terminatedBy: 'route',
    iterations: [{ decision: { source: 'classifier', next: ['other'] } }, { decision: { source: 'route', next: ['billing'] } }],
  })
  expect(asked).toEqual([1, 2])
  expect((await kit.clock.until(over.execute('x'))).report).toMatchObject({ terminatedBy: 'classifier', iterations: [], status: 'completed' })
})

test('[WL-089] somebody who is not there, and a classifier that fails, end the run before anybody works', async () => {
  const { desk, models } = aDesk()
  const broken = supervisor({ name: 'broken', intents: { a: () => undefined }, classifier: () => Promise.reject(new Error('no idea')) })
  await using kit = await aLadderOf(models('nobody', 1), desk, broken)
  const events: LadderEvent[] = []
  expect(await kit.clock.until(desk.execute('x'))).toMatchObject({
    error: { code: 'SUPERVISOR_INVALID_ROUTE', context: { availableKeys: ['billing', 'other'], source: 'classifier' } },
    report: { terminatedBy: 'error', iterations: [] },
  })
  const { desk: strict, models: others } = aDesk()
  await using other = await aLadderOf(others('nowhere', 1), strict)
  expect(await other.clock.until(strict.execute('x'))).toMatchObject({
    error: { code: 'SUPERVISOR_INVALID_ROUTE', context: { availableKeys: ['billing', 'other'], source: 'classifier' } },
    report: { terminatedBy: 'error', iterations: [] },
  })
  expect(await kit.clock.until(broken.execute('x', { on: { '*': (event) => void events.push(event) } }))).toMatchObject({
    error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no idea') },
  })
  expect(words(events)).toEqual(['starting', 'iteration.starting', 'classifier.starting', 'classifier.failed', 'error'])
})

test('[WL-097] an acknowledgement is at work while it is chosen, and what it adds is there before branches add theirs', async () => {
  const chosen = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    state: { word: '', by: '' },
    intents: { a: { agent: writer, output: z.string().transform((text) => ({ by: text })) } },
    ack: async ({ history }) => (seen.push(history), chosen.resolve(), { word: 'One moment.', by: 'ack' }),
    route: async ({ iteration }) => {
      await chosen.promise
      return iteration === 0 ? 'a' : END
    },
  })
  const events: LadderEvent[] = []
  await using kit = await aLadderOf({ 'test/writer': () => ({ text: 'branch', usage }) }, desk)
  const { data, report } = await kit.clock.until(
    desk.execute('x', { history: [{ role: 'user', content: 'hello' }], on: { '*': (event) => void events.push(event) } }),
  )
  expect(data).toEqual({ word: 'One moment.', by: 'branch' })
  expect(report.ack).toEqual({ status: 'completed' })
  expect(seen).toEqual([[]])
  expect(words(events)).toContain('ack.starting')
  expect(words(events).indexOf('ack.completed')).toBeLessThan(words(events).indexOf('iteration.completed'))
})

test('[WL-097, WL-104] an acknowledgement is told of what was said before where its author says how much', async () => {
  const seen: unknown[] = []
  const desk = supervisor({
    name: 'desk',
    intents: { a: () => undefined },
    historyWindow: { ack: 1 },
    ack: ({ history }) => void seen.push(history),
    route: () => END,
  })
  await using kit = await aLadder(desk)
  const said = ['first', 'last'].map((content) => ({ role: 'user' as const, content }))
  await kit.clock.until(desk.execute('x', { history: said }))
  expect(seen).toEqual([[said[1]]])
})

test('[WL-097] one that is slow is left behind, and one that fails fails nothing', async () => {
  const made = (name: string, ack: () => Promise<never>) =>
    supervisor({
      name,
      state: { n: 0 },
      intents: { a: ({ state }) => ({ n: state.n + 1 }) },
      ack,
      route: ({ iteration }) => (iteration < 2 ? 'a' : END),
    })
  const slow = made('slow', () => new Promise<never>(() => undefined))
  const failing = made('failing', () => Promise.reject(new Error('no voice')))
  const events: LadderEvent[] = []
  await using kit = await aLadder(slow, failing)
  const { data, report } = await kit.clock.until(slow.execute('x', { runId: 'r', on: { '*': (event) => void events.push(event) } }))
  expect(data).toEqual({ n: 2 })
  expect(report).toMatchObject({ status: 'completed', ack: { status: 'failed', error: { message: expect.stringContaining('not ready') } } })
  expect(words(events).filter((word) => word.startsWith('ack'))).toEqual(['ack.starting', 'ack.dropped'])
  expect(await kit.runtime.replay({ kind: 'slow', id: 'r' })).toMatchObject({ verdict: 'identical' })
  events.length = 0
  expect(await kit.clock.until(failing.execute('x', { on: { '*': (event) => void events.push(event) } }))).toMatchObject({
    data: { n: 2 },
    report: { status: 'completed', ack: { status: 'failed', error: { message: expect.stringContaining('no voice') } } },
  })
  expect(words(events).filter((word) => word.startsWith('ack'))).toEqual(['ack.starting', 'ack.failed'])
})

test('[WL-097] an agent may acknowledge: what its schema makes of that is in the state, and it is not said again where the run is gone on with', async () => {
  let fails = true
  const paid: string[] = []
  const said = Promise.withResolvers<void>()
  const acker = agent({ name: 'acker', model: 'test/acker' })
  const desk = supervisor({
    name: 'desk',
    state: { word: '' },
    intents: { a: () => undefined },
    ack: { agent: acker, output: z.string().transform((word) => ({ word })) },
    route: async ({ iteration }) => {
      await said.promise
      if (fails) throw new Error('not yet')
      return iteration === 0 ? 'a' : END
    },
  })
  await using kit = await aLadderOf({ 'test/acker': (request: ModelRequest) => (paid.push(last(request)), { text: 'Soon.', usage }) }, desk)
  const on = { 'supervisor.ack.completed': () => said.resolve() }
  expect((await kit.clock.until(desk.execute('x', { runId: 'r', on }))).error).toMatchObject({ code: 'SUPERVISOR_FAILED' })
  fails = false
  const { data, report } = await kit.clock.until(desk.resume('r'))
  expect(data).toEqual({ word: 'Soon.' })
  expect(report).toMatchObject({ status: 'completed', ack: { status: 'completed' }, usage: { total: 10 } })
  expect(paid).toEqual(['x'])
})

test('[WL-089, WL-097] killed at any commit, who classifies and who acknowledges are asked once for each answer that is written down', async () => {
  const made = () => {
    const paid: string[] = []
    const { desk } = aDesk({ ack: { agent: agent({ name: 'acker', model: 'test/acker' }), output: z.string().transform((said) => ({ said })) } })
    const models = {
      'test/sort': () => (paid.push('sort'), { text: '{"intent":"billing","confidence":1}', usage }),
      'test/acker': () => (paid.push('ack'), { text: 'Soon.', usage }),
    }
    return { desk, models, paid }
  }
  const { desk, models } = made()
  await using kit = await aLadderOf(models, desk)
  const whole = await kit.clock.until(desk.execute('x', { runId: 'r' }))
  expect(whole).toMatchObject({ data: { said: 'billing' }, report: { terminatedBy: 'classifier' } })
  const { seq } = await kit.runtime.actor('desk', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const other = made()
    await using doomed = await aLadderOf(other.models, other.desk)
    const result = await killedAt(doomed, () => other.desk.execute('x', { runId: 'r' }), commit)
    expect(result?.data, `killed at commit ${commit}`).toEqual(whole.data)
    expect(result?.report, `killed at commit ${commit}`).toMatchObject({ terminatedBy: 'classifier', status: 'completed' })
    expect(other.paid.length, `killed at commit ${commit}: ${other.paid.join()}`).toBeLessThanOrEqual(4)
    expect(await doomed.runtime.replay({ kind: 'desk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-098, WL-103] an intent that streams puts its prose into the state, and its deltas are heard under its name', async () => {
  const desk = supervisor({
    name: 'desk',
    state: { text: '' },
    intents: { write: { agent: writer, mode: 'stream', streamTo: 'text' }, plain: writer },
    route: ({ iteration }) => (['write', 'plain', END] as const)[iteration] ?? END,
  })
  await using kit = await aLadderOf({ 'test/writer': () => ({ chunks: ['Once ', 'upon ', 'a time.'], usage }) }, desk)
  const deltas: LadderEvent[] = []
  const { data } = await kit.clock.until(desk.execute('x', { runId: 'r', on: { 'supervisor.agent.streaming': (event) => void deltas.push(event) } }))
  expect(data).toEqual({ text: 'Once upon a time.' })
  expect(deltas.map(({ delta }) => delta).join('')).toBe('Once upon a time.')
  expect(deltas[0]).toMatchObject({ agent: 'write', runId: 'r', rootRunId: 'r' })
})

test('[WL-098] what agents say that run as tools of one that streams is not its prose: nobody hears it as that, and it is not in the state', async () => {
  const scout = agent({ name: 'scout', description: 'Looks.', model: 'test/scout' })
  const author = agent({ name: 'author', model: 'test/author', tools: [scout] })
  const desk = supervisor({
    name: 'desk',
    state: { text: '' },
    intents: { write: { agent: author, mode: 'stream', streamTo: 'text' } },
    route: ({ iteration }) => (iteration === 0 ? 'write' : END),
  })
  const script = [
    { calls: [{ name: 'scout', input: { text: 'bees' } }], usage },
    { chunks: ['Bees ', 'dance.'], usage },
  ]
  await using kit = await aLadderOf({ 'test/author': script, 'test/scout': () => ({ text: 'secret notes', usage }) }, desk)
  const deltas: unknown[] = []
  const { data } = await kit.clock.until(desk.execute('x', { on: { 'supervisor.agent.streaming': ({ delta }) => void deltas.push(delta) } }))
  expect(data).toEqual({ text: 'Bees dance.' })
  expect(deltas.join('')).toBe('Bees dance.')
})

test('[WL-098] what cannot stream is said where it is written', () => {
  const flow = workflow({ name: 'flow', steps: [{ name: 'a', run: () => 'x' }] })
  const made = (intent: object) => () => supervisor({ name: 'desk', intents: { a: intent as never }, route: () => END })
  for (const intent of [
    { agent: writer, mode: 'stream' },
    { agent: writer, streamTo: 'text' },
    { agent: flow, mode: 'stream', streamTo: 'text' },
    { run: () => undefined, mode: 'stream', streamTo: 'text' },
    { agent: writer, mode: 'stream', streamTo: 'text', output: z.object({}) },
  ])
    expect(made(intent), JSON.stringify(intent)).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG', hint: expect.any(String) }))
  const state: { text?: string } = {}
  // @ts-expect-error the state has no such key
  supervisor({ name: 'desk', state, intents: { a: { agent: writer, mode: 'stream', streamTo: 'texts' } }, route: () => END })
})

test('[WL-089, WL-097] classifiers and acknowledgements of no sense are said where they are written', () => {
  const made = (more: object) => () => supervisor({ name: 'desk', intents: { a: () => undefined }, ...more })
  const route = () => END
  for (const more of [
    { classifier: 5 },
    { classifier: { refine: () => undefined } },
    { classifier: () => ({ intent: 'a' }), initialAgent: 'a' },
    { route, ack: {} },
    { route, ack: { run: () => ({}), agent: writer } },
  ])
    expect(made(more), JSON.stringify(more)).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG' }))
  expect(made({ classifier: writer })).toThrow(expect.objectContaining({ code: 'SUPERVISOR_INTENT_DESCRIPTION_REQUIRED' }))
})

test('[WL-105] several of the same work at once, each under its own name', async () => {
  const search = workflow({ name: 'search', description: 'Searches.', steps: [{ name: 'a', run: ({ input }) => input }] })
  const searchers = fanOut(search, 3)
  expect(Object.keys(searchers)).toEqual(['search1', 'search2', 'search3'])
  expect(Object.keys(fanOut(() => undefined, 1, 'note'))).toEqual(['note1'])
  const desk = supervisor({ name: 'desk', intents: searchers, route: ({ iteration }) => (iteration === 0 ? Object.keys(searchers) : END) })
  await using kit = await aLadder(desk)
  const { report } = await kit.clock.until(desk.execute('x'))
  expect(report.children.map(({ runId }) => runId.split('/').at(-2))).toEqual(['search1', 'search2', 'search3'])
  for (const [unit, count] of [
    [search, 0],
    [search, 1.5],
    [() => undefined, 2],
  ] as const)
    expect(() => fanOut(unit, count)).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG' }))
})

test('[WL-105] copies that are given a name are known by their names where somebody chooses', async () => {
  const search = workflow({ name: 'search', steps: [{ name: 'a', run: ({ input }) => input }] })
  const desk = supervisor({
    name: 'desk',
    state: { isDone: false },
    intents: { ...fanOut({ agent: search, input: () => 'bees', next: 'end' }, 2, 'find'), end: () => ({ isDone: true }) },
    route: ({ iteration }) => (iteration === 0 ? ['find1', 'find2'] : END),
    evaluate: ({ state }) => ({ satisfied: state.isDone }),
  })
  // @ts-expect-error there is no third one
  supervisor({ name: 'other', intents: { ...fanOut(search, 2, 'find'), end: () => undefined }, route: () => 'find3' })
  await using kit = await aLadder(desk)

  const { report } = await kit.clock.until(desk.execute('x'))

  expect(report.iterations?.[0]).toMatchObject({ branches: { find1: { status: 'completed' }, find2: { status: 'completed' } } })
})

test('[WL-105] a team with a gate of quality: reviewer, fixer, reviewer, and the end on approval', async () => {
  type State = { tries: number; approved?: boolean; notes?: string; fixes: string[] }
  const state: State = { tries: 0, fixes: [] }
  const crew = team({
    name: 'crew',
    state,
    // It is asked once: the gate says what follows.
    manager: ({ iteration }) => (iteration === 0 ? 'reviewer' : END),
    members: {
      reviewer: ({ state: { tries } }) => ({ tries: tries + 1, approved: tries > 0, notes: `not yet ${tries}` }),
      fixer: ({ state: { fixes }, feedback }) => ({ fixes: [...fixes, String(feedback)] }),
    },
    gate: 'quality',
  })
  await using kit = await aLadder(crew)
  const { data, report } = await kit.clock.until(crew.execute('x', { runId: 'r' }))
  expect(data).toMatchObject({ approved: true, fixes: ['not yet 0'] })
  expect(report).toMatchObject({ type: 'team', name: 'crew', terminatedBy: 'evaluate' })
  expect(report.iterations?.map((one) => (one as { decision: { next: string[] } }).decision.next)).toEqual([['reviewer'], ['fixer'], ['reviewer']])
  expect(await kit.runtime.replay({ kind: 'crew', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-105] a model may be the manager of a team', async () => {
  const member = { run: () => ({ approved: true }), description: 'Looks.' }
  const crew = team({
    name: 'crew',
    manager: router({ intents: ['reviewer', 'fixer'], model: 'test/manager' }),
    members: { reviewer: member, fixer: { ...member, description: 'Mends.' } },
    gate: 'quality',
  })
  await using kit = await aLadderOf({ 'test/manager': [{ text: '{"next":"reviewer"}', usage }] }, crew)
  expect((await kit.clock.until(crew.execute('x'))).report).toMatchObject({
    type: 'team',
    terminatedBy: 'evaluate',
    iterations: [{ decision: { source: 'router', next: ['reviewer'] } }],
  })
})

test('[WL-105] gates of proof and of code; a role that is missing is said where it is written', async () => {
  let passed = false
  const told: unknown[] = []
  const proof = team({
    name: 'proof',
    state: {},
    manager: ({ iteration, feedback }) => (told.push(feedback), iteration % 2 === 0 ? 'writer' : 'verifier'),
    members: { writer: () => undefined, verifier: () => ({ passed, notes: passed ? '' : ((passed = true), 'wrong sum') }) },
    gate: 'verify',
  })
  const own = team({ name: 'own', manager: () => 'a', members: { a: () => undefined }, gate: ({ iteration }) => ({ satisfied: iteration === 1 }) })
  await using kit = await aLadder(proof, own)
  expect((await kit.clock.until(proof.execute('x'))).report).toMatchObject({ terminatedBy: 'evaluate', iterations: { length: 4 } })
  expect(told).toEqual([undefined, undefined, 'wrong sum', undefined])
  expect((await kit.clock.until(own.execute('x'))).report).toMatchObject({ type: 'team', iterations: { length: 2 } })
  const made = (gate: string) => () => team({ name: 'crew', manager: () => END, members: { a: () => undefined }, gate: gate as never })
  for (const gate of ['quality', 'verify', 'none']) expect(made(gate)).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG' }))
})

test.each([[{}], [[]], ['write'], [undefined], [[5]]])(
  '[WL-087] a router or a classifier that has %j to choose from is refused where it is written',
  (intents) => {
    for (const made of [router, classifier])
      expect(() => made({ intents: intents as never, model: 'test/router' })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
  },
)

test('[WL-088] routers of two supervisors on one runtime that have no names are told to have one', () => {
  const choosing = (name: string, own: { name?: string } = {}) =>
    supervisor({
      name,
      intents: { a: { run: () => ({}), description: 'A.' } },
      router: router({ intents: ['a'], model: 'test/router', ...own }),
    })
  expect(() => ladder({ executables: [choosing('one'), choosing('two')] })).toThrow(
    expect.objectContaining({ code: 'LADDER_CONFIG', message: "two agents are named 'router'", hint: expect.stringContaining('router({ name })') }),
  )
  expect(ladder({ executables: [choosing('one'), choosing('two', { name: 'other' })] }).agents).toHaveLength(2)
})
