/** The state of a root after one of its commits, as bytes that say which root and which commit: what says something else is nobody's. */
import { lostEndError } from '../../contracts/lost-end.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame, Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import type { ReplicaSink, ReplicaSnapshot } from '../replica/sink.ts'
import { checksum, decode, encode } from './codec.ts'
import { isPlain } from './journal-value.ts'
import { type Ledger, type PersistedLedger, persistLedger, reviveLedger } from './ledger.ts'

/** The ledger says the rest of what it is bound to: birth of the root, sequence and checksum of the commit. Version 1 was bound to nothing. */
type Content = { address: string; signature: string; ledger: PersistedLedger; replica: ReplicaSnapshot; digest: number }
type Sealed = { v: 2; checksum: number; content: Uint8Array }

/** What a tree needs to go on, or undefined when it holds something that would get lost or come back changed. */
export const wholeSnapshot = (replica: Replica): ReplicaSnapshot | undefined => {
  try {
    const persisted = replica.persisted()
    return isPlain(persisted.tree) && isPlain([persisted.timers, persisted.effects]) ? persisted : undefined
  } catch {
    return undefined
  }
}

/** Bytes for `saveSnapshot`, or undefined when no snapshot can hold the tree. */
export const encodeSnapshot = (address: Address, registration: Registration, ledger: Ledger, replica: Replica): Uint8Array | undefined => {
  const whole = wholeSnapshot(replica)
  if (!whole) return undefined
  const { signature } = registration
  const content = encode({
    address: formatAddress(address),
    signature,
    ledger: persistLedger(ledger),
    replica: whole,
    digest: replica.digest(),
  } satisfies Content)
  return encode({ v: 2, checksum: checksum(content), content } satisfies Sealed)
}

/** A snapshot that is whole and says that it is of this root at this sequence. One of another version, damaged or of another root is as good as none. */
export const contentOf = (address: Address, { seq, bytes }: Frame): Content | undefined => {
  try {
    const sealed = decode(bytes) as Sealed
    if (sealed.v !== 2 || checksum(sealed.content) !== sealed.checksum) return undefined
    const content = decode(sealed.content) as Content
    return content.address === formatAddress(address) && content.ledger.seq === seq ? content : undefined
  } catch {
    return undefined
  }
}

export type Restored = { ledger: Ledger; replica: Replica }

/** @returns undefined for one by a machine of another structure, or that comes back changed */
export const restore = (registration: Registration, content: Content, outside: { outside?: ReplicaSink }): Restored | undefined => {
  try {
    if (content.signature !== registration.signature) return undefined
    const ledger = reviveLedger(content.ledger)
    const { at, epoch } = ledger
    const replica = new Replica({ registration, input: ledger.create?.input, at, epoch, snapshot: content.replica, ...outside })
    return replica.failure || !replica.fits(content.digest) ? undefined : { ledger, replica }
  } catch {
    return undefined
  }
}

/**
 * Whether a snapshot is of the very journal that stands at its address, and not of one that was removed.
 * @param frames of the journal from the snapshot's sequence on
 * @throws RuntimeError corrupt_at where it is, and the journal does not have the commit any more
 */
export const standsIn = async (journal: Journal, address: Address, { ledger }: Content, frames: readonly Frame[]): Promise<boolean> => {
  const [there] = frames
  // Where the journal was truncated up to here, the next commit names the one before it.
  if (there && (there.seq > ledger.seq || checksum(there.bytes) === ledger.prev)) return true
  const [first] = await journal.read(address, 1, { limit: 1 })
  if (first?.seq === 1 && checksum(first.bytes) !== ledger.birth) return false
  const head = first && (await journal.head(address))
  throw lostEndError(address, Math.min(head?.seq ?? 0, ledger.seq - 1), ledger.seq)
}
