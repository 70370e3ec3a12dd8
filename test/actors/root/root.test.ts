/** Journals that do not fit, clocks that jump, delays without end, effects that return what nobody can store. */
import { expect, test } from 'vitest'
import { type AnyActorRef, assign, fromPromise, raise, sendTo, setup, spawnChild } from 'xstate'
import { Host } from '../../../src/actors/host/host.ts'
import { checksum, decode, encode } from '../../../src/actors/journal/codec.ts'
import { replay } from '../../../src/actors/journal/replay.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import { effect, fromTask } from '../../../src/actors/root/effect.ts'
import type { Commit } from '../../../src/contracts/journal.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, codeOf, outcome, Puppets, type World } from '../support.ts'

const types = {} as { context: any; events: any; input: any }
const address = { kind: 'm', id: 'one' }
const counter = (more: object = {}) =>
  setup({ types }).createMachine({
    id: 'm',
    context: { n: 0 },
    on: { add: { actions: assign({ n: ({ context }: any) => context.n + 1 }) } },
    ...more,
  })
const plain = registerMachine('m', counter())
const add = (world: World, host: { send: any }, times = 1) =>
  Promise.all(Array.from({ length: times }, () => outcome(world, host.send(address, { type: 'add' }))))
const nOf = async (host: { get: any }) => (await host.get(address)).replica.actor.getSnapshot().context.n

test('[INV-13] a machine of another structure is refused with drift, forced on request', async () => {
  const world = await aWorld()
  const first = await world.host([plain])
  await add(world, first)
  first.abandon()
  const changed = counter({ initial: 'a', states: { a: {} } })

  const refusing = await world.host([registerMachine('m', changed)])
  const forcing = await world.host([registerMachine('m', changed, { onDrift: 'force' })])

  expect(await outcome(world, refusing.send(address, { type: 'add' }))).toMatchObject({
    code: 'drift',
    error: { data: { recorded: plain.signature } },
  })
  expect((await add(world, forcing))[0]).toMatchObject({ value: { seq: 2 } })
  expect(await nOf(forcing)).toBe(2)
})

test('a machine that has the same structure and now fails on what is recorded is drift too, and replay says different', async () => {
  const world = await aWorld()
  const host = await world.host([plain])
  await add(world, host)
  await add(world, host)
  host.abandon()
  const moody = registerMachine(
    'm',
    counter({
      on: {
        add: {
          actions: assign({
            n: ({ context }: any) => {
              if (context.n > 0) throw new Error('moody')
              return context.n + 1
            },
          }),
        },
      },
    }),
  )

  const next = await world.host([moody])

  expect(await outcome(world, next.send(address, { type: 'add' }))).toMatchObject({ code: 'drift', message: expect.stringContaining('moody') })
  expect(await replay(world.journal, address, moody)).toMatchObject({ verdict: 'different', difference: { seq: 2 } })
})

test('[INV-13] recovery that arrives at another state than was recorded is drift, not a silently different actor', async () => {
  const world = await aWorld()
  let draw = 0
  const lottery = registerMachine('m', counter({ on: { add: { actions: assign({ n: () => ++draw }) } } }))
  const host = await world.host([lottery])
  await add(world, host)
  host.abandon()

  const next = await world.host([lottery])
  const refusal = await outcome(world, next.send(address, { type: 'add' }))
  const forcing = await world.host([registerMachine('m', counter({ on: { add: { actions: assign({ n: () => ++draw }) } } }), { onDrift: 'force' })])

  expect(refusal).toMatchObject({ code: 'drift', error: { hint: expect.stringContaining('statecast replay m/one') } })
  expect((await add(world, forcing))[0]).toMatchObject({ value: { seq: 2 } })
})

test('[INV-1] nobody sees a state before it is durable: a reader waits for the commit, and is told when the store is in trouble', async () => {
  const world = await aWorld()
  let append: 'at once' | Promise<unknown> = 'at once'
  const host = await world.host([plain], {
    journal: (journal) => ({
      ...journal,
      append: async (...args) => {
        await append
        return journal.append(...args)
      },
    }),
  })
  await add(world, host)
  const { promise, resolve } = Promise.withResolvers<void>()
  append = promise
  const sent = add(world, host)
  await world.clock.settle()

  let read: number | undefined
  const reading = host.read(address).then(({ snapshot }) => void (read = (snapshot as { context: { n: number } }).context.n))
  await world.clock.settle()
  const before = read
  resolve()
  await world.clock.until(Promise.all([sent, reading]))

  expect([before, read]).toEqual([undefined, 2])
})

