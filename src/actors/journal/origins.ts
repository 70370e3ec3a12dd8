/** Walks the chain of origins of a fork. The walk ends for any stored data, cycles included. */
import type { Origin } from '../../contracts/fork.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'

/** @property at the last commit that the fork shares with it, directly or through forks in between */
export type Ancestor = Omit<Origin, 'change'>

/**
 * The origins of a fork, nearest first, each once. Deleting an address and forking back to it makes the chain a cycle.
 * @param origin of the fork at `address`, as its head says
 */
export async function* originsOf(journal: Pick<Journal, 'head'>, address: Address, origin: Ancestor): AsyncGenerator<Ancestor> {
  const visited = new Set([formatAddress(address)])
  for (let next: Ancestor | undefined = origin; next && !visited.has(formatAddress(next.address)); ) {
    const { at, address: here }: Ancestor = next
    visited.add(formatAddress(here))
    yield next
    const before: Ancestor | undefined = (await journal.head(here))?.origin
    next = before && { ...before, at: Math.min(at, before.at) }
  }
}
