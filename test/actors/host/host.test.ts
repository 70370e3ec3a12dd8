/** Many roots in one process: each message once, bounded queues, sleep and waking. */
import { expect, test } from 'vitest'
import { assign, emit, fromCallback, setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { type MachineOptions, registerMachine } from '../../../src/actors/registration.ts'
import { effect } from '../../../src/actors/root/effect.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, codeOf, outcome, Puppets, type World } from '../support.ts'

const address = { kind: 'counter', id: 'one' }
const types = {} as { context: any; events: any; input: any }
const counting = (p = new Puppets(), options: MachineOptions = {}) =>
  registerMachine(
    'counter',
    setup({ types, actors: { phone: p.callback('phone'), work: p.promise('work') }, actions: { act: p.action('act') } }).createMachine({
      id: 'counter',
      context: ({ input }: any) => ({ n: input?.from ?? 0 }),
      initial: 'idle',
      on: {
        add: { actions: [assign({ n: ({ context }: any) => context.n + 1 }), emit(({ context }: any) => ({ type: 'n', n: context.n }))] },
        act: { actions: 'act' },
        said: { actions: assign({ n: ({ context }: any) => context.n + 100 }) },
      },
      states: {
        idle: { on: { alarm: 'waiting', call: 'calling', work: 'working', end: 'ended' } },
        waiting: { after: { 600000: { target: 'idle', actions: 'act' } } },
        calling: { invoke: { src: 'phone' }, on: { hang: 'idle' } },
        working: { invoke: { src: 'work', onDone: 'idle' } },
        ended: { type: 'final' },
      },
    }),
    options,
  )
/** A root is in the middle of its work when its process dies. */
const cutOff = async (): Promise<{ world: World; puppets: Puppets }> => {
  const world = await aWorld()
  const puppets = new Puppets()
  const first = await world.host([counting(puppets)])
  await outcome(world, first.send(address, { type: 'work' }))
  first.abandon()
  return { world, puppets }
}
/** Takes nothing before there is room. */
const fullStore = () => {
  const store = {
    full: true,
    wrap: (journal: Journal): Journal => ({
      ...journal,
      append: async (...args) => {
        if (store.full) throw new RuntimeError('log_full', 'no space', { retryable: true })
        return journal.append(...args)
      },
    }),
  }
  return store
}
const snapshotOf = async (host: Host, world: World) => (await world.clock.until(host.get(address))).replica?.actor.getSnapshot()

test('[INV-1, INV-2] one id takes effect once: repeated, in one batch, after a restart and after sleep', async () => {
  const world = await aWorld()
  const first = await world.host([counting()])
  const twins = await Promise.all([1, 2, 3].map(() => outcome(world, first.send(address, { type: 'add' }, { id: 'a' }))))
  const again = await outcome(world, first.send(address, { type: 'add' }, { id: 'a' }))
  first.abandon()
  const second = await world.host([counting()])
  const restarted = await outcome(world, second.send(address, { type: 'add' }, { id: 'a' }))
  await (await second.get(address)).close()
  const woken = await outcome(world, second.send(address, { type: 'add' }, { id: 'a' }))

  expect(twins.map((twin) => 'value' in twin && twin.value.duplicate)).toEqual([false, true, true])
  for (const repeated of [again, restarted, woken]) expect(repeated).toMatchObject({ value: { seq: 1, duplicate: true, emitted: [] } })
  expect((await snapshotOf(second, world))?.context.n).toBe(1)
})

test('a receipt tells what the message made the root emit, to its own sender only', async () => {
  const world = await aWorld()
  const host = await world.host([counting()])

  const receipts = await Promise.all([1, 2].map(() => outcome(world, host.send(address, { type: 'add' }))))

  expect(receipts).toMatchObject([{ value: { emitted: [{ type: 'n', n: 1 }] } }, { value: { emitted: [{ type: 'n', n: 2 }] } }])
})

/** A journal whose appends wait for a word. */
const held = () => {
  const waiting: (() => void)[] = []
  return {
    waiting,
    wrap: (journal: Journal): Journal => ({
      ...journal,
      append: async (...args) => {
        await new Promise<void>((resolve) => void waiting.push(resolve))
        return journal.append(...args)
      },
    }),
  }
}

test('inputs that arrive during an append share the next commit, and nothing leaves before its append', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const gate = held()
  const host = await world.host([counting(puppets)], { journal: gate.wrap })
  const settled: number[] = []
  const send = (n: number, type: string) => void host.send(address, { type }).then(() => settled.push(n))
  send(0, 'act')
  await world.clock.settle()
  for (let n = 1; n <= 20; n++) send(n, 'act')
  await world.clock.settle()
  const before = { log: puppets.log.length, settled: settled.length, commits: (await world.commits(address)).length }
  gate.waiting.shift()?.()
  await world.clock.settle()
  const between = { log: puppets.log.length, settled: settled.length }
  gate.waiting.shift()?.()
  await world.clock.settle()

  expect(before).toEqual({ log: 0, settled: 0, commits: 0 })
  expect(between).toEqual({ log: 1, settled: 1 })
  expect(settled).toEqual(Array.from({ length: 21 }, (_, n) => n))
  expect((await world.commits(address)).map(({ inputs }) => inputs.length)).toEqual([1, 20])
})

