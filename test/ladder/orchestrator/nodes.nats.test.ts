/** Sessions on two nodes that share a NATS server. */
import { expect, test, vi } from 'vitest'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { END, ladder, orchestrator, type TurnResult } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()
const takeoverMs = 60_000
type World = { ran: string[]; hangs: boolean }
type State = { list?: number[] }

/** Its orchestrator is its own: it is of one runtime. Sessions are kept in the registry that both share. */
const aNode = async (prefix: string, world: World) => {
  const desk = orchestrator({
    name: 'desk',
    iterate: true,
    state: {},
    intents: {
      work: async ({ input, iteration, state }: { input: unknown; iteration: number; state: State }) => {
        world.ran.push(`${String(input)} ${iteration}`)
        if (world.hangs && input === 'long' && iteration === 2) await new Promise(() => undefined)
        return { list: [...(state.list ?? []), iteration] }
      },
    },
    route: ({ iteration, input }) => (iteration < (input === 'long' ? 4 : 1) ? 'work' : END),
  })
  const runtime = await createRuntime({ transport: server.url, prefix, extensions: [ladder({ executables: [desk] })] })
  return { desk, runtime }
}
const both = async (prefix: string, world: World) => {
  const [here, there] = [await aNode(prefix, world), await aNode(prefix, world)]
  await vi.waitFor(() => {
    for (const { runtime } of [here, there]) expect(runtime.nodes().map(({ partitions }) => partitions > 16)).toEqual([true, true])
  }, takeoverMs)
  const isHere = (kind: string, id: string): boolean => partsOf(here.runtime).host.mayHave({ kind, id })
  // A session and its turn are placed each for itself.
  const id = Array.from({ length: 500 }, (_, index) => `s-${index}`).find((one) => isHere('desk', one) && isHere('desk-turn', `${one}.unversioned.0`))
  return { here, there, sessionId: id as string }
}
const close = async (...runtimes: Runtime[]): Promise<void> => {
  for (const runtime of runtimes) await runtime.close()
}

test('[WL-025, WL-024, WL-062] turns of one session that two nodes ask for at once run one by one, and each caller hears its own', {
  timeout: 120_000,
}, async () => {
  const { here, there, sessionId } = await both('orch-queue', { ran: [], hangs: false })
  const types: string[] = []
  const asked: Promise<TurnResult<unknown>>[] = []
  for (const input of ['a', 'b', 'c'])
    for (const { desk } of [here, there])
      asked.push(
        desk.execute(input, {
          sessionId,
          history: [],
          ...(desk === there.desk && input === 'a' && { on: { '*': ({ type }) => void types.push(type) } }),
        }),
      )
  const results = await Promise.all(asked)
  expect(results.map(({ turnIndex }) => turnIndex).toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5])
  expect(results.find(({ turnIndex }) => turnIndex === 5)).toMatchObject({ data: { list: [0, 0, 0, 0, 0, 0] }, report: { turns: { length: 6 } } })
  const own = types.filter((type) => /^orchestrator\.turn\.(?!streaming)/.test(type))
  expect(own.at(-1)).toBe('orchestrator.turn.awaiting-input')
  expect(types.filter((type) => type === 'supervisor.completed')).toHaveLength(1)
  await close(here.runtime, there.runtime)
})

test('[WL-025, WL-080, WL-084] the node of a session is killed in the middle of a turn: another one goes on with it once, and then takes the next', {
  timeout: 180_000,
}, async () => {
  const world: World = { ran: [], hangs: true }
  const { here, there, sessionId } = await both('orch-kill', world)
  here.desk.execute('long', { sessionId, history: [], requestId: 'r' }).catch(() => undefined)
  await vi.waitFor(() => expect(world.ran).toContain('long 2'), { timeout: takeoverMs })
  const next = there.desk.execute('next', { sessionId, history: [] })
  next.catch(() => undefined)
  world.hangs = false
  partsOf(here.runtime).host.abandon()
  await partsOf(here.runtime).transport.close()
  const [result, after] = await Promise.all([there.desk.execute('long', { sessionId, history: [], requestId: 'r' }), next])
  expect(result).toMatchObject({ turnIndex: 0, data: { list: [0, 1, 2, 3] }, report: { status: 'awaiting-input' } })
  expect(after).toMatchObject({ turnIndex: 1, data: { list: [0, 1, 2, 3, 0] } })
  for (const once of ['long 0', 'long 1', 'long 3', 'next 0'])
    expect(
      world.ran.filter((one) => one === once),
      once,
    ).toHaveLength(1)
  expect(await there.desk.drain()).toEqual([])
  await close(there.runtime)
})
