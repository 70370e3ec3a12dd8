/** Sessions whose definition has changed between two turns. */
import { expect, test } from 'vitest'
import { agent, type LadderEvent, ladder, memoryStore, orchestrator } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const gathered = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const usage = { inputTokens: 7, outputTokens: 3 }
const drifted = async () => {
  const store = memoryStore()
  const asked: string[] = []
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  const made = (more: object = {}, version = '1') =>
    orchestrator({
      name: 'desk',
      version,
      checkpointStore: store,
      state: { n: 1 },
      intents: { write: writer, ...more },
      route: () => 'write' as const,
    })
  const [before, after] = [made(), made({ check: () => undefined })]
  const kit = await aLadderOf({ 'test/writer': () => (asked.push('writer'), { text: 'written', usage }) }, before)
  await kit.clock.until(before.execute('x', { sessionId: 's', history: [] }))
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  const events: LadderEvent[] = []
  const execute = (options: object = {}) =>
    kit.clock.until(after.execute('x', { sessionId: 's', history: [], on: { '*': (event) => void events.push(event) }, ...options }))
  return { kit, store, asked, before, after, execute, events, made }
}

test('[WL-020, WL-065] a session of another definition is refused before a model is asked, and nothing is written; so is its stream', async () => {
  const { kit, store, asked, before, after, execute, events } = await drifted()
  await using _ = kit
  const rows = await store.rows('desk', 's')
  await expect(execute()).rejects.toMatchObject({
    code: 'ORCHESTRATOR_DRIFT',
    category: 'drift',
    context: { savedSignature: before.signature, currentSignature: after.signature, sessionId: 's' },
  })
  expect(events.map(({ type }) => type.slice(13))).toEqual(['turn.starting', 'session.loaded', 'drift.checked', 'turn.failed'])
  expect(events.find(({ type }) => type.endsWith('drift.checked'))).toMatchObject({ drifted: true, signature: after.signature })
  expect(asked).toHaveLength(1)
  expect(await store.rows('desk', 's')).toEqual(rows)
  const streamed = after.stream('x', { sessionId: 's', history: [] })
  await expect(kit.clock.until(gathered(streamed))).rejects.toMatchObject({ code: 'ORCHESTRATOR_DRIFT' })
  await expect(streamed.result).rejects.toMatchObject({ code: 'ORCHESTRATOR_DRIFT' })
  // A new session never drifts.
  expect(await execute({ sessionId: 'new' })).toMatchObject({ turnIndex: 0 })
})

test('[WL-021] force lets one call past, and its row carries the new signature', async () => {
  const { kit, store, after, execute } = await drifted()
  await using _ = kit
  expect(await execute({ force: true })).toMatchObject({ turnIndex: 1 })
  expect((await store.rows('desk', 's')).at(-1)).toMatchObject({ signature: after.signature })
  expect(await execute()).toMatchObject({ turnIndex: 2 })
})

test('[WL-022] a session that was deleted begins anew', async () => {
  const { kit, store, after, execute } = await drifted()
  await using _ = kit
  await kit.clock.until(after.delete('s'))
  expect(await store.rows('desk', 's')).toEqual([])
  const { turnIndex, report } = await execute()
  expect([turnIndex, report.children[0]?.runId, report.turns.length]).toEqual([0, 's.1.0', 1])
})

test('[WL-022] a session whose stored signature was mended by hand goes on', async () => {
  const { kit, store, after, execute } = await drifted()
  await using _ = kit
  const [row] = await store.rows('desk', 's')
  await store.replace?.({ ...(row as NonNullable<typeof row>), signature: after.signature })
  expect(await execute()).toMatchObject({ turnIndex: 1, report: { status: 'awaiting-input' } })
})

test('[WL-023, WL-031] another version is no drift, and its turns have names of their own', async () => {
  const { kit, made } = await drifted()
  await using _ = kit
  const second = made({}, '2')
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  const { turnIndex, report } = await kit.clock.until(second.execute('x', { sessionId: 's', history: [] }))
  expect([turnIndex, report.children[0]?.runId, report.turns.length]).toEqual([1, 's.2.1', 2])
})
