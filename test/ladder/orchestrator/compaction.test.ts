/** Histories that are summarised, after a turn or because somebody wants it. */
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/index.ts'
import {
  type CheckpointStore,
  type Compaction,
  compacted,
  type HistoryMessage,
  type LadderEvent,
  memoryStore,
  orchestrator,
  type Summarize,
} from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const said = (count: number): HistoryMessage[] =>
  Array.from({ length: count }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `said-${index}` }))

const summarising = async (summarize: Summarize | undefined, model: unknown = { text: 'in short', usage }) => {
  const store = memoryStore()
  const asked: string[] = []
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    intents: { a: ({ input }) => (input === 'fail' ? Promise.reject(new Error('no')) : undefined) },
    route: () => 'a' as const,
    ...(summarize && { summarize }),
  })
  const answer = (request: ModelRequest) => (asked.push(JSON.stringify(request.messages)), typeof model === 'function' ? model(request) : model)
  const kit = await aLadderOf({ 'test/summary': answer as never }, desk)
  const begun = async (history: readonly HistoryMessage[], input = 'x') => {
    const events: LadderEvent[] = []
    const result = await desk.execute(input, { sessionId: 's', history, on: { '*': (event) => void events.push(event) } })
    const told = events
      .filter(({ type }) => type.startsWith('orchestrator.compaction.'))
      .map(({ type, phase }) => [type.slice(24), ...(typeof phase === 'string' ? [phase] : [])].join(' '))
    return { ...result, told, events }
  }
  const turn = (history: readonly HistoryMessage[], input?: string) => kit.clock.until(begun(history, input))
  return { kit, store, asked, desk, turn, begun }
}
const locked = (store: CheckpointStore) => store.record('desk', 's').then(({ lock }) => lock)

test('[WL-050, WL-052, WL-053, WL-005] after so many turns all but the last messages are summarised by a model; who does not apply it gets it back, and nothing is recorded', async () => {
  const { kit, store, asked, turn } = await summarising({ afterTurns: 2, summarizer: 'test/summary' })
  await using _ = kit
  for (const __ of [0, 1]) expect(await turn(said(30))).toMatchObject({ told: [], report: { status: 'awaiting-input' } })
  expect(asked).toEqual([])
  const { compaction, told, report, usage: used } = await turn(said(30))
  expect(compaction).toEqual({ summary: { role: 'system', content: 'in short' }, replacesFromIndex: 0, replacesToIndex: 21 })
  expect(told).toEqual(['suggested'])
  expect(asked[0]).toContain('user: said-0')
  expect(asked[0]).toContain('assistant: said-21')
  expect(asked[0]).not.toContain('said-22')
  expect(report.children.map(({ type, usage: own }) => [type, own.total])).toEqual([
    ['supervisor', 0],
    ['agent', 10],
  ])
  expect(used.total).toBe(10)
  expect(await store.record('desk', 's')).toEqual({ summarizedThrough: null, lock: null })
  // The row was written before.
  expect((await store.rows('desk', 's')).map(({ summarized_through }) => summarized_through)).toEqual([null, null, null])
})

test('[WL-050] without afterTurns no turn summarises, and with it none that fails; a command does at any time', async () => {
  for (const [policy, input] of [
    [{}, 'x'],
    [{ afterTurns: 0 }, 'fail'],
  ] as const) {
    const { kit, asked, turn, desk } = await summarising({ ...policy, summarizer: 'test/summary' })
    await using _ = kit
    expect((await turn(said(30), input)).told).toEqual([])
    expect(asked).toEqual([])
    expect(await kit.clock.until(desk.command('compact', { sessionId: 's', history: said(30) }))).toMatchObject({ replacesToIndex: 21 })
    expect(asked).toHaveLength(1)
  }
})

