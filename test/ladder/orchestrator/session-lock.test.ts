/** A lock of the caller's own around the turns of a session, in runtimes that share rows and locks, and no journals. */
import { expect, test } from 'vitest'
import { type CheckpointStore, type LadderEvent, ladder, memoryStore, orchestrator, type SessionLock } from '../../../src/ladder/index.ts'
import { testRuntime, type VirtualClock, virtualClock } from '../../../src/testing/index.ts'
import { killedAt, timeless } from '../a-ladder.ts'

/** One that all runtimes of a test share: who holds what, and until when. */
const aLock = (clock: VirtualClock, more: Partial<SessionLock> = {}) => {
  const held = new Map<string, { owner: string; until: number }>()
  const log: string[] = []
  const mine = (id: string, owner: string): boolean => {
    const one = held.get(id)
    return one?.owner === owner && one.until > clock.now()
  }
  const lock: SessionLock = {
    ttlMs: 3_000,
    maxWaitMs: 10_000,
    acquire({ sessionId }, owner, ttlMs) {
      const one = held.get(sessionId)
      if (one && one.owner !== owner && one.until > clock.now()) return false
      log.push(`acquire ${owner}`)
      held.set(sessionId, { owner, until: clock.now() + ttlMs })
      return true
    },
    renew({ sessionId }, owner, ttlMs) {
      log.push(`renew ${owner}`)
      if (!mine(sessionId, owner)) return false
      held.set(sessionId, { owner, until: clock.now() + ttlMs })
      return true
    },
    release({ sessionId }, owner) {
      log.push(`release ${owner}`)
      if (held.get(sessionId)?.owner === owner) held.delete(sessionId)
    },
    ...more,
  }
  return { lock, held, log }
}

type Code = { input: unknown; state: { order?: unknown[] }; signal: AbortSignal }
type Work = (input: unknown) => unknown

const aDesk = (checkpointStore: CheckpointStore, sessionLock: SessionLock, work: Work = () => undefined) =>
  orchestrator({
    name: 'desk',
    checkpointStore,
    sessionLock,
    state: { order: [] as unknown[] },
    intents: {
      work: async ({ input, state }: Code) => {
        await work(input)
        return { order: [...(state.order ?? []), input] }
      },
    },
    route: () => 'work' as const,
  })

/** A process of its own: only the rows and the lock are shared. */
const aRuntime = async (clock: VirtualClock, ...given: Parameters<typeof aDesk>) => {
  const desk = aDesk(...given)
  return { desk, kit: await testRuntime({ clock, extensions: [ladder({ executables: [desk] })] }) }
}
const said = (input: string) => ({ sessionId: 's', history: [], requestId: input })

test('[WL-024] turns of one session in two runtimes run one by one under a lock of the caller, and no update is lost', async () => {
  const clock = virtualClock()
  const store = memoryStore()
  const { lock, held, log } = aLock(clock)
  let running = 0
  const begun = Promise.withResolvers<void>()
  const work = async () => {
    expect(++running).toBe(1)
    begun.resolve()
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 2_500))
    running--
  }
  const [here, there] = [await aRuntime(clock, store, lock, work), await aRuntime(clock, store, lock, work)]
  const told: LadderEvent[] = []

  const first = here.desk.execute('a', said('a'))
  await clock.until(begun.promise)
  const second = there.desk.execute('b', { ...said('b'), on: { 'orchestrator.lock.waiting': (event) => void told.push(event) } })
  const results = await clock.until(Promise.all([first, second]))

  expect(results).toMatchObject([
    { turnIndex: 0, data: { order: ['a'] } },
    { turnIndex: 1, data: { order: ['a', 'b'] } },
  ])
  expect(told).toMatchObject([{ sessionId: 's', lock: 'session', waitedMs: 0 }])
  expect(log.filter((line) => !line.startsWith('renew'))).toEqual(['acquire a', 'release a', 'acquire b', 'release b'])
  expect(log.filter((line) => line === 'renew a').length).toBeGreaterThan(1)
  expect(held.size).toBe(0)
  for (const { kit } of [here, there]) {
    expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
    await kit.close()
  }
})

test('[WL-024] who waits for a lock for too long is told so, and one who is cancelled meanwhile never began; a session without a holder does not wait', async () => {
  const clock = virtualClock()
  const { lock, held } = aLock(clock, { maxWaitMs: 2_000 })
  const { desk, kit } = await aRuntime(clock, memoryStore(), lock)
  held.set('s', { owner: 'somebody', until: Number.POSITIVE_INFINITY })
  const began = clock.now()

  expect(await clock.until(desk.execute('a', said('a')))).toMatchObject({
    error: { code: 'ORCHESTRATOR_LOCKED', category: 'timeout', context: { sessionId: 's', waitedMs: 2_000 }, hint: expect.any(String) },
    report: { status: 'failed', children: [] },
  })
  expect(clock.now() - began).toBe(2_000)
  const waiting = desk.execute('b', said('b'))
  await clock.until(kit.runtime.actor('desk', 's').waitFor((at) => at.matches({ running: 'waiting-for-lock' })))
  await desk.cancel('s')
  expect(await clock.until(waiting)).toMatchObject({ error: { code: 'ORCHESTRATOR_CANCELLED' }, report: { children: [] } })
  expect(held.get('s')?.owner).toBe('somebody')
  expect(await clock.until(desk.execute('c', { ...said('c'), sessionId: 't' }))).toMatchObject({ turnIndex: 0, data: { order: ['c'] } })
  await kit.close()
})

