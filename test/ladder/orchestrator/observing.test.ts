/** Who is told of turns that have ended. */
import { expect, test } from 'vitest'
import { agent, END, type LadderEvent, memoryStore, orchestrator, type Report } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

test('[WL-009] an observer gets the report of each turn, failed ones too, and one that throws disturbs nobody', async () => {
  const reports: Report[] = []
  const observe = (report: Report) => {
    reports.push(report)
    throw new Error('blind')
  }
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { work: ({ input }) => (input === 'bad' ? Promise.reject(new Error('no')) : { done: true }) },
    route: () => 'work' as const,
    observe,
  })
  await using kit = await aLadder(desk)
  for (const input of ['good', 'bad']) await kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))
  await kit.clock.advance(10)
  expect(reports).toMatchObject([
    { type: 'orchestrator', status: 'awaiting-input', sessionId: 's', children: [{ type: 'supervisor' }] },
    { status: 'failed', error: { code: 'SUPERVISOR_FAILED' } },
  ])
  expect(kit.log.filter(({ message }) => message?.includes('observer'))).toHaveLength(1)
})

test('[WL-060, WL-063] listeners of an agent hear of it in turns of a session; a handler that throws is warned about once', async () => {
  const heard: string[] = []
  const writer = agent({
    name: 'writer',
    description: 'Writes.',
    model: 'test/writer',
    on: { 'agent.completed': ({ runId }) => void heard.push(runId) },
  })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { write: writer },
    route: () => 'write' as const,
    on: {
      'orchestrator.turn.starting': () => {
        throw new Error('deaf')
      },
    },
  })
  await using kit = await aLadderOf({ 'test/writer': () => ({ text: 'written' }) }, desk)
  const events: LadderEvent[] = []
  for (const _ of [1, 2]) await kit.clock.until(desk.execute('x', { sessionId: 's', history: [], on: { '*': (event) => void events.push(event) } }))
  expect(heard).toEqual(['s.unversioned.0/write/1', 's.unversioned.1/write/1'])
  expect(events.filter(({ type }) => type === 'orchestrator.turn.starting')).toHaveLength(2)
  expect(kit.log.filter(({ message }) => message?.includes("'orchestrator.turn.starting'"))).toHaveLength(1)
})

test('[WL-061, WL-064] of each turn all is told with its session and, once that is known, its number; and each ends just once, however it ends', async () => {
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  const store = memoryStore()
  const desk = orchestrator({
    name: 'desk',
    iterate: true,
    maxIterations: 2,
    checkpointStore: store,
    intents: {
      write: { agent: writer, next: END },
      quick: { run: () => undefined, next: END },
      again: () => undefined,
      hang: () => new Promise<never>(() => undefined),
    },
    route: ({ input }) => input as never,
    endsWhen: ({ state }) => 'isOver' in state,
    summarize: {
      afterTurns: 0,
      keep: 1,
      margin: 1,
      onCompact: (_, { sessionId }) => (sessionId === 'torn' ? Promise.reject(new Error('no ink')) : 'applied'),
    },
  })
  await using kit = await aLadderOf({ 'test/writer': () => ({ chunks: ['a'] }) }, desk)
  const seen: Record<string, LadderEvent> = {}
  const turn = async (input: string, { requestId, sessionId = 's', ...more }: { requestId: string; sessionId?: string; state?: object }) => {
    const told: LadderEvent[] = []
    const leave = new AbortController()
    const on = {
      '*': (event: LadderEvent) => void (event.type.startsWith('orchestrator.') && told.push(event)),
      'supervisor.agent.starting': ({ agent: name }: LadderEvent) => name === 'hang' && leave.abort('enough'),
    }
    const history = ['one', 'two'].map((content) => ({ role: 'user' as const, content }))
    const { turnIndex } = await kit.clock.until(desk.execute(input, { sessionId, history, requestId, on, signal: leave.signal, ...more }))
    for (const event of told) {
      const number = event.type === 'orchestrator.turn.starting' ? {} : { turnIndex }
      expect(event).toMatchObject({ runId: requestId, rootRunId: requestId, sessionId, ...number })
      seen[event.type.slice('orchestrator.'.length)] = event
    }
    return told
      .filter(({ type }) => /turn\.(?:completed|failed|cancelled|awaiting-input)$/.test(type))
      .map(({ type }) => type.slice('orchestrator.turn.'.length))
  }
  expect(await turn('write', { requestId: 'one' })).toEqual(['awaiting-input'])
  expect(await turn('quick', { requestId: 'two', sessionId: 'torn' })).toEqual(['awaiting-input'])
  await store.lock('desk', 's', 'somebody', 1e12)
  expect(await turn('nobody', { requestId: 'three' })).toEqual(['failed'])
  await store.unlock('desk', 's', 'somebody')
  expect(await turn('again', { requestId: 'four' })).toEqual(['failed'])
  expect(await turn('hang', { requestId: 'five' })).toEqual(['cancelled'])
  expect(await turn('quick', { requestId: 'six', state: { isOver: true } })).toEqual(['completed'])

  const compaction = { summary: { role: 'system', content: expect.any(String) }, replacesFromIndex: 0, replacesToIndex: 0 }
  expect(seen).toMatchObject({
    'turn.starting': {},
    'session.loaded': { found: true },
    'drift.checked': { signature: desk.signature, drifted: false },
    'lock.waiting': { waitedMs: 0 },
    'history.windowed': { messageCount: 2 },
    'turn.routed': { source: 'route', raw: 'quick' },
    'turn.streaming': { delta: 'a' },
    'checkpoint.persisted': { lastRoute: 'quick' },
    'compaction.suggested': { compaction },
    'compaction.applied': { replacesFromIndex: 0, replacesToIndex: 0 },
    'compaction.failed': { phase: 'onCompact', error: { message: expect.stringContaining('no ink') } },
    'turn.completed': {},
    'turn.failed': { error: { code: 'SUPERVISOR_MAX_ITERATIONS' } },
    'turn.cancelled': { error: { code: 'SUPERVISOR_CANCELLED' } },
    'turn.awaiting-input': {},
  })
  expect(Object.keys(seen)).toHaveLength(15)
})