test('[WL-053, WL-056, WL-043] onCompact applies it: that is told and recorded, the result is without it, and only what came since counts next time', async () => {
  const applied: [Compaction, unknown][] = []
  const { kit, store, asked, turn } = await summarising({
    afterTurns: 0,
    keep: 4,
    summarizer: 'test/summary',
    onCompact: (...all) => void applied.push(all),
  })
  await using _ = kit
  const rows: unknown[] = []
  const first = await turn(said(10))
  rows.push(...(await store.rows('desk', 's')))
  expect(first.compaction).toBeUndefined()
  expect(first.told).toEqual(['suggested', 'applied'])
  expect(applied).toMatchObject([[{ replacesFromIndex: 0, replacesToIndex: 5 }, { sessionId: 's' }]])
  expect(await store.record('desk', 's')).toEqual({ summarizedThrough: 5, lock: null })
  // Nothing new is old enough.
  expect((await turn(said(10))).told).toEqual([])
  expect(asked).toHaveLength(1)
  // Nor is it as much as is kept: a summary of three messages would be paid for with each turn.
  expect((await turn(said(13))).told).toEqual([])
  expect((await turn(said(14))).told).toEqual(['suggested', 'applied'])
  expect(applied[1]).toMatchObject([{ replacesFromIndex: 6, replacesToIndex: 9 }, {}])
  expect((await store.rows('desk', 's'))[0]).toEqual(rows[0])
  expect(first.events.map(({ type }) => type).slice(-4)).toEqual(
    ['checkpoint.persisted', 'compaction.suggested', 'compaction.applied', 'turn.awaiting-input'].map((type) => `orchestrator.${type}`),
  )
})

test.each([
  ['as many as are kept', { keep: 4 }, 4],
  ['as many as the margin says', { keep: 4, margin: 6 }, 6],
  ['one, with a margin of one', { keep: 4, margin: 1 }, 1],
])('[WL-050, WL-053] who applies compactions to a history of theirs gets the next one when %s have come', async (_, policy, least) => {
  const { kit, turn } = await summarising({ afterTurns: 0, ...policy })
  await using __ = kit
  const { compaction } = await turn(said(10))
  expect(compaction).toMatchObject({ replacesFromIndex: 0, replacesToIndex: 5 })
  const folded = [compaction?.summary as HistoryMessage, ...said(10).slice(6)]
  const after = (more: number) => [...folded, ...said(more)]

  expect((await turn(after(least - 1))).compaction).toBeUndefined()
  expect((await turn(after(least))).compaction).toMatchObject({ replacesFromIndex: 0, replacesToIndex: least })
})

test('[WL-050, WL-053] with a turn travels what a summary may be made of, and nothing that has one: a turn of a long session stays small', async () => {
  const { kit, asked, turn, begun, desk } = await summarising({ afterTurns: 0, keep: 4, summarizer: 'test/summary', onCompact: () => undefined })
  await using _ = kit
  await turn(said(10))
  type Context = { turn?: { request: { foldable?: unknown[]; foldableFrom?: number } } }
  const travelled = async (count: number) => {
    const result = begun(said(count))
    const { context } = await kit.clock.until(kit.runtime.actor('desk', 's').waitFor((at) => (at.context as Context).turn !== undefined))
    const { foldable = [], foldableFrom } = (context as Context).turn?.request ?? {}
    await kit.clock.until(result)
    return [foldable.length, foldableFrom]
  }

  expect(await travelled(10)).toEqual([0, undefined])
  expect(await travelled(13)).toEqual([0, undefined])
  expect(await travelled(30)).toEqual([20, 6])
  expect(asked.at(-1)).toContain('said-6')
  expect(asked.at(-1)).toContain('said-25')
  expect(asked.at(-1)).not.toMatch(/said-(5|26)\b/)
  // Whoever deletes it begins with all of it.
  await kit.clock.until(desk.delete('s'))
  await turn(said(30))
  expect(asked.at(-1)).toContain('said-0')
})

test('[WL-056] where there is nothing to compact nothing happens: no lock, no event, no model', async () => {
  const { kit, store, asked, turn, desk } = await summarising({ afterTurns: 0, summarizer: 'test/summary' })
  await using _ = kit
  let locks = 0
  const { lock } = store
  store.lock = (...all) => (locks++, lock(...all))
  expect((await turn(said(5))).told).toEqual([])
  expect(await kit.clock.until(desk.command('compact', { sessionId: 's', history: said(5) }))).toBeNull()
  expect([locks, asked]).toEqual([0, []])
})

test('[WL-054, WL-057] a summariser that fails says so, the turn is clean and the lock is free again', async () => {
  const { kit, store, turn } = await summarising(
    { afterTurns: 0, keep: 1, summarizer: 'test/summary' },
    { text: '', finish: 'content-filter', usage },
  )
  await using _ = kit
  const { told, compaction, report, error } = await turn(said(5))
  expect(error).toBeUndefined()
  expect([told, compaction, report.status]).toEqual([['failed summarize'], undefined, 'awaiting-input'])
  expect(await locked(store)).toBeNull()
})