test('[WL-024] a turn that loses its lock is stopped and stores nothing, also where that shows only when it is to be stored', async () => {
  const clock = virtualClock()
  const store = memoryStore()
  const { lock, held } = aLock(clock)
  const begun = Promise.withResolvers<void>()
  const { desk, kit } = await aRuntime(clock, store, lock, (input) => {
    begun.resolve()
    if (input === 'late') held.set('s', { owner: 'somebody', until: clock.now() + 1_000 })
    return input === 'long' ? new Promise(() => undefined) : undefined
  })
  const lost = { code: 'ORCHESTRATOR_LOCK_LOST', category: 'execution', context: { sessionId: 's' } }

  const long = desk.execute('long', said('long'))
  await clock.until(begun.promise)
  held.set('s', { owner: 'somebody', until: clock.now() + 5_000 })
  expect(await clock.until(long)).toMatchObject({ error: lost, report: { status: 'failed' } })
  expect(held.get('s')?.owner).toBe('somebody')
  expect(await clock.until(desk.execute('late', said('late')))).toMatchObject({ error: lost })
  expect(await store.rows('desk', 's')).toEqual([])
  expect(await clock.until(desk.execute('next', said('next')))).toMatchObject({ turnIndex: 0, data: { order: ['next'] } })
  expect(await kit.runtime.replay({ kind: 'desk', id: 's' })).toMatchObject({ verdict: 'identical' })
  await kit.close()
})

test('[WL-024] a lock that cannot be asked fails no turn before it runs out, and a release that fails is a warning', async () => {
  const clock = virtualClock()
  const { lock } = aLock(clock)
  let isDown = false
  const reached = <Value>(value: Value): Value => {
    if (isDown) throw new Error('no connection')
    return value
  }
  const moody: SessionLock = { ...lock, renew: (...all) => reached(lock.renew(...all)), release: (...all) => reached(lock.release(...all)) }
  const { desk, kit } = await aRuntime(clock, memoryStore(), moody, async (input) => {
    isDown = true
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, input === 'short' ? 2_500 : 60_000))
    isDown = input !== 'short'
  })

  expect(await clock.until(desk.execute('short', said('short')))).toMatchObject({ turnIndex: 0, data: { order: ['short'] } })
  const began = clock.now()
  expect(await clock.until(desk.execute('long', said('long')))).toMatchObject({ error: { code: 'ORCHESTRATOR_LOCK_LOST' } })
  expect(clock.now() - began).toBeLessThan(60_000)
  isDown = false
  const failing: SessionLock = { ...lock, release: () => Promise.reject(new Error('no connection')), acquire: () => true, renew: () => true }
  const other = await aRuntime(clock, memoryStore(), failing)
  expect(await clock.until(other.desk.execute('a', said('a')))).toMatchObject({
    turnIndex: 0,
    report: { status: 'awaiting-input', warnings: [expect.stringContaining('release() of the session lock failed: no connection')] },
  })
  const broken = await aRuntime(clock, memoryStore(), { ...failing, acquire: () => Promise.reject(new Error('no connection')) })
  expect(await clock.until(broken.desk.execute('a', said('a')))).toMatchObject({
    error: { code: 'ORCHESTRATOR_FAILED', message: 'acquire() of the session lock failed: no connection' },
  })
  for (const one of [kit, other.kit, broken.kit]) await one.close()
})

test('[WL-024] a turn that cannot begin gives the lock back, and the next one need not wait until it runs out', async () => {
  const clock = virtualClock()
  const { lock, held, log } = aLock(clock)
  const store = memoryStore()
  const broken: CheckpointStore = Object.assign(Object.create(store) as CheckpointStore, {
    load: () => Promise.reject(new Error('the disk is gone')),
  })
  const first = await aRuntime(clock, broken, lock)

  const failed = await clock.until(first.desk.execute('a', said('a')))
  const since = clock.now()

  expect(failed.error).toBeDefined()
  expect(log).toEqual(['acquire a', 'release a'])
  expect(held.size).toBe(0)
  const second = await aRuntime(clock, store, lock)
  expect(await clock.until(second.desk.execute('b', said('b')))).toMatchObject({ data: { order: ['b'] } })
  expect(clock.now() - since).toBeLessThan(lock.ttlMs as number)
  await Promise.all([first.kit.close(), second.kit.close()])
})

test('[WL-024] a holder that fails frees the next, one that is killed goes on with its own lock, at whichever commit', async () => {
  const clock = virtualClock()
  const { lock, held } = aLock(clock)
  const { desk, kit } = await aRuntime(clock, memoryStore(), lock, (input) => (input === 'bad' ? Promise.reject(new Error('no')) : undefined))
  expect(await clock.until(Promise.all(['bad', 'good'].map((input) => desk.execute(input, said(input)))))).toMatchObject([
    { error: { code: 'SUPERVISOR_FAILED' } },
    { turnIndex: 0, data: { order: ['good'] } },
  ])
  expect(held.size).toBe(0)
  await kit.close()

  const killed = async (commit: number) => {
    const own = virtualClock()
    const shared = aLock(own)
    const life = await aRuntime(own, memoryStore(), shared.lock)
    const result = await killedAt(life.kit, () => life.desk.execute('a', said('a')), commit)
    const replayed = result && (await life.kit.runtime.replay({ kind: 'desk', id: 's' }))
    await life.kit.crash()
    return { result: result && timeless(result), verdict: replayed?.verdict, free: shared.held.size === 0, ended: result === undefined }
  }
  const first = await killed(1)
  for (let commit = 2; ; commit++) {
    const told = await killed(commit)
    if (told.ended) {
      expect(commit).toBeGreaterThan(5)
      break
    }
    expect(told, `killed at commit ${commit}`).toEqual({ ...first, verdict: 'identical', free: true })
  }
})
