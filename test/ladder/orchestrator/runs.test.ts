/** Runs that turns are: they stay as long as somebody may ask for them, and go then. */
import { expect, test } from 'vitest'
import { ladder, memoryStore, orchestrator } from '../../../src/ladder/index.ts'
import { runName, runsBefore, type TurnRuns, withTurn } from '../../../src/ladder/orchestrator/runs.rules.ts'
import { aLadder } from '../a-ladder.ts'

type Kit = Awaited<ReturnType<typeof aLadder>>
const runsIn = async (kit: Kit): Promise<string[]> => {
  const { actors } = await kit.runtime.command<{ actors: { id: string }[] }>('actors.list', { kind: 'desk-turn', states: false, limit: 1000 })
  return actors.map(({ id }) => id)
}
const numbered = (ids: readonly string[]) => ids.map((id) => Number(id.split('.').at(-1))).toSorted((one, other) => one - other)
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** It fails where it is told so. */
const aDesk = (store = memoryStore(), version?: string) =>
  orchestrator({
    name: 'desk',
    checkpointStore: store,
    keepSnapshots: 3,
    ...(version !== undefined && { version }),
    intents: {
      echo: ({ input }) => {
        if (input === 'fail') throw new Error('as told')
        return { said: input }
      },
    },
    route: () => 'echo' as const,
  })

test('[WL-046] runs of turns go some time after their rows, and not while their answers can be asked for again', async () => {
  const desk = aDesk()
  await using kit = await aLadder(desk)
  const turn = (number: number) => desk.execute(number, { sessionId: 's', history: [], requestId: `request ${number}` })
  for (const number of from(0, 22)) await kit.clock.until(turn(number))
  expect(numbered(await runsIn(kit))).toEqual(from(0, 22))

  await kit.clock.until(turn(23))

  expect(numbered(await runsIn(kit))).toEqual(from(8, 23))
  expect(await kit.clock.until(turn(8))).toMatchObject({ turnIndex: 8, data: { said: 8 } })
  for (const number of from(24, 31)) await kit.clock.until(turn(number))
  expect(numbered(await runsIn(kit))).toEqual(from(16, 31))
})

test('[WL-046] of a session that is deleted no run stays: neither those of turns whose rows are gone, nor of attempts that failed, nor of other versions', async () => {
  const store = memoryStore()
  const before = aDesk(store, '1')
  await using kit = await aLadder(before)
  const execute = (desk: typeof before, input: string) => kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))
  for (const input of ['fail', 'a', 'b', 'c', 'd', 'e']) await execute(before, input)
  const after = aDesk(store, '2')
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  for (let turn = 0; turn < 16; turn++) await execute(after, 'f')
  expect(await runsIn(kit)).toEqual(expect.arrayContaining(['s.1.0', 's.1.0~2', 's.1.4', 's.2.5', 's.2.20']))

  await kit.clock.until(after.delete('s'))

  expect(await runsIn(kit)).toEqual([])
})

test('what a session remembers of its runs stays small, and names all of them that were not forgotten', () => {
  let runs: TurnRuns | undefined
  for (const turn of from(0, 99))
    runs = withTurn(runs, { turn, version: turn < 50 ? null : '2', runs: turn % 40 === 7 ? 3 : 1, ...(turn > 60 && { from: turn - 20 }) })

  expect(runs).toEqual({ from: 79, versions: [{ from: 50, version: '2' }], retried: [{ turn: 87, runs: 3 }] })
  expect(runsBefore('s', runs as TurnRuns, 80)).toEqual(['s.2.79'])
  expect(runsBefore('s', runs as TurnRuns, 88).slice(-4)).toEqual(['s.2.86', 's.2.87', 's.2.87~2', 's.2.87~3'])
  const old = withTurn(withTurn(undefined, { turn: 3, version: null, runs: 1 }), { turn: 4, version: '1', runs: 1 })
  expect(runsBefore('s', old, 5)).toEqual(['s.unversioned.3', 's.1.4'])
  // Nobody who forgets those of one session meets those of another.
  expect(runName('u', '1.0', 5, 1)).toBe('u.1-0.5')
  expect(runName('u.1', '0', 5, 1)).toBe('u.1.0.5')
})
