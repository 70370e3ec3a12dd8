/** How a fork takes over what its origin began: the same tree under its own name. */

import { RuntimeError } from '../../contracts/errors.ts'
import type { Origin } from '../../contracts/fork.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame, Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import type { ReplicaSink, ReplicaSnapshot } from '../replica/sink.ts'
import type { Ledger } from './ledger.ts'
import { type Ancestor, originsOf } from './origins.ts'
import { wholeSnapshot } from './snapshots.ts'

type Adoption = {
  from: Address
  to: Address
  /** Of the fork that is recovered, where this is how it began. */
  origin: Omit<Origin, 'change'> | undefined
  outside?: ReplicaSink
}

/** The tree as the fork goes on with it. Where its machine keeps no name of its own, that is the very same. @throws RuntimeError unsupported */
export const adopted = (registration: Registration, replica: Replica, ledger: Ledger, { from, to, origin, outside }: Adoption): Replica => {
  const own = registration.renamed ? renamed(registration, replica, ledger, { from, to, ...(outside && { outside }) }) : replica
  // Where everything is done anew nobody has begun it; else somebody may have done it already.
  if (origin?.answers === 'live') for (const effect of own.effects.values()) effect.epoch = ledger.epoch + 1
  return own
}

/** What a tree holds, as that of a fork. @throws RuntimeError unsupported */
export const renamedSnapshot = ({ renamed }: Registration, replica: Replica, from: Address, to: Address): ReplicaSnapshot => {
  const saved = wholeSnapshot(replica)
  if (!saved)
    throw new RuntimeError('unsupported', `${formatAddress(from)} cannot be forked at this commit: what it holds there is not plain data`, {
      hint: 'fork it at another commit',
    })
  return { ...saved, tree: renamed ? renamed(saved.tree, from.id, to.id) : saved.tree }
}

const renamed = (
  registration: Registration,
  replica: Replica,
  { at, epoch, create }: Ledger,
  { from, to, outside }: Omit<Adoption, 'origin'>,
): Replica => {
  const snapshot = renamedSnapshot(registration, replica, from, to)
  const own = new Replica({ registration, input: create?.input, at, epoch, snapshot, ...(outside && { outside }) })
  replica.disconnect()
  return own
}

/** The newest snapshot of an origin, or of one further up, that stands where the fork at `own` was made or before. */
export const ancestorSnapshot = async (journal: Journal, own: Address, origin: Ancestor): Promise<{ frame: Frame; of: Address } | undefined> => {
  for await (const { address, at } of originsOf(journal, own, origin)) {
    const frame = await journal.snapshot(address)
    if (frame && frame.seq <= at) return { frame, of: address }
  }
  return undefined
}