test('[INV-5, CH-76] a host that was frozen while another took over lets nothing out of what it had written before', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const acting = registerMachine(
    'm',
    setup({ types, actions: { act: puppets.action('act') } }).createMachine({ id: 'm', on: { add: { actions: 'act' } } }),
  )
  let frozen: Promise<unknown> | undefined
  const first = await world.host([acting], {
    journal: (journal) => ({
      ...journal,
      append: async (...args) => {
        const answer = await journal.append(...args)
        await frozen
        return answer
      },
    }),
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  frozen = promise
  const sent = outcome(world, first.send(address, { type: 'add' }))
  await world.clock.settle()
  const second = await world.host([acting])
  await world.clock.advance(10_000)
  const log = [...puppets.log]
  resolve()
  await world.clock.settle()

  expect(await sent).toMatchObject({ code: 'fenced' })
  expect(puppets.log).toEqual(log)
  second.abandon()
})

/** Its effect waits, asks whether its host still owns the actor, and acts. */
const careful = (world: World, acted: string[], waitsMs: number) =>
  registerMachine(
    'm',
    setup({
      types,
      actors: {
        pay: fromPromise(async ({ self }) => {
          await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, waitsMs))
          await effect(self as AnyActorRef).confirm()
          acted.push(`acts as attempt ${effect(self as AnyActorRef).attempt}`)
        }),
      },
    }).createMachine({ id: 'm', initial: 'idle', states: { idle: { on: { add: 'paying' } }, paying: { invoke: { src: 'pay', onDone: 'idle' } } } }),
  )

test('[INV-5] an effect that asks whether its host still owns the actor is told when it does not', async () => {
  const world = await aWorld()
  const acted: string[] = []
  const machine = careful(world, acted, 5_000)
  const first = await world.host([machine])
  await add(world, first)
  await world.clock.advance(1000)
  await world.host([machine])
  await world.clock.advance(20_000)

  expect(acted).toEqual(['acts as attempt 2'])
})

test('[INV-5] where a node could not renew its word, an effect asks the journal, however little time has passed', async () => {
  const world = await aWorld()
  const acted: string[] = []
  const machine = careful(world, acted, 100)
  const placed = (sure: boolean) => ({ placement: { has: () => true, admit: async () => undefined, sure: () => sure } })
  const first = await world.host([machine], placed(false))
  await add(world, first)
  await world.clock.advance(50)
  // Whoever missed it takes over at once.
  await world.host([machine], placed(true))
  await world.clock.advance(20_000)

  expect(acted).toEqual(['acts as attempt 2'])
})

test('a journal that answers slowly holds nobody up whose lease is good', async () => {
  const world = await aWorld()
  const acted: string[] = []
  let asked = 0
  const machine = careful(world, acted, 5_000)
  const host = await world.host([machine], {
    placement: { has: () => true, admit: async () => undefined, sure: () => true },
    journal: (journal) => ({
      ...journal,
      last: async (of) => {
        asked++
        await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, 400))
        return journal.last(of)
      },
    }),
  })
  await add(world, host)
  asked = 0
  await world.clock.advance(10_000)

  expect({ acted, asked }).toEqual({ acted: ['acts as attempt 1'], asked: 1 })
})

test('what is written while the journal is asked does not look like an end that was lost', async () => {
  const world = await aWorld()
  const acted: string[] = []
  const host = await world.host([careful(world, acted, 5_000)], {
    placement: { has: () => true, admit: async () => undefined, sure: () => true },
    journal: (journal) => ({
      ...journal,
      // It answers at once, and the answer is long on its way.
      last: async (of) => {
        const last = await journal.last(of)
        await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, 400))
        return last
      },
    }),
  })
  await add(world, host)
  await world.clock.advance(5_100)
  const [second] = await add(world, host)
  await world.clock.advance(10_000)

  expect(second).toMatchObject({ value: { seq: 2 } })
  expect(acted).toEqual(['acts as attempt 1'])
})

