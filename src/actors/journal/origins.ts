/** Where a fork came from, and that in its turn: the one walk over origins, which ends whatever is stored. */
import type { Origin } from '../../contracts/fork.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'

/** @property at the last commit that the fork shares with it, also where other forks lie between */
export type Ancestor = Omit<Origin, 'change'>

/**
 * The origins of a fork, the nearest first, each once: an address that was deleted and forked back makes a circle of them.
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
