/** Turns of a session as their callers meet them. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import {
  agent,
  type CheckpointRow,
  classifier,
  END,
  type LadderEvent,
  memoryStore,
  orchestrator,
  type Report,
  router,
  supervisor,
  workflow,
} from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'
import { aRow } from '../stores/a-row.ts'

const gathered = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const usage = { inputTokens: 7, outputTokens: 3 }
type Count = { count: number; note?: string }
const ab: { a?: number; b?: number } = {}
const xy: { x?: number; y?: number } = {}
const noCount: Count = { count: 0 }
const parted: { count: number; kept: boolean; part: typeof ab } = { count: 0, kept: true, part: { a: 1 } }
const counting = (store = memoryStore()) =>
  orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: noCount,
    intents: { add: ({ state }: { state: Count }) => ({ count: state.count + 1 }), rest: () => undefined },
    route: () => 'add' as const,
  })
const heard = (events: LadderEvent[]) => ({ '*': (event: LadderEvent) => void events.push(event) })
const own = (events: readonly LadderEvent[]) => events.flatMap(({ type }) => (type.startsWith('orchestrator.') ? [type.slice(13)] : []))

test('[WL-018, WL-019, WL-037, WL-061, WL-064] a turn goes through its phases in order, ends once, and the next one begins with its row', async () => {
  const desk = counting()
  await using kit = await aLadder(desk)
  const [first, second]: LadderEvent[][] = [[], []]
  const one = await kit.clock.until(desk.execute('hi', { sessionId: 's', history: [], requestId: 'r', on: heard(first as LadderEvent[]) }))
  const two = await kit.clock.until(desk.execute('hi', { sessionId: 's', history: [], on: heard(second as LadderEvent[]) }))

  const phases = [
    'turn.starting',
    'session.loaded',
    'drift.checked',
    'history.windowed',
    'turn.routed',
    'checkpoint.persisted',
    'turn.awaiting-input',
  ]
  for (const events of [first, second]) expect(own(events as LadderEvent[])).toEqual(phases)
  expect(one).toMatchObject({
    sessionId: 's',
    turnIndex: 0,
    data: { count: 1 },
    report: { type: 'orchestrator', status: 'awaiting-input', runId: 'r', turnIndex: 0 },
  })
  expect(two).toMatchObject({ turnIndex: 1, data: { count: 2 } })
  expectTypeOf(two.data).toEqualTypeOf<Count | undefined>()
  const told = (events: LadderEvent[] | undefined, type: string) => events?.find((event) => event.type === `orchestrator.${type}`)
  expect(told(first, 'session.loaded')).toMatchObject({ sessionId: 's', turnIndex: 0, found: false, runId: 'r', rootRunId: 'r' })
  expect(told(second, 'session.loaded')).toMatchObject({ turnIndex: 1, found: true })
  expect(told(first, 'drift.checked')).toMatchObject({ signature: desk.signature, drifted: false })
  expect(told(second, 'checkpoint.persisted')).toMatchObject({ lastRoute: 'add' })
  expect((await kit.runtime.actor('desk', 's').snapshot()).value).toBe('awaiting-input')
  expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-018, WL-035, WL-036] a turn is stored, old rows are dropped, that is told, and then it is compacted; of one that fails nothing of that is done', async () => {
  const log: string[] = []
  const store = memoryStore()
  const { save, prune = () => Promise.resolve(), lock } = store
  Object.assign(store, {
    save: (row: CheckpointRow) => (log.push('save'), save(row)),
    prune: (...of: [string, string, number]) => (log.push('prune'), prune(...of)),
    lock: (...of: [string, string, string, number]) => (log.push('lock'), lock(...of)),
  })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    keepSnapshots: 1,
    summarize: { afterTurns: 1, keep: 0, onCompact: () => void log.push('apply') },
    intents: { work: ({ input }) => (input === 'bad' ? Promise.reject(new Error('no')) : undefined) },
    route: () => 'work' as const,
    on: { '*': ({ type }: LadderEvent) => void (type.startsWith('orchestrator.') && log.push(type.slice(13))) },
  })
  await using kit = await aLadder(desk)
  for (const input of ['good', 'bad', 'good']) {
    log.splice(0)
    await kit.clock.until(desk.execute(input, { sessionId: 's', history: [{ role: 'user', content: 'hi' }] }))
    if (input === 'bad') expect(log.slice(-2)).toEqual(['turn.routed', 'turn.failed'])
  }
  const after = log.slice(log.indexOf('turn.routed') + 1)
  expect(after.filter((word) => !word.includes('.'))).toEqual(['save', 'prune', 'lock', 'apply'])
  expect(after.filter((word) => word.includes('.'))).toEqual([
    'checkpoint.persisted',
    'compaction.suggested',
    'compaction.applied',
    'turn.awaiting-input',
  ])
  expect(after.indexOf('prune')).toBeLessThan(after.indexOf('checkpoint.persisted'))
})

test('[WL-011, WL-031] each turn has a run of its own by session, version and number, and none is alive while the session waits for input', async () => {
  const desk = orchestrator({
    name: 'desk',
    version: 'v2',
    checkpointStore: memoryStore(),
    intents: { a: () => undefined },
    route: () => 'a' as const,
  })
  await using kit = await aLadder(desk)
  for (const turn of [0, 1, 2, 3]) {
    const { report } = await kit.clock.until(desk.execute(turn, { sessionId: 's', history: [] }))
    expect(report.children.map(({ type, runId }) => `${type} ${runId}`)).toEqual([`supervisor s.v2.${turn}`])
    expect(await kit.runtime.actor('desk-turn', `s.v2.${turn}`).snapshot()).toMatchObject({ status: 'done', context: { input: turn } })
  }
  expect((await kit.runtime.actor('desk', 's').snapshot()).children).toEqual({})
})

test('[WL-014] sessions that take turns by turns have each their own number and state', async () => {
  const desk = counting()
  await using kit = await aLadder(desk)
  const seen: unknown[] = []
  for (const sessionId of ['a', 'b/ü *', 'a', 'a', 'b/ü *']) {
    const { turnIndex, data } = await kit.clock.until(desk.execute('', { sessionId, history: [] }))
    seen.push([sessionId, turnIndex, data?.count])
  }
  expect(seen).toEqual([
    ['a', 0, 1],
    ['b/ü *', 0, 1],
    ['a', 1, 2],
    ['a', 2, 3],
    ['b/ü *', 1, 2],
  ])
  expect((await desk.sessions()).toSorted()).toEqual(['a', 'b/ü *'])
  expect(await desk.sessions('b/')).toEqual(['b/ü *'])
})

test('[WL-017, WL-019] a session begins with a copy of the state of its definition, or with an empty one, and what code does to it there changes nothing', async () => {
  const state = { list: ['a'], kept: { n: 1 } }
  const seen: unknown[] = []
  const made = (name: string, more: object) =>
    orchestrator({
      name,
      checkpointStore: memoryStore(),
      intents: {
        write: ({ state: found }: { state: { list?: string[] } }) => {
          seen.push(structuredClone(found))
          found.list?.push('b')
          if (found.list?.length === 3) throw new Error('full')
        },
      },
      route: () => 'write' as const,
      ...more,
    })
  const [desk, bare] = [made('desk', { state }), made('bare', {})]
  await using kit = await aLadder(desk, bare)
  for (const [one, sessionId] of [
    [desk, 's'],
    [desk, 's'],
    [desk, 't'],
    [bare, 's'],
  ] as const)
    await kit.clock.until(one.execute('', { sessionId, history: [] }))
  const whole = { list: ['a'], kept: { n: 1 } }
  expect(seen).toEqual([whole, whole, whole, {}])
  expect(state).toEqual(whole)
})

test('[WL-016, WL-041] what a call adds to the state is there before the work; its context is frozen and in no row', async () => {
  const store = memoryStore()
  const contexts: unknown[] = []
  const caller = { user: 'u-77' }
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: parted,
    intents: {
      add: ({ state, context }) => {
        caller.user = 'somebody else'
        contexts.push([{ ...context }, Object.isFrozen(context)])
        return { count: (state as { count: number }).count + 1 }
      },
    },
    route: ({ context }) => (context.user === 'u-77' ? 'add' : END),
  })
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [], state: { count: 41, part: { b: 2 } }, context: caller }))
  expect(contexts).toEqual([[{ user: 'u-77' }, true]])
  const rows = await store.rows('desk', 's')
  expect(rows).toEqual([
    {
      orchestrator_name: 'desk',
      session_id: 's',
      turn_index: 0,
      // What is added takes the place of what was there by that name.
      state: { count: 42, kept: true, part: { b: 2 } },
      last_route: 'add',
      signature: desk.signature,
      version: null,
      summarized_through: null,
      lock_acquired_at: null,
      lock_expires_at: null,
      saved_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    },
  ])
  const journals = JSON.stringify([
    await gathered(kit.runtime.trace({ kind: 'desk', id: 's' })),
    await gathered(kit.runtime.trace({ kind: 'desk-turn', id: 's.unversioned.0' })),
  ])
  expect(journals).toContain('"count":42')
  expect(journals).not.toContain('u-77')
  // @ts-expect-error of another type than the state
  void (() => desk.execute('', { sessionId: 's', history: [], state: { count: 'many' } }))
})

test('[WL-017, WL-031, WL-036] a turn that fails leaves nothing behind: no row, the state as it was, and the next turn has its number', async () => {
  const store = memoryStore()
  let isBroken = false
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: { list: ['a'] },
    intents: {
      write: ({ state }: { state: { list: string[] } }) => {
        state.list.push('b')
        if (isBroken) throw new Error('no ink')
        return { list: state.list }
      },
    },
    route: () => 'write' as const,
  })
  await using kit = await aLadder(desk)
  const execute = () => kit.clock.until(desk.execute('', { sessionId: 's', history: [], on: heard(events) }))
  const events: LadderEvent[] = []
  await execute()
  isBroken = true
  events.length = 0
  const failed = await execute()
  expect(failed).toMatchObject({
    turnIndex: 1,
    error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no ink'), hint: expect.stringContaining('execute it again') },
    report: { status: 'failed' },
  })
  expect(failed.data).toBeUndefined()
  expect(own(events).filter((type) => type.startsWith('turn.'))).toEqual(['turn.starting', 'turn.routed', 'turn.failed'])
  expect(await store.rows('desk', 's')).toHaveLength(1)
  await execute()
  isBroken = false
  const after = await execute()
  expect(after).toMatchObject({ turnIndex: 1, data: { list: ['a', 'b', 'b'] } })
  // The names of the runs that came to nothing are taken.
  expect(after.report.children[0]?.runId).toBe('s.unversioned.1~3')
})

test('[WL-029] without iterating a turn is one decision and one dispatch, and clean without an END; all at once, or nobody, count as one', async () => {
  const asked: number[] = []
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { classify: () => ({ kind: 'bill' }), weigh: () => ({ weight: 3 }), fail: () => Promise.reject(new Error('no')) },
    route: ({ iteration, input }) => {
      asked.push(iteration)
      return input as never
    },
  })
  await using kit = await aLadder(desk)
  const execute = (input: unknown) => kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))
  expect(await execute('classify')).toMatchObject({
    data: { kind: 'bill' },
    report: { status: 'awaiting-input', children: [{ terminatedBy: 'route' }] },
  })
  expect(await execute(['classify', 'weigh'])).toMatchObject({ turnIndex: 1, data: { kind: 'bill', weight: 3 } })
  // One of two that failed is for the author to look at.
  expect(await execute(['fail', 'weigh'])).toMatchObject({ turnIndex: 2, data: { weight: 3 } })
  expect(await execute(END)).toMatchObject({ turnIndex: 3, data: { weight: 3 }, report: { status: 'awaiting-input' } })
  expect(asked).toEqual([0, 0, 0, 0])
  expect(await execute('nobody')).toMatchObject({
    error: { code: 'SUPERVISOR_INVALID_ROUTE', context: { availableKeys: ['classify', 'weigh', 'fail'] } },
  })
})

test('[WL-030, WL-032, WL-035, WL-064] a turn that iterates stores one row with what all iterations wrote; too many of them are a failure', async () => {
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    iterate: true,
    maxIterations: 4,
    checkpointStore: store,
    state: ab,
    intents: { a: () => ({ a: 1 }), b: () => ({ b: 2 }) },
    route: ({ iteration, input }) => (input === 'on' ? 'a' : ((['a', ['a', 'b'], 'b'] as const)[iteration] ?? END)),
  })
  const usual = orchestrator({ name: 'usual', iterate: true, checkpointStore: store, intents: { a: () => undefined }, route: () => 'a' as const })
  await using kit = await aLadder(desk, usual)
  const events: LadderEvent[] = []
  const { report } = await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  expect(report.children[0]).toMatchObject({ status: 'completed', iterations: [{}, {}, {}] })
  const rows = await store.rows('desk', 's')
  expect(rows).toMatchObject([{ state: { a: 1, b: 2 }, last_route: 'b' }])
  const worn = await kit.clock.until(desk.execute('on', { sessionId: 's', history: [], on: heard(events) }))
  expect(worn.report.children[0]?.iterations).toHaveLength(4)
  expect(worn).toMatchObject({ error: { code: 'SUPERVISOR_MAX_ITERATIONS' }, report: { status: 'max-iterations' } })
  expect(own(events).at(-1)).toBe('turn.failed')
  expect(await store.rows('desk', 's')).toEqual(rows)
  const most = await kit.clock.until(usual.execute('', { sessionId: 's', history: [] }))
  expect(most.report.children[0]?.iterations).toHaveLength(10)
})

test('[WL-035] rows of earlier turns stay as they are: a fan-out is a list, nobody is null', async () => {
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: xy,
    intents: { x: () => ({ x: 1 }), y: () => ({ y: 1 }) },
    route: ({ input }) => input as never,
  })
  await using kit = await aLadder(desk)
  const before: unknown[] = []
  for (const route of ['x', ['x', 'y'], END]) {
    await kit.clock.until(desk.execute(route, { sessionId: 's', history: [] }))
    const rows = await store.rows('desk', 's')
    expect(rows.slice(0, -1)).toEqual(before)
    before.push(rows.at(-1))
  }
  expect((await store.rows('desk', 's')).map(({ last_route }) => last_route)).toEqual(['x', ['x', 'y'], null])
})

test('[WL-032] where nobody worked the state is the checked data, and what the turn began with where there is none; it is replaced, not added to', async () => {
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    state: { n: 0, more: true },
    output: z.object({ n: z.number() }).transform(({ n }) => (n > 5 ? undefined : { n })),
    intents: { add: ({ state }) => ({ n: state.n + 1 }) },
    route: ({ input }) => (input === 'add' ? 'add' : END),
  })
  await using kit = await aLadder(desk)
  const stored = async (input: string, state: object = {}) => {
    await kit.clock.until(desk.execute(input, { sessionId: 's', history: [], state }))
    return (await store.load('desk', 's'))?.state
  }
  expect(await stored('add')).toEqual({ n: 1, more: true })
  expect(await stored('')).toEqual({ n: 1 })
  expect(await stored('', { n: 9 })).toEqual({ n: 9 })
})

test('[WL-038] data is what the output says; what does not fit it is not stored', async () => {
  const store = memoryStore()
  const output = z.object({ title: z.string() })
  const desk = orchestrator({
    name: 'desk',
    version: '7',
    input: z.string().min(1),
    checkpointStore: store,
    output,
    intents: { write: ({ input }) => (input === 'bad' ? { title: 5 } : { title: String(input), more: true }) },
    route: () => 'write' as const,
  })
  await using kit = await aLadder(desk)
  const good = await kit.clock.until(desk.execute('Bees', { sessionId: 's', history: [] }))
  expectTypeOf(good.data).toEqualTypeOf<{ title: string } | undefined>()
  expect(good).toMatchObject({ data: { title: 'Bees' }, usage: { total: 0 }, report: { signature: desk.signature, version: '7', turnIndex: 0 } })
  expect(good.data).not.toHaveProperty('more')
  expect(await store.rows('desk', 's')).toMatchObject([{ state: { title: 'Bees', more: true }, version: '7' }])
  for (const [input, turnIndex] of [
    ['bad', 1],
    // Refused before its session has heard of it.
    ['', 0],
  ] as const)
    expect(await kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))).toMatchObject({
      turnIndex,
      error: { code: 'SCHEMA_VALIDATION_FAILED' },
      report: { status: 'failed', turnIndex },
    })
  expect(await store.rows('desk', 's')).toHaveLength(1)
})

test('[WL-039, WL-046] the report lists this turn and those before it that are kept; only this one has children', async () => {
  const store = memoryStore()
  const desk = () =>
    orchestrator({
      name: 'desk',
      keepSnapshots: 3,
      checkpointStore: store,
      intents: { echo: ({ input }) => ({ said: input }) },
      route: () => 'echo' as const,
      evaluate: () => ({ feedback: 'fine' }),
    })
  const first = desk()
  await using kit = await aLadder(first)
  for (const input of ['a', 'b', 'c', 'd']) await kit.clock.until(first.execute(input, { sessionId: 's', history: [] }))
  expect((await store.rows('desk', 's')).map(({ turn_index }) => turn_index)).toEqual([1, 2, 3])
  // Another process knows none of them yet.
  const second = desk()
  const { ladder } = await import('../../../src/ladder/index.ts')
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  const { report } = await kit.clock.until(second.execute('e', { sessionId: 's', history: [] }))
  expect(report.turns).toMatchObject([
    {
      turn: 2,
      input: 'c',
      decision: { source: 'route', raw: 'echo' },
      result: { echo: { status: 'completed', output: { said: 'c' } } },
      state: { said: 'c' },
    },
    { turn: 3, input: 'd', evaluate: { feedback: 'fine' }, usage: { total: 0 }, childReport: { type: 'supervisor' } },
    { turn: 4, input: 'e', turnRunId: 's.unversioned.4' },
  ])
  expect(report.children.map(({ runId }) => runId)).toEqual(['s.unversioned.4'])
})

test.each([
  ['the newest 100 where nothing is said', {}, 100],
  ["all with 'all'", { keepSnapshots: 'all' }, 101],
] as const)('[WL-046] of the rows of a session are kept: %s', async (_, more, count) => {
  const store = memoryStore()
  const desk = orchestrator({ name: 'desk', checkpointStore: store, intents: { a: () => undefined }, route: () => 'a' as const, ...more })
  for (let turn_index = 0; turn_index < 100; turn_index++) await store.save(aRow('desk', { turn_index, signature: desk.signature }))
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  const rows = await store.rows('desk', 's')
  expect(rows).toHaveLength(count)
  expect(rows.at(-1)?.turn_index).toBe(100)
})

test('[WL-005, WL-033, WL-034, WL-038, WL-039, WL-062, WL-063] where it was routed is told before the work, deltas piece by piece, and what works within is heard under its own name', async () => {
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  const flow = workflow({ name: 'flow', description: 'Flows.', steps: [{ name: 'one', run: () => ({ flown: true }) }] })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { write: { agent: writer, output: z.string().transform((text) => ({ text })) }, flow },
    router: router({ intents: ['write', 'flow'], model: 'test/router' }),
  })
  await using kit = await aLadderOf(
    {
      'test/writer': [{ chunks: ['a', 'b', 'c'], usage }],
      'test/router': [{ text: '{"next":["write","flow"],"reasoning":"both"}', usage }],
    },
    desk,
  )
  const events: LadderEvent[] = []
  const streamed = desk.stream('x', { sessionId: 's', history: [], requestId: 'r' })
  const reading = (async () => {
    for await (const event of streamed) events.push(event)
  })()
  const { report, data, usage: used } = await kit.clock.until(streamed.result)
  await kit.clock.until(reading)
  expect(data).toEqual({ text: 'abc' })
  const types = events.map(({ type }) => type)
  expect(events.find(({ type }) => type === 'orchestrator.turn.routed')).toMatchObject({
    sessionId: 's',
    turnIndex: 0,
    source: 'router',
    raw: ['write', 'flow'],
    reasoning: 'both',
    runId: 'r',
  })
  const work = events.findIndex(({ type, runId }) => type.startsWith('agent.') && runId.startsWith('s.unversioned.0/write'))
  expect(types.indexOf('orchestrator.turn.routed')).toBeLessThan(work)
  expect(events.flatMap(({ type, delta }) => (type === 'orchestrator.turn.streaming' ? [delta] : []))).toEqual(['a', 'b', 'c'])
  expect(events.find(({ type }) => type === 'workflow.completed')).toMatchObject({ runId: 's.unversioned.0/flow/1', rootRunId: 'r' })
  expect(events.filter(({ rootRunId, runId }) => rootRunId !== 'r' || typeof runId !== 'string')).toEqual([])
  expect(types.indexOf('supervisor.completed')).toBeLessThan(types.indexOf('orchestrator.checkpoint.persisted'))
  expect(types.at(-1)).toBe('orchestrator.turn.awaiting-input')

  type Node = { usage: { total: number }; rootRunId: string; sessionId?: string; trips?: number; type: string; children: Node[] }
  const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)]
  expect(all(report).map(({ type }) => type)).toEqual(['orchestrator', 'supervisor', 'agent', 'agent', 'workflow', 'step'])
  for (const node of all(report)) {
    expect(node).toMatchObject({ rootRunId: 'r', sessionId: 's' })
    expect(node.usage.total).toBe((node.type === 'agent' ? 10 : 0) + node.children.reduce((sum, child) => sum + child.usage.total, 0))
  }
  expect(used.total).toBe(20)
  const [turn] = report.turns
  expect(turn).toMatchObject({
    input: 'x',
    decision: { source: 'router', raw: ['write', 'flow'], reasoning: 'both' },
    result: { write: { output: 'abc' }, flow: { output: { flown: true } } },
    usage: { total: 20 },
    childReport: { runId: 's.unversioned.0', startedAt: turn?.startedAt, endedAt: turn?.endedAt },
  })
  expect(turn?.startedAt).toBeGreaterThan(0)
})

test('[WL-008] what an intent of a session calls stands below it in the tree of the turn, belongs to the session, and counts once', async () => {
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: () => 'bees' })
  const writer = agent({ name: 'writer', model: 'test/writer', tools: [look] })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { write: async () => void (await writer.execute('on bees')) },
    route: () => 'write' as const,
  })
  const script = [
    { calls: [{ name: 'look' }], usage },
    { text: 'written', usage },
  ]
  await using kit = await aLadderOf({ 'test/writer': script }, desk, writer)
  const { report } = await kit.clock.until(desk.execute('', { sessionId: 's', history: [], requestId: 'r' }))
  const all = (node: Report): Report[] => [node, ...node.children.flatMap(all)]
  expect(all(report).map(({ type, usage: { total } }) => `${type} ${total}`)).toEqual([
    'orchestrator 20',
    'supervisor 20',
    'callback 20',
    'agent 20',
    'tool 0',
  ])
  for (const node of all(report)) expect(node).toMatchObject({ sessionId: 's', rootRunId: 'r' })
})

test('[WL-033, WL-034] who classifies, acknowledges, evaluates or routes within is not what is dispatched: its text is no text of the turn', async () => {
  const said = agent({ name: 'said', description: 'Says.', model: 'test/said', output: z.object({ word: z.string() }) })
  const judge = agent({ name: 'judge', model: 'test/judge' })
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  const inner = supervisor({
    name: 'inner',
    description: 'Writes.',
    intents: { write: { agent: writer, output: z.string().transform((text) => ({ text })), next: END } },
    router: router({ intents: ['write'], model: 'test/router' }),
  })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    state: { word: '', text: '' },
    intents: { inner: { agent: inner, description: 'Inner.', output: z.object({ text: z.string() }) } },
    classifier: classifier({ intents: ['inner'], model: 'test/sort' }),
    ack: { agent: said, output: z.object({ word: z.string() }) },
    evaluate: async ({ run }) => void (await run(judge, 'good?')),
  })
  await using kit = await aLadderOf(
    {
      'test/sort': [{ text: '{"intent":"inner","confidence":1}' }],
      'test/said': [{ text: '{"word":"One moment."}' }],
      'test/router': [{ text: '{"next":"write"}' }],
      'test/writer': [{ reasoning: 'Hm.', chunks: ['a', 'b', 'c'], usage }],
      'test/judge': [{ text: 'Good.' }],
    },
    desk,
    judge,
  )
  const events: LadderEvent[] = []
  // A session may be called as whoever chooses is.
  const { error, data } = await kit.clock.until(desk.execute('x', { sessionId: 's/route()/1', history: [], on: heard(events) }))
  expect(error).toBeUndefined()
  expect(data).toEqual({ word: 'One moment.', text: 'abc' })
  const told = (type: string) => events.filter((event) => event.type === `orchestrator.${type}`)
  expect(told('turn.streaming').map(({ delta }) => delta)).toEqual(['a', 'b', 'c'])
  expect(told('turn.streaming')[0]).toMatchObject({ sessionId: 's/route()/1', turnIndex: 0 })
  expect(told('turn.routed')).toMatchObject([{ source: 'intent.next', raw: 'inner' }])
  expect(events.filter(({ type, kind }) => type === 'agent.trip.streaming' && kind === 'text').length).toBeGreaterThan(3)
  expect(events).toContainEqual(expect.objectContaining({ type: 'agent.trip.streaming', kind: 'reasoning' }))
})

test('[WL-060, WL-063] the definition hears first, then the instance, then the call; a handler that throws stops nobody', async () => {
  const heardBy: string[] = []
  const said: LadderEvent[] = []
  const by = (who: string) => ({
    'orchestrator.turn.awaiting-input': (event: LadderEvent) => {
      heardBy.push(who)
      said.push(event)
      if (who === 'definition') throw new Error('deaf')
    },
  })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { a: () => undefined },
    route: () => 'a' as const,
    on: by('definition'),
  })
  await using kit = await aLadder(desk)
  const off = desk.on(by('instance'))
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [], on: by('call') }))
  expect(heardBy).toEqual(['definition', 'instance', 'call'])
  expect(new Set(said).size).toBe(1)
  off()
  const late = by('instance')
  desk.on(late)
  desk.off(late)
  await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
  expect(heardBy.slice(3)).toEqual(['definition'])
})

test('[WL-037, WL-061] a definition may say that a session is over: that turn is completed', async () => {
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    state: { done: false },
    intents: { finish: () => ({ done: true }) },
    route: () => 'finish' as const,
    endsWhen: ({ state }) => state.done,
  })
  await using kit = await aLadder(desk)
  const events: LadderEvent[] = []
  expect(await kit.clock.until(desk.execute('', { sessionId: 's', history: [], on: heard(events) }))).toMatchObject({
    report: { status: 'completed' },
  })
  expect(own(events).at(-1)).toBe('turn.completed')
})

test('[WL-065] a late reader of a stream misses nothing, and it is over after the end was told', async () => {
  const desk = counting()
  await using kit = await aLadder(desk)
  const streamed = desk.stream('', { sessionId: 's', history: [] })
  await kit.clock.until(streamed.result)
  const events = await kit.clock.until(gathered(streamed))
  expect(own(events)).toHaveLength(7)
  expect(events.at(-1)?.type).toBe('orchestrator.turn.awaiting-input')
})

test('[WL-015] a call without a history, or without a session, is refused', async () => {
  const desk = counting()
  await using kit = await aLadder(desk)
  for (const options of [{ sessionId: 's' }, { sessionId: '', history: [] }, { sessionId: 's', history: [{ role: 'user' }] }])
    await expect(kit.clock.until(desk.execute('', options as never))).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
})

test.each([
  ['hangs', () => new Promise<boolean>(() => undefined), 'it has taken more than 30000 ms'],
  ['throws', () => Promise.reject(new Error('no')), 'no'],
] as const)('[WL-037] endsWhen that %s holds no session: the turn is stored, its report says so, and the next one runs', async (_, endsWhen, why) => {
  let asked = 0
  const desk = orchestrator({
    name: 'desk',
    state: { count: 0 },
    intents: { work: ({ state }) => ({ count: state.count + 1 }) },
    route: () => 'work' as const,
    endsWhen: () => (asked++ === 0 ? endsWhen() : true),
  })
  await using kit = await aLadder(desk)
  const ask = () => kit.clock.until(desk.execute('a', { sessionId: 's', history: [] }))
  const began = kit.clock.now()

  expect(await ask()).toMatchObject({ data: { count: 1 }, report: { status: 'awaiting-input', warnings: [`endsWhen failed: ${why}`] } })

  expect(kit.clock.now() - began).toBeLessThan(31_000)
  expect(await ask()).toMatchObject({ turnIndex: 1, data: { count: 2 }, report: { status: 'completed' } })
  expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
})