/** A journal in which commit `at` reads as something else. */
const changed =
  (at: number, change: (commit: Commit) => unknown) =>
  (journal: Journal): Journal => ({
    ...journal,
    read: async (...args) =>
      (await journal.read(...args)).map((frame) => (frame.seq === at ? { seq: at, bytes: encode(change(decode(frame.bytes) as Commit)) } : frame)),
  })

test.each<[string, (commit: Commit) => unknown]>([
  ['a broken chain', (commit) => ({ ...commit, prev: 1 })],
  ['another epoch without a claim', (commit) => ({ ...commit, epoch: 5 })],
  ['an epoch that fell', (commit) => ({ ...commit, epoch: 0 })],
  ['another writer in the same epoch', (commit) => ({ ...commit, writer: 'somebody' })],
  ['a claim that leaps', (commit) => ({ ...commit, claim: true, epoch: 7 })],
  ['another sequence', (commit) => ({ ...commit, seq: 9 })],
  ['another address', (commit) => ({ ...commit, address: 'm/two' })],
  ['another version', (commit) => ({ ...commit, v: 2 })],
  ['no commit at all', () => 'garbage'],
])('[INV-3, INV-4] %s is reported as corrupt_at with its place, never skipped; other roots go on', async (_name, change) => {
  const world = await aWorld()
  const first = await world.host([plain])
  for (let n = 0; n < 3; n++) await add(world, first)
  first.abandon()

  const host = await world.host([plain], { journal: changed(2, change) })
  const refused = await outcome(world, host.send(address, { type: 'add' }))

  expect(refused).toMatchObject({ code: 'corrupt_at', error: { data: { seq: 2 } } })
  expect((await world.commits(address)).length).toBe(3)
  expect(await codeOf(world, host.send({ kind: 'm', id: 'two' }, { type: 'add' }))).toBe('ok')
})