test('[WL-054, WL-057] an application that fails says so, and the compaction comes back', async () => {
  const { kit, store, turn } = await summarising({ afterTurns: 0, keep: 1, onCompact: () => Promise.reject(new Error('no ink')) })
  await using _ = kit
  const { told, compaction, report, events } = await turn(said(5))
  expect([told, report.status]).toEqual([['suggested', 'failed onCompact'], 'awaiting-input'])
  expect(events.find(({ type }) => type.endsWith('compaction.failed'))).toMatchObject({ error: { message: expect.stringContaining('no ink') } })
  expect(compaction).toMatchObject({ replacesToIndex: 3 })
  expect(await store.record('desk', 's')).toEqual({ summarizedThrough: null, lock: null })
})

test('[WL-055] without a model a memo says how many messages it stands for', async () => {
  const { kit, turn } = await summarising({ afterTurns: 0, keep: 3 })
  await using _ = kit
  expect((await turn(said(10))).compaction).toEqual({
    summary: { role: 'system', content: '[7 earlier messages are left out here.]' },
    replacesFromIndex: 0,
    replacesToIndex: 6,
  })
})

test('[WL-057] a summariser that never answers is given up after its time, and the next turn runs', async () => {
  const { kit, store, turn, begun, desk } = await summarising(
    { afterTurns: 0, keep: 1, summarizer: 'test/summary', lock: { maxWait: 5000 } },
    () => ({ text: 'late', delayMs: 1e7 }),
  )
  await using _ = kit
  const locks: unknown[] = []
  const { lock } = store
  store.lock = (...all) => (locks.push(all), lock(...all))
  await turn([])
  const began = kit.clock.now()
  const next = begun(said(3))
  await kit.clock.until(kit.runtime.actor('desk', 's').waitFor((at) => at.matches('compacting')))
  expect((await locked(store))?.owner).toBeDefined()
  // It is given no longer than that: whoever dies holds up nobody.
  expect(locks).toEqual([['desk', 's', expect.any(String), 5000]])
  const { told } = await kit.clock.until(next)
  expect(told).toEqual(['failed summarize'])
  expect(kit.clock.now() - began).toBeLessThanOrEqual(6000)
  expect(await locked(store)).toBeNull()
  expect(await kit.clock.until(desk.execute('x', { sessionId: 's', history: [] }))).toMatchObject({ turnIndex: 2 })
})

test('[WL-050, WL-053, WL-057] code that never summarises, or never applies, is given up too: after 30 seconds where nothing is said', async () => {
  const hang = () => new Promise<never>(() => undefined)
  const never = await summarising(hang)
  const unapplied = await summarising({ afterTurns: 0, keep: 1, onCompact: hang })
  await using kit = never.kit
  await using other = unapplied.kit
  const took = async (of: typeof kit, work: Promise<unknown>) => {
    const began = of.clock.now()
    await of.clock.until(work.catch(() => undefined))
    return of.clock.now() - began
  }
  const commanded = never.desk.command('compact', { sessionId: 's', history: said(3) })
  expect(await took(kit, commanded)).toBe(30_000)
  await expect(commanded).rejects.toMatchObject({ code: 'ORCHESTRATOR_FAILED', message: expect.stringContaining('too long') })
  const turn = unapplied.begun(said(3))
  expect(await took(other, turn)).toBe(30_000)
  expect(await turn).toMatchObject({
    told: ['suggested', 'failed onCompact'],
    compaction: { replacesToIndex: 1 },
    report: { status: 'awaiting-input' },
  })
  for (const { store } of [never, unapplied]) expect(await locked(store)).toBeNull()
  expect(await never.turn([])).toMatchObject({ turnIndex: 0 })
})

test('[WL-057] somebody else who compacts is left alone', async () => {
  const { kit, store, turn } = await summarising({ afterTurns: 1, keep: 1, lock: { maxWait: 200 } })
  await using _ = kit
  await turn(said(3))
  await store.lock('desk', 's', 'somebody', 1e12)
  expect((await turn(said(3))).told).toEqual([])
  expect((await locked(store))?.owner).toBe('somebody')
})

test('[WL-036, WL-050] a turn that is cancelled while it is compacted is clean: its row was written', async () => {
  const { kit, store, turn, begun, desk } = await summarising({ afterTurns: 0, keep: 1, summarizer: 'test/summary' }, () => ({
    text: 'late',
    delayMs: 1e7,
  }))
  await using _ = kit
  await turn([])
  const cut = begun(said(3))
  await kit.clock.until(kit.runtime.actor('desk', 's').waitFor((at) => at.matches({ compacting: 'working' })))
  await desk.cancel('s')
  const { told, report } = await kit.clock.until(cut)
  expect([told, report.status]).toEqual([['failed summarize'], 'awaiting-input'])
  expect(await store.rows('desk', 's')).toHaveLength(2)
  expect(await locked(store)).toBeNull()
})

