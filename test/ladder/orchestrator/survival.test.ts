/** Sessions that are killed, and what goes on by itself. */
import { expect, test } from 'vitest'
import { END, type LadderEvent, memoryStore, orchestrator } from '../../../src/ladder/index.ts'
import { aLadder, killedAt } from '../a-ladder.ts'
import { killedTurn } from './killed-turn.ts'

test('[WL-057, WL-083] killed at any commit of session, turn or summary, a turn comes to the same report and the same row, and no answer is paid twice', () =>
  killedTurn((commit) => commit % 3 === 1))

test('[WL-080, WL-081, WL-082, WL-084] a first turn that a crash has cut off goes on after its last iteration; resume waits for it, with what the caller brings along anew', async () => {
  const store = memoryStore()
  const ran: string[] = []
  const [hang, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let hangs = false
  const work = (name: string) => async (code: { iteration: number; context: Readonly<Record<string, unknown>> }) => {
    ran.push(`${name} ${code.iteration} ${String(code.context.user)}`)
    if (hangs && code.iteration === 2) {
      third.resolve()
      await hang.promise
    }
    return { [name]: code.iteration }
  }
  const desk = orchestrator({
    name: 'desk',
    iterate: true,
    checkpointStore: store,
    intents: { a: work('a') },
    classifier: () => (ran.push('classified'), { intent: 'a' }),
    ack: () => void ran.push('acknowledged'),
    route: ({ iteration }) => (iteration < 4 ? 'a' : END),
  })
  await using kit = await aLadder(desk)
  expect(await kit.clock.until(desk.resume('s'))).toBeNull()
  // Others have nothing in flight.
  for (const sessionId of ['t', 'u']) await kit.clock.until(desk.execute('', { sessionId, history: [] }))
  ran.length = 0
  hangs = true
  const cut = desk.execute('', { sessionId: 's', history: [], context: { user: 'before' } })
  cut.catch(() => undefined)
  await kit.clock.until(third.promise)
  await kit.crash()
  hangs = false
  await kit.restart()
  const events: LadderEvent[] = []
  const [resumed, ...drained] = await kit.clock.until(
    Promise.all([desk.resume('s', { context: { user: 'after' }, on: { '*': (event) => void events.push(event) } }), desk.drain()]),
  )
  expect(resumed).toMatchObject({ turnIndex: 0, data: { a: 3 }, report: { status: 'awaiting-input', children: [{ iterations: [{}, {}, {}, {}] }] } })
  expect(drained).toMatchObject([[{ turnIndex: 0, data: { a: 3 } }]])
  expect(ran.filter((one) => /a [01]/.test(one))).toEqual(['a 0 before', 'a 1 before'])
  expect(ran.filter((one) => one.startsWith('a 3'))).toEqual(['a 3 after'])
  expect(ran.filter((one) => one.endsWith('ed')).toSorted()).toEqual(['acknowledged', 'classified'])
  expect(await store.rows('desk', 's')).toMatchObject([{ turn_index: 0, state: { a: 3 } }])
  expect(events.filter(({ type }) => type.startsWith('orchestrator.turn.')).at(-1)?.type).toBe('orchestrator.turn.awaiting-input')
  const before = ran.length
  await expect(desk.resume('s', { history: [] } as never)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
  expect(await kit.clock.until(desk.resume('s'))).toBeNull()
  expect(await kit.clock.until(desk.drain())).toEqual([])
  expect(ran).toHaveLength(before)
})

test('[WL-020, WL-080] a turn in flight that other intents have begun is refused, nothing of it is stored, and the next one runs', async () => {
  const store = memoryStore()
  const begun = Promise.withResolvers<void>()
  const made = (names: string[], hangs = false) =>
    orchestrator({
      name: 'desk',
      checkpointStore: store,
      intents: Object.fromEntries(names.map((name) => [name, () => (hangs ? (begun.resolve(), new Promise<never>(() => undefined)) : { by: name })])),
      route: () => names.at(-1) as string,
    })
  const before = made(['a', 'b'], true)
  await using kit = await aLadder(before)
  const cut = before.execute('', { sessionId: 's', history: [], requestId: 'r' })
  cut.catch(() => undefined)
  await kit.clock.until(begun.promise)
  await kit.crash()
  const after = made(['a', 'c'])
  const { ladder } = await import('../../../src/ladder/index.ts')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  await expect(kit.clock.until(after.execute('', { sessionId: 's', history: [], requestId: 'r' }))).rejects.toMatchObject({
    code: 'ORCHESTRATOR_DRIFT',
    category: 'drift',
  })
  expect(await store.rows('desk', 's')).toEqual([])
  const next = await kit.clock.until(after.execute('', { sessionId: 's', history: [] }))
  expect(next).toMatchObject({ turnIndex: 0, data: { by: 'c' } })
})

test('[WL-083, WL-024] the same request attaches to its turn, while it is under way and after it has ended, and never begins it twice', async () => {
  let ran = 0
  const desk = orchestrator({ name: 'desk', checkpointStore: memoryStore(), intents: { a: () => ({ n: ++ran }) }, route: () => 'a' as const })
  await using kit = await aLadder(desk)
  const execute = () => desk.execute('', { sessionId: 's', history: [], requestId: 'r' })
  const [one, two] = await kit.clock.until(Promise.all([execute(), execute()]))
  const three = await kit.clock.until(execute())
  expect([one.data, two.data, three.data]).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
  expect(three).toEqual(one)
})

test('[WL-013, WL-019, WL-024] with nothing set up, sessions are kept by the runtime itself: killed at any commit the next turn begins with the row of the one before', async () => {
  const made = () =>
    orchestrator({
      name: 'desk',
      state: { n: 0 },
      intents: { add: ({ state }: { state: { n: number } }) => ({ n: state.n + 1 }) },
      route: () => 'add' as const,
    })
  let commit = 1
  for (; ; commit++) {
    const desk = made()
    await using kit = await aLadder(desk)
    const execute = (requestId: string) => desk.execute('', { sessionId: 's/1 ü', history: [], requestId })
    await kit.clock.until(execute('one'))
    const result = await killedAt(kit, () => execute('two'), commit)
    if (!result) break
    expect(result.error, `killed at commit ${commit}`).toBeUndefined()
    expect(result, `killed at commit ${commit}`).toMatchObject({ turnIndex: 1, data: { n: 2 }, report: { turns: [{ turn: 0 }, { turn: 1 }] } })
    expect(await kit.clock.until(desk.sessions())).toEqual(['s/1 ü'])
  }
  expect(commit).toBeGreaterThan(5)
})