test('[INV-3, INV-4] sequences have no gap, epochs never fall, each commit names the one before', async () => {
  const world = await aWorld()
  for (let round = 0; round < 4; round++) {
    const host = await world.host([plain])
    await add(world, host)
    await add(world, host)
    host.abandon()
  }

  const commits = await world.commits(address)

  expect(commits.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(commits.map(({ epoch }) => epoch)).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
  expect(commits.map(({ claim = false }) => claim)).toEqual([true, false, true, false, true, false, true, false])
})

/** A snapshot that says something else, and is whole. */
const saying =
  (change: (content: any) => object) =>
  (sealed: any): object => {
    const content = encode(change(decode(sealed.content)))
    return { ...sealed, checksum: checksum(content), content }
  }

test.each<[string, (sealed: any) => unknown]>([
  ['corrupt', () => 'garbage'],
  [
    'not what its checksum says',
    (sealed) => ({ ...sealed, content: sealed.content.map((byte: number, at: number) => (at === 40 ? byte ^ 1 : byte)) }),
  ],
  ['of a version to come', (sealed) => ({ ...sealed, v: 3 })],
  ['of the version before, which was bound to nothing', (sealed) => ({ v: 1, ...(decode(sealed.content) as object) })],
  ['of another actor', saying((content) => ({ ...content, address: 'm/two' }))],
  ['of an earlier life of this actor', saying((content) => ({ ...content, ledger: { ...content.ledger, birth: 1, prev: 2 } }))],
  ['of another machine', saying((content) => ({ ...content, signature: 'ffffffffffffffff' }))],
  ['of another sequence', saying((content) => ({ ...content, ledger: { ...content.ledger, seq: 1 } }))],
  [
    'changed in its tree',
    saying(({ replica, ...content }) => ({ ...content, replica: { ...replica, tree: { ...replica.tree, context: { n: 1000 } } } })),
  ],
  ['without its tree', saying((content) => ({ ...content, replica: {} }))],
])('[INV-13] a snapshot that is %s is ignored: the journal has it all', async (_name, change) => {
  const world = await aWorld()
  const first = await world.host([plain], { limits: { snapshotEvery: 2 } })
  for (let n = 0; n < 5; n++) await add(world, first)
  first.abandon()
  let shown = 0
  const tampered = (journal: Journal): Journal => ({
    ...journal,
    snapshot: async (...args) => {
      const frame = await journal.snapshot(...args)
      if (frame) shown++
      return frame && { seq: frame.seq, bytes: encode(change(decode(frame.bytes))) }
    },
  })

  const host = await world.host([plain], { journal: tampered })
  await add(world, host)

  expect(shown).toBe(1)
  expect(await nOf(host)).toBe(6)
})

test('with a snapshot only its own commit and what came after it are read, and the chain still holds', async () => {
  const world = await aWorld()
  const first = await world.host([plain], { limits: { snapshotEvery: 4 } })
  for (let n = 0; n < 10; n++) await add(world, first)
  first.abandon()
  const from: number[] = []

  const host = await world.host([plain], { journal: (journal) => ({ ...journal, read: (...args) => (from.push(args[1]), journal.read(...args)) }) })
  await add(world, host)

  expect(from).toEqual([8])
  expect(await nOf(host)).toBe(11)
})

test('a context that no snapshot can hold is rebuilt from the journal, and replays', async () => {
  const world = await aWorld()
  const circle: any = { map: new Map() }
  circle.self = circle
  const odd = registerMachine('m', counter({ context: { n: 0, odd: circle, fn: () => 1, symbol: Symbol('x') } }))
  const first = await world.host([odd], { limits: { snapshotEvery: 1 } })
  for (let n = 0; n < 3; n++) await add(world, first)
  first.abandon()

  const host = await world.host([odd])
  await add(world, host)

  expect(await nOf(host)).toBe(4)
  expect(await world.journal.snapshot(address)).toBeUndefined()
  expect(await replay(world.journal, address, odd)).toMatchObject({ verdict: 'identical', commits: 4 })
})

test('[INV-14] recorded times never go back when the clock jumps two hours either way, and new delays keep their length', async () => {
  const world = await aWorld()
  let skew = 0
  const clock = { ...world.clock, now: () => world.clock.now() + skew }
  const timed = registerMachine(
    'm',
    counter({
      on: { add: { actions: raise({ type: 'ping' }, { delay: 1000 }) }, ping: { actions: assign({ n: ({ context }: any) => context.n + 1 }) } },
    }),
  )
  const host = await world.host([timed], { clock })
  for (const jump of [0, 7_200_000, -7_200_000, 0, -7_200_000]) {
    skew += jump
    await add(world, host)
    const before = await nOf(host)
    await world.clock.advance(990)
    expect(await nOf(host)).toBe(before)
    await world.clock.advance(20)
    expect(await nOf(host)).toBe(before + 1)
  }

  const times = (await world.commits(address)).map(({ at }) => at)

  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('[INV-13] timers count from the recorded time of their input, also where time passes while it is applied', async () => {
  const world = await aWorld()
  let reads = 0
  const clock = { ...world.clock, now: () => world.clock.now() + reads++ }
  const timed = registerMachine(
    'm',
    counter({ on: { add: { actions: [raise({ type: 'ping' }, { delay: 100 }), assign({ n: ({ context }: any) => context.n + 1 })] }, ping: {} } }),
  )
  const host = await world.host([timed], { clock })
  for (let n = 0; n < 3; n++) await add(world, host)
  await world.clock.advance(50)

  const { verdict, commits } = await replay(world.journal, address, timed)

  expect([verdict, commits]).toEqual(['identical', 3])
})

test.each([
  ['longer than a JavaScript timer', 2 ** 31 + 5000],
  ['three months', 90 * 86_400_000],
])('a delay of %s fires when it is due, not before', async (_name, delay) => {
  const world = await aWorld()
  const machine = registerMachine('m', counter({ entry: raise({ type: 'add' }, { delay }) }))
  // Not started, or it would look for work every second of these months.
  const host = new Host({ journal: world.journal, environment: world.environment, registrations: [machine] })
  await add(world, host)

  await world.clock.advance(delay - 10)
  const early = await nOf(host)
  await world.clock.advance(20)

  expect([early, await nOf(host)]).toEqual([1, 2])
})

test('delays of Infinity never fire, those of NaN and below zero at once', async () => {
  const world = await aWorld()
  const p = new Puppets()
  const machine = registerMachine(
    'm',
    setup({ types, actions: { act: p.action('act') } }).createMachine({
      id: 'm',
      entry: [
        raise({ type: 'never' }, { delay: Number.POSITIVE_INFINITY }),
        raise({ type: 'nan' }, { delay: Number.NaN }),
        raise({ type: 'minus' }, { delay: -5 }),
      ],
      on: { '*': { actions: 'act' }, begin: { actions: 'act' } },
    }),
  )
  const host = await world.host([machine])
  await outcome(world, host.send(address, { type: 'begin' }))
  await world.clock.advance(10_000)
  host.abandon()
  await world.host([machine])
  await world.clock.advance(10_000)

  expect(p.log.slice(0, 3)).toEqual(['act on begin', 'act on nan', 'act on minus'])
  expect(p.log).not.toContain('act on never')
})

class Thing {}
test.each<[string, () => unknown]>([
  ['a function', () => act],
  ['a Map', () => new Map([[1, 2]])],
  ['a class instance', () => ({ thing: new Thing() })],
  [
    'a circle',
    () => {
      const circle: any = {}
      circle.circle = circle
      return circle
    },
  ],
  ['ten megabytes', () => 'x'.repeat(10_000_000)],
])('an effect that returns %s fails with a typed error; the root goes on', async (_name, result) => {
  const world = await aWorld()
  const machine = registerMachine(
    'm',
    setup({ types, actors: { work: fromPromise(async () => result()) } }).createMachine({
      id: 'm',
      context: {},
      initial: 'idle',
      states: {
        idle: { on: { go: 'busy' } },
        busy: { invoke: { src: 'work', onDone: 'idle', onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error }) } } },
        failed: { on: { go: 'idle' } },
      },
    }),
  )
  const host = await world.host([machine])

  await outcome(world, host.send(address, { type: 'go' }))
  await world.clock.settle()

  const root = await host.get(address)
  expect(root.replica?.actor.getSnapshot()).toMatchObject({ value: 'failed', context: { error: { code: 'tool_output' } } })
  expect(await codeOf(world, host.send(address, { type: 'go' }))).toBe('ok')
  expect((await replay(world.journal, address, machine)).verdict).toBe('identical')
})
const act = () => undefined

