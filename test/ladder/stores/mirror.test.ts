/** Runs in flight as a store has them. */
import { afterEach, expect, test, vi } from 'vitest'
import {
  END,
  type LadderEvent,
  memorySnapshots,
  memoryStore,
  orchestrator,
  type RunSnapshot,
  type SnapshotStore,
  setLadderDefaults,
  supervisor,
  workflow,
} from '../../../src/ladder/index.ts'
import type { RunState } from '../../../src/ladder/run.rules.ts'
import { Mirror } from '../../../src/ladder/stores/mirror.ts'
import { aLadder, killedAt, timeless } from '../a-ladder.ts'

afterEach(() => setLadderDefaults({ defaultSnapshotStore: undefined }))

const spied = () => {
  const saved: RunSnapshot[] = []
  const store = memorySnapshots()
  const snapshotStore: SnapshotStore = { ...store, save: (snapshot) => (saved.push(snapshot), store.save(snapshot)) }
  return { saved, store, snapshotStore }
}
const broken: SnapshotStore = { ...memorySnapshots(), save: () => Promise.reject(new Error('disk full')) }

const flowOf = (snapshotStore?: SnapshotStore, fails = () => false) =>
  workflow({
    name: 'flow',
    state: { n: 0 },
    steps: [
      { name: 'one', run: ({ state }) => void state.n++ },
      {
        name: 'both',
        parallel: [
          { name: 'left', run: () => 1 },
          { name: 'right', run: () => 2 },
        ],
      },
      { name: 'last', run: () => (fails() ? Promise.reject(new Error('no')) : 'done') },
    ],
    ...(snapshotStore && { snapshotStore }),
  })
const deskOf = (snapshotStore?: SnapshotStore) =>
  supervisor({
    name: 'desk',
    state: { n: 0 },
    intents: { add: ({ state }) => ({ n: state.n + 1 }) },
    route: ({ iteration }) => (iteration < 2 ? 'add' : END),
    ...(snapshotStore && { snapshotStore }),
  })

test('[WL-113, WL-049] a workflow is saved after each step, once for a group, and at its end; a failed step is the next one', async () => {
  const { saved, store, snapshotStore } = spied()
  let isBroken = true
  const flow = flowOf(snapshotStore, () => isBroken)
  await using kit = await aLadder(flow)
  await kit.clock.until(flow.execute({}, { runId: 'r' }))
  await vi.waitFor(async () => expect((await store.load('r'))?.status).toBe('failed'))
  expect(saved.map(({ next, status }) => [next, status])).toEqual([
    ['both', 'running'],
    ['last', 'running'],
    ['last', 'running'],
    ['last', 'failed'],
  ])
  expect(saved[1]).toMatchObject({ runId: 'r', type: 'workflow', name: 'flow', state: { n: 1 }, steps: { left: { output: 1 }, both: {} } })
  isBroken = false
  expect(await kit.clock.until(flow.resume('r'))).toMatchObject({ data: 'done' })
  await vi.waitFor(async () => expect(await store.load('r')).toMatchObject({ status: 'completed', next: null }))
})

test('[WL-049] a run that was cancelled is saved as cancelled, with what it would do next', async () => {
  const { store, snapshotStore } = spied()
  const leave = new AbortController()
  const flow = workflow({
    name: 'flow',
    steps: [
      { name: 'one', run: () => 1 },
      { name: 'hang', run: () => (leave.abort('enough'), new Promise(() => undefined)) },
    ],
    snapshotStore,
  })
  await using kit = await aLadder(flow)
  await kit.clock.until(flow.execute({}, { runId: 'r', signal: leave.signal }))
  await vi.waitFor(async () => expect(await store.load('r')).toMatchObject({ runId: 'r', status: 'cancelled', next: 'hang' }))
})