test('[INV-11] a full queue refuses with overloaded, and takes messages again when it has emptied', async () => {
  const world = await aWorld()
  const gate = held()
  const host = await world.host([counting()], { journal: gate.wrap, limits: { queueMax: 5 } })
  const first = host.send(address, { type: 'add' })
  await world.clock.settle()
  const sent = Array.from({ length: 8 }, () =>
    host.send(address, { type: 'add' }).then(
      () => 'ok',
      (error) => (error as { code: string }).code,
    ),
  )
  await world.clock.settle()
  while (gate.waiting.length > 0) {
    gate.waiting.shift()?.()
    await world.clock.settle()
  }
  const later = outcome(world, host.send(address, { type: 'add' }))
  await world.clock.settle()
  gate.waiting.shift()?.()

  await first
  expect(await Promise.all(sent)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'overloaded', 'overloaded', 'overloaded'])
  expect(await later).toMatchObject({ value: { duplicate: false } })
})

test('[INV-11] an effect that floods its root fails for it, and the root goes on', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)], { limits: { queueMax: 10, crashMax: 0 } })
  await outcome(world, host.send(address, { type: 'call' }))
  await world.clock.settle()

  for (let n = 0; n < 10_000; n++) puppets.control('phone').say({ type: 'said' })
  await world.clock.settle()

  const commits = await world.commits(address)
  expect(commits.reduce((sum, { inputs }) => sum + inputs.length, 0)).toBeLessThan(100)
  expect(commits.at(-1)?.quarantine).toMatchObject({ message: expect.stringContaining('more than could be written down') })
})

test('one commit has at most a thousand inputs and four megabytes', async () => {
  const world = await aWorld()
  const host = await world.host([counting()])

  await Promise.all(Array.from({ length: 2500 }, () => outcome(world, host.send(address, { type: 'add' }))))
  await Promise.all(Array.from({ length: 4 }, () => outcome(world, host.send(address, { type: 'add', text: 'x'.repeat(1_500_000) }))))

  expect((await world.commits(address)).map(({ inputs }) => inputs.length)).toEqual([1000, 1000, 500, 2, 2])
})

test('an idle root leaves memory and comes back by a message or by its timer, in time', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)], { limits: { idleMs: 60_000 } })
  await outcome(world, host.send(address, { type: 'add' }))
  await world.clock.advance(62_000)
  const asleep = host.liveCount
  await outcome(world, host.send(address, { type: 'alarm' }))
  const begun = world.clock.now()
  await world.clock.advance(62_000)
  const asleepWithTimer = host.liveCount
  await world.clock.advance(600_000 - 62_000 - 10)
  const early = [...puppets.log]
  await world.clock.advance(20)

  expect([asleep, asleepWithTimer]).toEqual([0, 0])
  expect(early).toEqual([])
  expect(puppets.log).toHaveLength(1)
  const timer = (await world.commits(address)).find(({ inputs }) => inputs.some((input) => 'timer' in input))
  expect(timer?.at).toBe(begun + 600_000)
  expect((await snapshotOf(host, world))?.context.n).toBe(1)
})

test('a root with a running effect stays; one that is done, or only acted, sleeps and is not woken again for nothing', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)], { limits: { idleMs: 10_000 } })
  await outcome(world, host.send(address, { type: 'work' }))
  await outcome(world, host.send({ kind: 'counter', id: 'actor' }, { type: 'act' }))
  await outcome(world, host.send({ kind: 'counter', id: 'ended' }, { type: 'end' }))
  await world.clock.advance(30_000)
  const live = host.liveCount
  const epochs = (await world.commits({ kind: 'counter', id: 'actor' })).map(({ epoch }) => epoch)
  await world.clock.advance(60_000)

  expect(live).toBe(1)
  expect((await world.commits({ kind: 'counter', id: 'actor' })).map(({ epoch }) => epoch)).toEqual(epochs)
  expect(puppets.log).toEqual(['start work', 'act on act'])
})

