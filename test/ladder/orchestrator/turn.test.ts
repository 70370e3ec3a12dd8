/** Turns of a session as their callers meet them. */
import { expect, test } from 'vitest'
import { type LadderEvent, memoryStore, orchestrator } from '../../../src/ladder/index.ts'
import { aLadder } from '../a-ladder.ts'

test('[WL-018, WL-019] one call is one turn', async () => {
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    state: { count: 0 },
    checkpointStore: store,
    intents: { add: ({ state }: { state: { count: number } }) => ({ count: state.count + 1 }) },
    route: () => 'add' as const,
  })
  await using kit = await aLadder(desk)
  const events: LadderEvent[] = []
  const result = await kit.clock.until(desk.execute('hi', { sessionId: 's', history: [], on: { '*': (event) => void events.push(event) } }))
  console.log(events.map(({ type }) => type))
  console.log(JSON.stringify(result, null, 1))
  console.log(await store.rows('desk', 's'))
  expect(result.data).toEqual({ count: 1 })
  const second = await kit.clock.until(desk.execute('hi', { sessionId: 's', history: [] }))
  expect(second).toMatchObject({ turnIndex: 1, data: { count: 2 } })
})
