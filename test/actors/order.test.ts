/** A tree that comes back from a snapshot is the same one in every order that counts, and has the same digest in every order that does not. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { registerMachine } from '../../src/actors/registration.ts'
import { Replica } from '../../src/actors/replica/replica.ts'
import type { ReplicaSnapshot } from '../../src/actors/replica/sink.ts'
import { casesOf } from '../support/property.ts'
import { aWorld, outcome } from './support.ts'

const types = {} as { context: { armed: number; done: Record<string, number>; order: string[] }; events: any }
const events = ['a', 'b', 'c', 'off', 'back', 'shallow', 'tick', 'fresh'] as const

/** How one state looks: without children, with one of two active, or with both. */
type Shape = { kind: 'leaf' | 'either' | 'both'; on: 'a' | 'b' | 'c'; reenter: boolean }
const shape: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom('leaf', 'either', 'both'),
  on: fc.constantFrom('a', 'b', 'c'),
  reenter: fc.boolean(),
})
/** A history of its own in a region, and the states that it switches between. */
type Region = { history: 'none' | 'deep' | 'shallow'; states: Shape[] }
const region: fc.Arbitrary<Region> = fc.record({
  history: fc.constantFrom('none', 'deep', 'shallow'),
  states: fc.array(shape, { minLength: 2, maxLength: 3 }),
})

/** Regions under two histories. Every `tick` arms an eventless transition in each active leaf, and the order in which they run is kept. */
const machineOf = (regions: Region[]) => {
  const noting = (name: string) => ({
    always: {
      guard: ({ context }: any) => context.armed > (context.done[name] ?? 0),
      actions: assign({
        order: ({ context }: any) => [...context.order, name].slice(-20),
        done: ({ context }: any) => ({ ...context.done, [name]: context.armed }),
      }),
    },
  })
  const stateOf = ({ kind, on, reenter }: Shape, name: string, next: string): any => {
    const leave = { on: { [on]: { target: `#${next}`, reenter } } }
    if (kind === 'leaf') return { id: name, ...leave, ...noting(name) }
    if (kind === 'either')
      return {
        id: name,
        ...leave,
        initial: 'x',
        states: { x: { ...noting(`${name}x`), on: { b: 'y' } }, y: { ...noting(`${name}y`), on: { a: 'x' } } },
      }
    return {
      id: name,
      ...leave,
      type: 'parallel',
      states: {
        p: { initial: 'q', states: { q: { ...noting(`${name}q`), on: { c: 'r' } }, r: { ...noting(`${name}r`), on: { a: 'q' } } } },
        s: noting(`${name}s`),
      },
    }
  }
  const regionOf = ({ history, states }: Region, index: number): any => {
    const nameOf = (n: number) => `r${index}s${n % states.length}`
    return {
      initial: nameOf(0),
      states: {
        ...Object.fromEntries(states.map((one, n) => [nameOf(n), stateOf(one, nameOf(n), nameOf(n + 1))])),
        ...(history === 'none' ? {} : { again: { type: 'history', history } }),
      },
      ...(history === 'none' ? {} : { on: { c: { target: '.again', reenter: true } } }),
    }
  }
  return setup({ types }).createMachine({
    id: 'm',
    context: { armed: 0, done: {}, order: [] },
    initial: 'on',
    on: { tick: { actions: assign({ armed: ({ context }) => context.armed + 1 }) } },
    states: {
      on: {
        type: 'parallel',
        on: { off: 'off' },
        states: {
          ...Object.fromEntries(regions.map((one, index) => [`r${index}`, regionOf(one, index)])),
          deep: { type: 'history', history: 'deep' },
          flat: { type: 'history' },
        },
      },
      off: { on: { back: 'on.deep', shallow: 'on.flat', fresh: 'on' } },
    },
  })
}

const birth = { input: undefined, at: 0, epoch: 1 }
const tell = (replica: Replica, type: string) => {
  replica.apply({ to: '/', event: { type } }, 0)
  expect(replica.failure).toBeUndefined()
  return { digest: replica.digest(), states: replica.states(), context: replica.actor.getSnapshot().context as unknown }
}

test('[INV-13] generated regions and histories: whoever goes on from a snapshot after any event arrives where the uninterrupted one does', () => {
  let compared = 0
  fc.assert(
    fc.property(
      fc.array(region, { minLength: 2, maxLength: 3 }),
      fc.array(fc.constantFrom(...events), { minLength: 4, maxLength: 24 }),
      (regions, story) => {
        const registration = registerMachine('m', machineOf(regions))
        const whole = new Replica({ registration, ...birth })
        const snapshots: Uint8Array[] = []
        const steps = story.map((type) => {
          const step = tell(whole, type)
          snapshots.push(encode(whole.persisted()))
          return step
        })

        for (const [cut, bytes] of snapshots.entries()) {
          const restored = new Replica({ registration, ...birth, snapshot: decode(bytes) as ReplicaSnapshot })
          expect(restored.digest(), `as restored after ${cut + 1}`).toBe(steps[cut]?.digest)
          for (const [index, type] of story.entries())
            if (index > cut) expect(tell(restored, type), `${index + 1}: ${type}, restored after ${cut + 1}`).toEqual(steps[index])
          compared++
        }
      },
    ),
    casesOf(import.meta.url),
  )
  expect(compared).toBeGreaterThan(500)
})

const leaf = (on: Shape['on']): Shape => ({ kind: 'leaf', on, reenter: false })
/** Of two regions the first one is entered last. */
const twoRegions = () =>
  registerMachine(
    'm',
    machineOf([
      { history: 'none', states: [leaf('a'), leaf('b')] },
      { history: 'none', states: [leaf('b'), leaf('c')] },
    ]),
  )

test('digests that were checksums of bytes are known again, also from before the order in histories stopped counting', () => {
  const recorded = { active: 3784895201, left: 3841562178, leftInOrder: 2783608892 }
  const replica = new Replica({ registration: twoRegions(), ...birth })
  const fitting = (own: number) => [own, recorded.active, recorded.left, recorded.leftInOrder, 0].map((digest) => replica.fits(digest))

  expect(fitting(tell(replica, 'a').digest)).toEqual([true, true, false, false, false])
  expect(fitting(tell(replica, 'off').digest)).toEqual([true, false, true, true, false])
})

test('[INV-1] deep history over two regions, a hundred events, put away now and then: killed, it is what it was', async () => {
  const registration = twoRegions()
  const address = { kind: 'm', id: 'one' }
  const world = await aWorld()
  const limits = { snapshotEvery: 7 }
  let host = await world.host([registration], { limits })
  for (let n = 0; n < 100; n++) {
    await outcome(world, host.send(address, { type: ['a', 'off', 'back', 'b', 'tick', 'c', 'a', 'b', 'c', 'tick'][n % 10] }))
    // The first region was entered later than the second one; a tree made from its state value alone has them the other way round.
    if (n % 10 !== 0) continue
    await world.clock.until(host.close())
    host = await world.host([registration], { limits })
  }
  const before = await outcome(world, host.read(address))
  host.abandon()
  // Nothing but the journal is left.
  const journal = (own: typeof world.journal) => Object.assign(Object.create(own), { snapshot: async () => undefined })

  const next = await world.host([registration], { limits, journal })

  const strip = (seen: any) => ({ ...seen.value, epoch: 0, seq: 0 })
  expect(strip(await outcome(world, next.read(address)))).toEqual(strip(before))
})