test('an error of an effect is the same in the live machine and in its replay', async () => {
  const world = await aWorld()
  class Denied extends Error {
    override name = 'Denied'
    status = 403
    secret = () => 1
  }
  const seen: unknown[] = []
  const machine = registerMachine(
    'm',
    setup({
      types,
      actors: {
        work: fromPromise(async () => {
          throw new Denied('no')
        }),
      },
      guards: { denied: ({ event }: any) => (seen.push({ ...event.error, isError: event.error instanceof Error }), event.error.status === 403) },
    }).createMachine({
      id: 'm',
      initial: 'idle',
      states: {
        idle: { on: { go: 'busy' } },
        busy: { invoke: { src: 'work', onError: [{ guard: 'denied', target: 'denied' }, { target: 'idle' }] } },
        denied: {},
      },
    }),
  )
  const host = await world.host([machine])
  await outcome(world, host.send(address, { type: 'go' }))
  await world.clock.settle()

  const replayed = await replay(world.journal, address, machine)

  expect(replayed).toMatchObject({ verdict: 'identical', states: { '/': 'denied' } })
  expect(seen[0]).toEqual(seen[1])
})

test('what an effect tells is journalled with the next commit and costs none of its own', async () => {
  const world = await aWorld()
  const told: any[] = []
  const machine = registerMachine(
    'm',
    setup({
      types,
      actors: {
        work: fromPromise(({ self }) => {
          told.push(effect(self as AnyActorRef))
          return new Promise(() => undefined)
        }),
      },
    }).createMachine({
      id: 'm',
      context: { hints: [] },
      invoke: { src: 'work', id: 'work' },
      on: { hint: { actions: assign({ hints: ({ context, event }: any) => [...context.hints, event.n] }) }, add: { actions: assign({}) } },
    }),
  )
  const host = await world.host([machine])
  await add(world, host)
  await world.clock.settle()
  for (const n of [1, 2, 3]) told[0].tell({ type: 'hint', n })
  await world.clock.settle()
  const before = (await world.commits(address)).length
  await add(world, host)

  const commits = await world.commits(address)
  expect(before).toBe(1)
  expect(commits.map(({ inputs }) => inputs.length)).toEqual([1, 4])
  expect((await host.get(address)).replica?.actor.getSnapshot().context.hints).toEqual([1, 2, 3])
  expect(told[0]).toMatchObject({ key: 'm/one/work#1', attempt: 1, epoch: 1, restarted: false })
})