test('[WL-101] a supervisor is saved after each iteration, and at its end', async () => {
  const { saved, store, snapshotStore } = spied()
  const desk = deskOf(snapshotStore)
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('go', { runId: 'r' }))
  await vi.waitFor(async () => expect((await store.load('r'))?.status).toBe('completed'))
  expect(saved.map(({ status, state, next }) => [status, state, next])).toEqual([
    ['running', { n: 1 }, null],
    ['running', { n: 2 }, null],
    ['completed', { n: 2 }, []],
  ])
  const time = expect.any(Number)
  expect(saved[1]).toMatchObject({
    type: 'supervisor',
    iterations: [
      { number: 0 },
      {
        number: 1,
        decision: { source: 'route', next: ['add'], duration: 0 },
        branches: { add: { status: 'completed' } },
        state: { n: 2 },
        usage: { total: 0 },
        startedAt: time,
        endedAt: time,
      },
    ],
  })
})

test.for([
  ['workflow', flowOf(broken), 3],
  ['supervisor', deskOf(broken), 2],
] as const)('[WL-049] a store that cannot save fails no %s: each time it is told, and warned of once', async ([type, it, times]) => {
  const heard: LadderEvent[] = []
  await using kit = await aLadder(it)
  const { error } = await kit.clock.until(it.execute({}, { on: { [`${type}.snapshot.failed`]: (event) => void heard.push(event) } }))
  await kit.runtime.settled(1_000)
  expect(error).toBeUndefined()
  expect(heard).toHaveLength(times)
  expect(heard[0]).toMatchObject({ [type]: it.name, error: { code: 'STORE_FAILED', message: expect.stringContaining('disk full') } })
  expect(kit.log.filter(({ level, message }) => level === 'warn' && message?.includes('snapshots'))).toHaveLength(1)
})

test('[WL-113, WL-101] killed at any commit, the store says in the end what it would have said', async () => {
  for (const made of [flowOf, deskOf]) {
    const { store, snapshotStore } = spied()
    const it = made(snapshotStore)
    await using kit = await aLadder(it)
    const whole = await kit.clock.until(it.execute('go', { runId: 'r' }))
    await vi.waitFor(async () => expect((await store.load('r'))?.status).toBe('completed'))
    const told = timeless({ ...(await store.load('r')), at: 0 })
    const { seq } = await kit.runtime.actor(it.name, 'r').snapshot()
    for (let commit = 1; commit <= seq; commit++) {
      const again = spied()
      const doomed = made(again.snapshotStore)
      await using other = await aLadder(doomed)
      expect(timeless(await killedAt(other, () => doomed.execute('go', { runId: 'r' }), commit))).toEqual(timeless(whole))
      await vi.waitFor(async () => expect((await again.store.load('r'))?.status, `killed at commit ${commit}`).toBe('completed'))
      expect(timeless({ ...(await again.store.load('r')), at: 0 }), `killed at commit ${commit}`).toEqual(told)
      expect(await other.runtime.replay({ kind: it.name, id: 'r' })).toMatchObject({ verdict: 'identical' })
    }
  }
})

test.for([true, false])('[WL-040, WL-013] an orchestrator saves turns that iterate, and no others: iterate %s', async (iterate) => {
  const [named, common] = [spied(), spied()]
  const deskOfSession = (snapshotStore?: SnapshotStore) =>
    orchestrator({
      name: 'desk',
      iterate,
      checkpointStore: memoryStore(),
      intents: { add: () => ({ done: true }) },
      route: ({ iteration }) => (iteration < 1 ? 'add' : END),
      ...(snapshotStore && { snapshotStore }),
    })
  setLadderDefaults({ defaultSnapshotStore: common.snapshotStore })
  for (const desk of [deskOfSession(named.snapshotStore), deskOfSession()]) {
    await using kit = await aLadder(desk)
    await kit.clock.until(desk.execute('go', { sessionId: 's', history: [] }))
    await kit.runtime.settled(1_000)
  }
  const statuses = iterate ? ['running', 'completed'] : []
  for (const { saved } of [named, common]) expect(saved.map(({ status }) => status)).toEqual(statuses)
})