test('a root whose host died when all it had done was saved sleeps too, and is not woken again for nothing', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const first = await world.host([counting(puppets)], { limits: { snapshotEvery: 1 } })
  await outcome(world, first.send(address, { type: 'act' }))
  await world.clock.settle()
  first.abandon()
  expect((await world.journal.head(address))?.wakeAt).toBe(0)

  await world.host([counting(puppets)], { limits: { idleMs: 10_000 } })
  await world.clock.advance(30_000)
  expect((await world.journal.head(address))?.wakeAt).toBeNull()
  const commits = (await world.commits(address)).length
  await world.clock.advance(60_000)

  expect(await world.commits(address)).toHaveLength(commits)
  expect(puppets.log).toEqual(['act on act'])
})

test('a root that has ended leaves memory soon, however long others may stay, and is still there to be asked', async () => {
  const world = await aWorld()
  const host = await world.host([counting()], { limits: { idleMs: 3_600_000 } })
  await outcome(world, host.send(address, { type: 'add' }))
  for (const id of ['a', 'b', 'c']) await outcome(world, host.send({ kind: 'counter', id }, { type: 'end' }))
  await world.clock.advance(3_000)
  const live = host.liveCount

  expect(live).toBe(1)
  expect(await codeOf(world, host.send({ kind: 'counter', id: 'a' }, { type: 'add' }))).toBe('closed')
})

test('above liveMax the idlest roots leave early', async () => {
  const world = await aWorld()
  const host = await world.host([counting()], { limits: { liveMax: 10 } })
  for (let id = 0; id < 50; id++) await outcome(world, host.send({ kind: 'counter', id: `r${id}` }, { type: 'add' }))

  await world.clock.advance(2000)

  expect(host.liveCount).toBe(10)
  expect(await outcome(world, host.send({ kind: 'counter', id: 'r0' }, { type: 'add' }))).toMatchObject({ value: { seq: 2 } })
})

test('messages that meet a root on its way out wait for its return: none is lost, no effect runs twice', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)])
  await outcome(world, host.send(address, { type: 'act' }))
  const root = await host.get(address)
  const closing = root.close()

  const sent = await Promise.all([1, 2, 3].map(() => outcome(world, host.send(address, { type: 'add' }))))
  await closing

  expect(sent).toMatchObject([{ value: {} }, { value: {} }, { value: {} }])
  expect((await snapshotOf(host, world))?.context.n).toBe(3)
  expect(puppets.log).toEqual(['act on act'])
})

test('the input of a root counts also when somebody looked for it before', async () => {
  const world = await aWorld()
  const host = await world.host([counting()])
  await host.get(address)

  await outcome(world, host.send(address, { type: 'add' }, { input: { from: 40 } }))

  expect((await snapshotOf(host, world))?.context.n).toBe(41)
})

test('what has ended takes no more messages, but answers the repeated ones', async () => {
  const world = await aWorld()
  const host = await world.host([counting()])
  await outcome(world, host.send(address, { type: 'end' }, { id: 'e' }))

  expect(await codeOf(world, host.send(address, { type: 'add' }))).toBe('closed')
  expect(await outcome(world, host.send(address, { type: 'end' }, { id: 'e' }))).toMatchObject({ value: { duplicate: true } })
})

test('a root that cannot be opened is not tried every second, and a message is told why', async () => {
  const { world } = await cutOff()
  let reads = 0
  const other = registerMachine('counter', setup({}).createMachine({ id: 'counter', on: { add: { actions: [], target: undefined as never } } }))
  const host = await world.host([other], { journal: (journal) => ({ ...journal, read: (...args) => (reads++, journal.read(...args)) }) })
  await world.clock.advance(30_000)

  expect(reads).toBe(1)
  expect(await codeOf(world, host.get(address))).toBe('drift')
})

test('what an effect says while it is being stopped does not reach its parent any more', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([counting(puppets)])
  await outcome(world, host.send(address, { type: 'call' }))
  await world.clock.settle()
  const root = await host.get(address)

  const hung = root.send({ type: 'hang' })
  puppets.control('phone').say({ type: 'said' })
  await outcome(world, hung)
  await world.clock.settle()

  expect(root.replica?.actor.getSnapshot()).toMatchObject({ value: 'idle', context: { n: 0 } })
})

