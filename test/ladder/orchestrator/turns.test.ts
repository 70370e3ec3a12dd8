/** Earlier turns, as a report lists them: each is read once. */
import { expect, test } from 'vitest'
import { ladder, memoryStore, orchestrator } from '../../../src/ladder/index.ts'
import { aLadder } from '../a-ladder.ts'

const echoing = (store = memoryStore()) =>
  orchestrator({
    name: 'desk',
    checkpointStore: store,
    intents: { echo: ({ input }) => ({ said: input }) },
    route: () => 'echo' as const,
  })

test('[WL-039] a turn whose run was forgotten is missing in reports, and is looked for once', async () => {
  const store = memoryStore()
  const first = echoing(store)
  await using kit = await aLadder(first)
  for (const input of ['a', 'b']) await kit.clock.until(first.execute(input, { sessionId: 's', history: [] }))
  await kit.clock.until(kit.runtime.actor('desk-turn', 's.unversioned.0').forget())
  const second = echoing(store)
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  let looks = 0
  const { rows } = store
  store.rows = (...which) => (looks++, rows(...which))
  const listed: number[][] = []

  for (const input of ['c', 'd', 'e']) {
    const { report } = await kit.clock.until(second.execute(input, { sessionId: 's', history: [] }))
    listed.push(report.turns.map(({ turn }) => turn))
  }

  expect(listed).toEqual([
    [1, 2],
    [1, 2, 3],
    [1, 2, 3, 4],
  ])
  expect(looks).toBe(1)
})

test('[WL-039] of many sessions that take turns by turns, none is read again', async () => {
  const store = memoryStore()
  const desk = echoing(store)
  await using kit = await aLadder(desk)
  let looks = 0
  const { rows } = store
  store.rows = (...which) => (looks++, rows(...which))
  const sessions = Array.from({ length: 120 }, (_, index) => `s${index}`)
  const all = (input: string) => kit.clock.until(Promise.all(sessions.map((sessionId) => desk.execute(input, { sessionId, history: [] }))))
  await all('a')

  const results = await all('b')

  expect(new Set(results.map(({ report }) => report.turns.length))).toEqual(new Set([2]))
  expect(looks).toBe(0)
})
