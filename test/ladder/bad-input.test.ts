/** What authors and callers get wrong. */
import { expect, test } from 'vitest'
import { memoryStore, orchestrator, workflow } from '../../src/ladder/index.ts'
import { aLadder } from './a-ladder.ts'

const aDesk = () => orchestrator({ name: 'desk', checkpointStore: memoryStore(), intents: { a: () => undefined }, route: () => 'a' as const })

test('[WL-004] a step may give bytes, and the next one reads them', async () => {
  const bytes = workflow({
    name: 'bytes',
    steps: [
      { name: 'make', run: () => new Uint8Array([1, 2]) },
      { name: 'read', run: ({ steps }) => (steps.make as { output: Uint8Array }).output.length },
    ],
  })
  await using kit = await aLadder(bytes)
  expect(await kit.clock.until(bytes.execute(new Uint8Array([3])))).toMatchObject({ data: 2 })
})

test('[WL-004] a request of a session that is named by no text is refused, and nobody waits for it for ever', async () => {
  const desk = aDesk()
  await using kit = await aLadder(desk)
  const refused = desk.execute('', { sessionId: 's', history: [], requestId: {} as string })
  await expect(kit.clock.until(refused)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', hint: expect.stringContaining('requestId') })
})

test('[WL-004] a session says what is no decision, whether or not a call waits', async () => {
  const desk = aDesk()
  await using _ = await aLadder(desk)
  for (const nonsense of [null, undefined, {}, { callId: 'c', decision: 'maybe' }])
    await expect(desk.decide('s', nonsense as never)).rejects.toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED' })
})