test('what an effect reports is journalled without any other input, and is so before it goes on; of one that nobody wants it is refused', async () => {
  const world = await aWorld()
  const seen: unknown[] = []
  let self: AnyActorRef | undefined
  const machine = registerMachine(
    'm',
    setup({
      types,
      actors: {
        work: fromPromise(async (scope) => {
          self = scope.self as AnyActorRef
          await effect(self).report({ type: 'hint', n: 1 })
          seen.push((await world.commits(address)).length)
          return new Promise(() => undefined)
        }),
      },
    }).createMachine({
      id: 'm',
      context: { hints: [] },
      initial: 'working',
      states: {
        working: {
          invoke: { src: 'work', id: 'work' },
          on: { hint: { actions: assign({ hints: ({ context, event }: any) => [...context.hints, event.n] }) }, add: 'idle' },
        },
        idle: {},
      },
    }),
  )
  const host = await world.host([machine])
  await outcome(world, host.send(address, { type: 'begin' }))
  await world.clock.settle()
  expect(seen).toEqual([2])
  expect((await host.get(address)).replica?.actor.getSnapshot().context.hints).toEqual([1])

  // Both in one commit: the first leads out of the state that wants it.
  const { report } = effect(self as AnyActorRef)
  const both = Promise.allSettled([report({ type: 'add' }), report({ type: 'hint', n: 2 })])
  await world.clock.settle()
  const cancelled = { code: 'cancelled' }
  expect(await both).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: cancelled }])
  await expect(report({ type: 'hint', n: 3 })).rejects.toMatchObject(cancelled)
  expect((await host.get(address)).replica?.actor.getSnapshot().context.hints).toEqual([1])
})

test('fromTask hears what it is sent before and after it listens', async () => {
  const world = await aWorld()
  const heard: string[] = []
  const control = Promise.withResolvers<void>()
  const task = fromTask(async ({ receive }) => {
    await control.promise
    receive(({ type }) => void heard.push(type))
    return new Promise(() => undefined)
  })
  const machine = registerMachine(
    'm',
    setup({ types, actors: { task } }).createMachine({
      id: 'm',
      invoke: { src: 'task', id: 'task' },
      on: { tell: { actions: sendTo('task', ({ event }: any) => event.say) } },
    }),
  )
  const host = await world.host([machine])
  const tell = (type: string) => outcome(world, host.send(address, { type: 'tell', say: { type } }))
  await tell('early')
  control.resolve()
  await world.clock.settle()
  await tell('late')
  await world.clock.settle()

  expect(heard).toEqual(['early', 'late'])
})

test('effect() outside of a host is a plain first attempt', () => {
  expect(effect({ id: 'x' } as AnyActorRef)).toMatchObject({ key: 'x', attempt: 1, restarted: false })
})

