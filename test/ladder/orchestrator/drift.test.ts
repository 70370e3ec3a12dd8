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
  const { kit, store, after, execute, events } = await drifted()
  await using _ = kit
  const checked = () => events.splice(0).find(({ type }) => type === 'orchestrator.drift.checked')
  expect(await execute({ force: true })).toMatchObject({ turnIndex: 1 })
  expect(checked()).toMatchObject({ drifted: true, signature: after.signature })
  expect((await store.rows('desk', 's')).at(-1)).toMatchObject({ signature: after.signature })
  expect(await execute()).toMatchObject({ turnIndex: 2 })
  expect(checked()).toMatchObject({ drifted: false })
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

/** A turn that was in the middle of its work when the process died; its definition has another intent since. */
const cutOff = async (more: object = {}) => {
  const store = memoryStore()
  const ran: unknown[] = []
  const begun = Promise.withResolvers<void>()
  const made = (hangs: boolean, others: object) =>
    orchestrator({
      name: 'desk',
      version: '1',
      checkpointStore: store,
      intents: {
        work: ({ input }: { input: unknown }) => (begun.resolve(), hangs ? new Promise<never>(() => undefined) : void ran.push(input)),
        ...others,
      },
      route: () => 'work' as const,
      ...more,
    })
  const [before, after, again] = [made(true, {}), made(false, { check: () => undefined }), made(false, {})]
  const kit = await aLadderOf({}, before)
  before.execute('x', { sessionId: 's', history: [], requestId: 'x' }).catch(() => undefined)
  await kit.clock.until(begun.promise)
  await kit.crash()
  await kit.restart({ extensions: [ladder({ executables: [after] })] })
  const ask = (input: string) => kit.clock.until(after.execute(input, { sessionId: 's', history: [], requestId: input }))
  const turns = async () => {
    type Page = { actors: { id: string; status: string | null; error?: { code: string } }[] }
    const { actors } = await kit.runtime.command<Page>('actors.list', { kind: 'desk-turn' })
    return actors.map(({ id, status, error }) => `${id} ${error?.code ?? status}`).toSorted()
  }
  return { kit, after, again, ran, ask, turns }
}

test('[WL-020, WL-022] a turn that another definition has begun fails, once and for all; its run is listed as drift until it is deleted with its session, and the next turn has another name', async () => {
  const { kit, after, ask, turns } = await cutOff()
  await using _ = kit
  const outdated = {
    code: 'ORCHESTRATOR_DRIFT',
    context: { sessionId: 's', turnRunId: 's.1.0' },
    hint: expect.stringContaining('another request'),
  }
  for (let time = 0; time < 2; time++) await expect(ask('x')).rejects.toMatchObject(outdated)
  expect(await turns()).toEqual(['s.1.0 drift'])
  expect(await after.sessions()).toEqual([])
  expect(await ask('y')).toMatchObject({ turnIndex: 0, report: { children: [{ runId: 's.1.0~2' }] } })
  expect(await turns()).toEqual(['s.1.0 drift', 's.1.0~2 done'])
  await kit.clock.until(after.delete('s'))
  expect(await turns()).toEqual([])
})

test('[WL-020] such a run goes with those of old turns', async () => {
  const { kit, ask, turns } = await cutOff({ keepSnapshots: 2 })
  await using _ = kit
  await expect(ask('x')).rejects.toMatchObject({ code: 'ORCHESTRATOR_DRIFT' })
  for (let turn = 0; turn < 24; turn++) await ask(`turn ${turn}`)
  expect((await turns()).filter((one) => one.startsWith('s.1.0'))).toEqual([])
})

test('[WL-020] such a run goes on by itself where its own definition is there again; its session has answered, and stores nothing of it', async () => {
  const { kit, again, ran, ask } = await cutOff()
  await using _ = kit
  await expect(ask('x')).rejects.toMatchObject({ code: 'ORCHESTRATOR_DRIFT' })
  expect(ran).toEqual([])
  await kit.restart({ extensions: [ladder({ executables: [again] })] })
  await kit.clock.until(kit.runtime.actor('desk-turn', 's.1.0').waitFor(({ status }) => status === 'done'))
  expect(ran).toEqual(['x'])
  expect(await again.sessions()).toEqual([])
})