test('[WL-051, WL-052] a function in the place of the policy never fires by itself, and once when it is commanded', async () => {
  const calls: unknown[][] = []
  const made: Compaction = { summary: { role: 'system', content: 'mine' }, replacesFromIndex: 0, replacesToIndex: 1 }
  const { kit, turn, desk } = await summarising((...all) => (calls.push(all), { ...made, summary: { role: 'user' as 'system', content: 'mine' } }))
  await using _ = kit
  for (let turns = 0; turns < 12; turns++) await turn(said(30))
  expect(calls).toEqual([])
  expect(await kit.clock.until(desk.command('compact', { sessionId: 's', history: said(3) }))).toEqual(made)
  expect(calls).toEqual([[said(3), { sessionId: 's' }]])
})

test('[WL-058] compact can be commanded without a policy, for a session that is not there yet too; it waits its turn, applies nothing and is no turn', async () => {
  const { kit, store, desk, turn } = await summarising(undefined)
  await using _ = kit
  const compaction = await kit.clock.until(desk.command('compact', { sessionId: 's', history: said(4) }))
  expect(compaction).toMatchObject({ replacesFromIndex: 0, replacesToIndex: 3, summary: { content: '[4 earlier messages are left out here.]' } })
  expect(await store.rows('desk', 's')).toEqual([])
  expect(await turn([])).toMatchObject({ turnIndex: 0 })
  expect((await store.record('desk', 's')).summarizedThrough).toBeNull()
})

test('[WL-058] a command waits for the turn that is under way, may be withdrawn meanwhile, and leaves what it has made to its caller', async () => {
  const [working, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const applied: Compaction[] = []
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    summarize: { keep: 1, onCompact: (compaction) => void applied.push(compaction) },
    intents: { a: async () => (working.resolve(), ready.promise) },
    route: () => 'a' as const,
  })
  await using kit = await aLadder(desk)
  const turn = desk.execute('x', { sessionId: 's', history: [] })
  await kit.clock.until(working.promise)
  const leave = new AbortController()
  const compact = (more: { signal?: AbortSignal }) => desk.command('compact', { sessionId: 's', history: said(4), ...more })
  const [kept, withdrawn] = [compact({}), compact({ signal: leave.signal })]
  const queued = (count: number) => kit.runtime.actor('desk', 's').waitFor(({ context }) => (context as { queue: unknown[] }).queue.length === count)
  await kit.clock.until(queued(2))
  leave.abort('not needed')
  await expect(kit.clock.until(withdrawn)).rejects.toBe('not needed')
  await kit.clock.until(queued(1))
  ready.resolve()
  expect(await kit.clock.until(turn)).toMatchObject({ turnIndex: 0 })
  expect(await kit.clock.until(kept)).toMatchObject({ replacesFromIndex: 0, replacesToIndex: 2 })
  expect(applied).toEqual([])
  expect(await store.record('desk', 's')).toEqual({ summarizedThrough: null, lock: null })
})

test('[WL-058] a compaction that was commanded and fails rejects, and the session goes on', async () => {
  const { kit, desk, turn } = await summarising(() => ({ wrong: true }) as never)
  await using _ = kit
  await expect(kit.clock.until(desk.command('compact', { sessionId: 's', history: said(4) }))).rejects.toMatchObject({
    code: 'ORCHESTRATOR_FAILED',
    message: expect.stringContaining('no compaction'),
  })
  expect(await turn([])).toMatchObject({ turnIndex: 0 })
})

test('compacted() puts the summary in the place of what it stands for, so that the next turn is given the shorter history', () => {
  const history = ['a', 'b', 'c', 'd'].map((content) => ({ role: 'user' as const, content }))
  const summary = { role: 'system' as const, content: 'a and b' }

  expect(compacted(history, { summary, replacesFromIndex: 0, replacesToIndex: 1 }).map(({ content }) => content)).toEqual(['a and b', 'c', 'd'])
  expect(compacted(history, { summary, replacesFromIndex: 1, replacesToIndex: 1 }).map(({ content }) => content)).toEqual(['a', 'a and b', 'c', 'd'])
})