test('500 children are spawned, run, end, and leave nothing behind', async () => {
  const world = await aWorld()
  const p = new Puppets()
  const child = setup({ types, actors: { work: p.promise('work') } }).createMachine({
    id: 'child',
    initial: 'a',
    states: { a: { on: { end: 'b' }, after: { 1e9: 'b' } }, b: { type: 'final' } },
  })
  const machine = registerMachine(
    'm',
    setup({ types, actors: { child } }).createMachine({
      id: 'm',
      on: {
        spawn: { actions: spawnChild('child', { id: ({ event }: any) => event.id }) },
        end: { actions: sendTo(({ event, self }: any) => self.getSnapshot().children[event.id], { type: 'end' }) },
        add: {},
      },
    }),
  )
  const host = await world.host([machine])
  const all = (type: string) => Promise.all(Array.from({ length: 500 }, (_, n) => host.send(address, { type, id: `c${n}` })))
  await world.clock.until(all('spawn'))
  const root = await host.get(address)
  const spawned = { children: Object.keys(root.replica?.states() ?? {}).length, timers: [...(root.replica?.timers.pending() ?? [])].length }
  await world.clock.until(all('end'))

  expect(spawned).toEqual({ children: 501, timers: 500 })
  expect(Object.keys(root.replica?.states() ?? {})).toEqual(['/'])
  expect([...(root.replica?.timers.pending() ?? [])]).toEqual([])
  for (let n = 0; n < 1100; n++) {
    void host.send(address, { type: 'spawn', id: `d${n}` })
    void host.send(address, { type: 'end', id: `d${n}` })
  }
  await world.clock.settle()
  expect(root.replica?.persisted().uses[0]?.[2].length).toBeLessThanOrEqual(1024)
  expect((await replay(world.journal, address, machine)).verdict).toBe('identical')
})

test('children without an id of their own are the same after recovery; where XState would lose one, no snapshot is taken', async () => {
  const world = await aWorld()
  const p = new Puppets()
  const machine = registerMachine(
    'm',
    setup({ types, actors: { work: p.promise('work') } }).createMachine({
      id: 'm',
      context: { refs: [], done: 0 },
      on: {
        spawn: { actions: spawnChild('work') },
        keep: { actions: assign({ refs: ({ context, spawn }: any) => [...context.refs, spawn('work')] }) },
        '*': { actions: assign({ done: ({ context }: any) => context.done + 1 }) },
      },
    }),
  )
  const keys = async (types: string[]) => {
    const first = await world.host([machine], { limits: { snapshotEvery: 1 } })
    for (const type of types) await outcome(world, first.send(address, { type }))
    await world.clock.settle()
    first.abandon()
    const before = p.starts.splice(0).map(({ key }) => key)
    const second = await world.host([machine])
    await world.clock.settle()
    const again = p.starts.splice(0)
    p.control('work').resolve(1)
    await world.clock.settle()
    second.abandon()
    expect(again.map(({ key }) => key).slice(0, before.length)).toEqual(before)
    expect(again.every(({ restarted }) => restarted)).toBe(true)
  }

  await keys(['keep', 'keep'])
  const snapshot = await world.journal.snapshot(address)
  await keys(['spawn'])

  expect(snapshot?.seq).toBe(2)
  expect((await world.journal.snapshot(address))?.seq).toBe(2)
  expect((await replay(world.journal, address, machine)).verdict).toBe('identical')
})

test('what is abandoned in the middle of an append lets nothing out afterwards', async () => {
  const world = await aWorld()
  const p = new Puppets()
  const machine = registerMachine(
    'm',
    setup({ types, actors: { work: p.promise('work') }, actions: { act: p.action('act') } }).createMachine({
      id: 'm',
      on: { go: { actions: ['act', spawnChild('work', { id: 'w' })] } },
    }),
  )
  const gate = Promise.withResolvers<void>()
  const host = await world.host([machine], {
    journal: (journal) => ({
      ...journal,
      append: async (...args) => {
        const answer = await journal.append(...args)
        await gate.promise
        return answer
      },
    }),
  })
  const sent = codeOf(world, host.send(address, { type: 'go' }, { id: 'g' }))
  await world.clock.settle()
  host.abandon()
  gate.resolve()
  await world.clock.settle()
  const after = [...p.log]
  const next = await world.host([machine])
  const again = await outcome(world, next.send(address, { type: 'go' }, { id: 'g' }))
  await world.clock.settle()

  expect(await sent).toBe('closed')
  expect(after).toEqual([])
  expect(again).toMatchObject({ value: { seq: 1, duplicate: true } })
  expect(p.log).toEqual(['act on go', 'start work'])
})
