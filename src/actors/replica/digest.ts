/** A fingerprint of a whole tree, made of one of each actor: what has not changed is not looked at again. */
import type { AnyActorRef, AnyMachineSnapshot, Snapshot } from 'xstate'
import type { ActorPath } from '../../contracts/journal.ts'
import { checksum, encode } from '../journal/codec.ts'
import { fingerprintOf, shared, streamedFingerprintOf } from './fingerprint.ts'
import type { PersistedTimer } from './timers.ts'

type Known = { snapshot: Snapshot<unknown>; checksum: number }

/** Of the actors of all roots: a table for each would take more than what is in it. */
const known = new WeakMap<AnyActorRef, Known>()

/** @returns 32 bits; two trees that applied the same inputs have the same */
export const digestOf = (actors: Iterable<[ActorPath, AnyActorRef]>, timers: PersistedTimer[], drawn: number): number =>
  total(actors, timers, drawn, fingerprintOf, knownChecksum)

/** Whether a tree has a digest that was recorded: by us, or by those before us, who went through all of it, made checksums of bytes, and at first minded the order in a history. */
export const fitsDigest = (recorded: number, actors: () => Iterable<[ActorPath, AnyActorRef]>, timers: PersistedTimer[], drawn: number): boolean => {
  const before = (bits: Bits, order: Order) =>
    total(actors(), timers, drawn, bits, (path, ref) => fingerprint(path, ref, ref.getSnapshot() as Snapshot<unknown>, bits, order))
  return (
    digestOf(actors(), timers, drawn) === recorded ||
    before(streamedFingerprintOf, anyOrder) === recorded ||
    [anyOrder, asItIs].some((order) => before(ofBytes, order) === recorded)
  )
}

const knownChecksum = (path: ActorPath, ref: AnyActorRef): number => {
  const snapshot = ref.getSnapshot() as Snapshot<unknown>
  const before = known.get(ref)
  if (before?.snapshot === snapshot) return before.checksum
  const made = { snapshot, checksum: fingerprint(path, ref, snapshot, fingerprintOf, anyOrder) }
  known.set(ref, made)
  return made.checksum
}

/** @param drawn how often the tree has asked for chance: what it gets next depends on it */
const total = (
  actors: Iterable<[ActorPath, AnyActorRef]>,
  timers: PersistedTimer[],
  drawn: number,
  bits: Bits,
  of: (path: ActorPath, ref: AnyActorRef) => number,
): number => {
  let sum = (timers.length === 0 ? 0 : bits(timers)) + drawn
  try {
    // A sum, since a restored tree has its actors in another order.
    for (const [path, ref] of actors) sum = (sum + of(path, ref)) >>> 0
  } finally {
    shared.part = undefined
  }
  return sum
}

/** How 32 bits are made of a value. */
type Bits = (value: unknown) => number
const ofBytes: Bits = (value) => checksum(encode(value))

/** XState enters the states of a history in the order of the machine, however they stand there. */
type Order = (ids: string[]) => string[]
const anyOrder: Order = (ids) => ids.sort()
const asItIs: Order = (ids) => ids

const fingerprint = (path: ActorPath, ref: AnyActorRef, snapshot: Snapshot<unknown>, bits: Bits, order: Order): number => {
  const isMachine = 'machine' in snapshot
  const state = isMachine ? stateOf(snapshot as AnyMachineSnapshot, order) : ref.getPersistedSnapshot()
  if (isMachine) {
    shared.part = (snapshot as AnyMachineSnapshot).context
    shared.bits = undefined
  }
  try {
    return bits([path, state])
  } catch {
    // A context may hold what no bytes can: circles, symbols. Then the state has to do.
    return bits([path, snapshot.status, (snapshot as AnyMachineSnapshot).value])
  }
}

/** Children have fingerprints of their own; a reference to one, anywhere in a context, is its id (see codec.ts). */
const stateOf = ({ status, value, context, historyValue, output, error }: AnyMachineSnapshot, order: Order): unknown[] => {
  const history = Object.entries(historyValue).map(([id, nodes]) => [id, order(nodes.map((node) => node.id))])
  return [status, value, context, history, output, error]
}