test('a store that is full delays waking what was cut off, not the start of its host; the work goes on when there is room', async () => {
  const { world, puppets } = await cutOff()
  const store = fullStore()
  const began = world.clock.now()

  await world.host([counting(puppets)], { journal: store.wrap })
  const waitedMs = world.clock.now() - began
  await world.clock.advance(300_000)
  store.full = false
  await world.clock.advance(31_000)

  expect(waitedMs).toBeLessThan(1000)
  expect(puppets.starts.map(({ attempt }) => attempt)).toEqual([1, 2])
})

test('a store that is away for a while delays waking, and is asked ever less often', async () => {
  const { world, puppets } = await cutOff()
  let away = true
  let asked = 0
  const host = await world.host([counting(puppets)], {
    journal: (journal) => ({
      ...journal,
      read: (...args) => {
        asked++
        if (away) throw new RuntimeError('log_unavailable', 'away', { retryable: true })
        return journal.read(...args)
      },
    }),
  })
  await world.clock.advance(60_000)
  const before = asked
  away = false
  await world.clock.advance(60_000)

  expect(before).toBeLessThan(8)
  expect(host.liveCount).toBe(1)
  expect(puppets.starts.map(({ restarted }) => restarted)).toEqual([false, true])
})

test('close refuses new messages from the first moment and keeps what was taken', async () => {
  const world = await aWorld()
  const gate = held()
  const host = await world.host([counting()], { journal: gate.wrap })
  const taken = host.send(address, { type: 'add' })
  await world.clock.settle()
  const closing = host.close()
  const refused = await codeOf(world, host.send(address, { type: 'add' }))
  gate.waiting.shift()?.()
  await world.clock.until(closing)

  expect(refused).toBe('closed')
  expect(await taken).toMatchObject({ seq: 1 })
  expect(host.liveCount).toBe(0)
})

test('waiting for commits that do not come leaves nothing behind', async () => {
  const world = await aWorld()
  const host = await world.host([counting()])
  await outcome(world, host.send(address, { type: 'add' }))
  const timers = world.clock.pending()

  for (let n = 0; n < 50; n++) await world.clock.until(host.nextCommit(address, 100))
  const next = host.nextCommit(address, 60_000)
  await outcome(world, host.send(address, { type: 'add' }))
  await next

  expect(world.clock.pending()).toBe(timers)
})

test('what another node was in the middle of is taken up soon after it let go, however long that took', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const first = await world.host([counting(puppets)])
  await outcome(world, first.send(address, { type: 'work' }))
  let elsewhere = true
  const admit = async () => {
    if (elsewhere) throw new RuntimeError('fenced', 'on another node', { retryable: true, data: { node: 'other' } })
  }
  await world.host([counting(puppets)], { placement: { has: () => true, admit, sure: () => true } })
  await world.clock.advance(100_000)
  expect(puppets.starts).toHaveLength(1)

  first.abandon()
  elsewhere = false
  await world.clock.advance(3_000)

  expect(puppets.starts.map(({ attempt }) => attempt)).toEqual([1, 2])
})

test('a store that takes something again is there for all whom it kept asleep', async () => {
  const { world, puppets } = await cutOff()
  const store = fullStore()
  const host = await world.host([counting(puppets)], { journal: store.wrap })
  // So that its present pause has just begun.
  await world.clock.advance(65_000)
  expect(puppets.starts).toHaveLength(1)

  store.full = false
  await outcome(world, host.send({ kind: 'counter', id: 'another' }, { type: 'add' }))
  await world.clock.advance(4_000)

  expect(puppets.starts.map(({ attempt }) => attempt)).toEqual([1, 2])
})

test('a host that drains waits for an effect that works, and not for one that says that it only waits', async () => {
  const world = await aWorld()
  const ref: { waits?: (only: boolean) => void } = {}
  const phone = fromCallback(({ self }) => void (ref.waits = effect(self).waits))
  const machine = setup({ types, actors: { phone } }).createMachine({ invoke: { src: 'phone' } })
  const host = await world.host([registerMachine('caller', machine)])
  await outcome(world, host.create({ kind: 'caller', id: 'one' }))
  const settled = () => world.clock.until(host.settled(1000))

  expect(await settled()).toBe(false)
  ref.waits?.(true)
  expect(await settled()).toBe(true)
  ref.waits?.(false)
  expect(await settled()).toBe(false)
  expect(host.busyCount).toBe(1)
})