test('[WL-012, WL-040] what cannot be a store is said where it is written; one that iterates cannot do without', () => {
  const bad = (snapshotStore: unknown, iterate: boolean) => () =>
    orchestrator({ name: 'desk', iterate, intents: { add: () => ({}) }, route: () => END, snapshotStore: snapshotStore as false })
  expect(bad(false, true)).toThrow(expect.objectContaining({ code: 'ORCHESTRATOR_CONFIG' }))
  expect(bad({}, false)).toThrow(expect.objectContaining({ code: 'ORCHESTRATOR_CONFIG' }))
  expect(bad(false, false)).not.toThrow()
  expect(() => flowOf({} as never)).toThrow(expect.objectContaining({ code: 'WORKFLOW_ERROR' }))
  expect(() => deskOf({} as never)).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG' }))
})

/** A mirror alone, on a store that saves each snapshot only when it is let. */
const onSlowStore = () => {
  const begun: string[] = []
  const saved: string[] = []
  const gates: (() => void)[] = []
  const named = ({ runId, status, next }: RunSnapshot) => `${runId} ${status} ${String(next)}`
  const save = async (snapshot: RunSnapshot): Promise<void> => {
    begun.push(named(snapshot))
    await new Promise<void>((resolve) => void gates.push(resolve))
    saved.push(named(snapshot))
  }
  const mirror = new Mirror<RunState, string>({
    type: 'workflow',
    name: 'flow',
    store: () => ({ ...memorySnapshots(), save }),
    signature: () => 's',
    clock: () => 1,
    timer: () => undefined,
    warn: () => undefined,
    after: (_, work) => ({ next: work, state: {}, steps: {} }),
    atEnd: () => ({ next: null, state: {}, steps: {} }),
  })
  const run = (runId: string) => ({ runId }) as RunState
  const settle = (runId: string, work: string, signal = new AbortController().signal) =>
    mirror.settled(run(runId), work, 'ended', { signal, emit: () => undefined })
  /** Lets them be saved one after the other, until none has begun. */
  const letAll = async () => {
    for (let idle = 0; idle < 10; idle++) {
      const gate = gates.shift()
      if (gate) idle = 0
      gate?.()
      await new Promise(setImmediate)
    }
  }
  return { begun, saved, settle, end: (runId: string) => mirror.ended(run(runId)), letAll }
}

test('[WL-049] snapshots of one run are saved in their order where the store is slow, and those of another run do not wait for them', async () => {
  const { begun, saved, settle, end, letAll } = onSlowStore()

  const settled = [settle('r', 'one'), settle('r', 'two')]
  end('r')
  const other = settle('other', 'one')
  await new Promise(setImmediate)
  expect(begun).toEqual(['r running one', 'other running one'])
  await letAll()
  await Promise.all([...settled, other])

  expect(saved.filter((one) => one.startsWith('r '))).toEqual(['r running one', 'r running two', 'r completed null'])
})

test('[WL-049] a snapshot of work that is wanted no more is not saved, and the next one is', async () => {
  const { saved, settle, end, letAll } = onSlowStore()
  const leave = new AbortController()

  const first = settle('r', 'one')
  const unwanted = settle('r', 'two', leave.signal)
  leave.abort()
  end('r')
  await letAll()
  await Promise.all([first, unwanted])

  expect(saved).toEqual(['r running one', 'r completed null'])
})

test('[WL-049] a run that is cancelled while its store is slow is cancelled there in the end', async () => {
  const gate = Promise.withResolvers<void>()
  const store = memorySnapshots()
  const begun: string[] = []
  const leave = new AbortController()
  const snapshotStore: SnapshotStore = {
    ...store,
    save: async (snapshot) => {
      begun.push(snapshot.status)
      if (begun.length === 1) {
        leave.abort('enough')
        await gate.promise
      }
      await store.save(snapshot)
    },
  }
  const flow = flowOf(snapshotStore)
  await using kit = await aLadder(flow)
  await kit.clock.until(flow.execute({}, { runId: 'r', signal: leave.signal }))
  await kit.clock.settle()
  expect(begun).toEqual(['running'])

  gate.resolve()

  await vi.waitFor(async () => expect((await store.load('r'))?.status).toBe('cancelled'))
  expect(begun).toEqual(['running', 'cancelled'])
})
