/** Many recorded sessions, wherever they are, folded one after the other by the machines of an app: `statecast replay --against` and `statecast test`. */
import type { ActorPage } from '../api/index.ts'
import { type Client, type Compared, compareTrace, journalOf, type Recorded, unreadable } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { formatAddress } from '../contracts/subjects.ts'
import type { MachinesOf } from './against.ts'

/** The sessions, or actors of one kind, that a folder of data or a cluster has. @param kind default: all kinds that the app has */
export const recordedBy = async (client: Client, kind: string | undefined): Promise<Recorded[]> => {
  const found: Recorded[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page: ActorPage = await client.command('actors.list', { limit: 1000, after, kind, states: false })
    for (const row of page.actors) {
      const address = { kind: row.kind, id: row.id }
      // What a node keeps for itself is none of an author's.
      if (kind === undefined && ownKinds.has(row.kind)) continue
      found.push({ name: formatAddress(address), open: () => ({ address, journal: journalOf(client, address) }) })
    }
    after = page.next
  }
  return found
}

const ownKinds: ReadonlySet<string> = new Set(['config', 'heartbeat', 'provider'])

type Comparing = { machines: MachinesOf; compareContext?: boolean }

/** What cannot be read is a verdict too: the others still have theirs. @throws RuntimeError what a retry could mend */
export async function* compareAll(all: readonly Recorded[], { machines, compareContext = true }: Comparing): AsyncGenerator<Compared> {
  for (const { name, file, open } of all) {
    let compared: Compared
    try {
      const { address, journal } = open()
      compared = await compareTrace(journal, address, machines(address.kind), { compareContext })
    } catch (error) {
      if (error instanceof RuntimeError && error.retryable) throw error
      compared = unreadable(name, error)
    }
    yield file === undefined ? compared : { ...compared, file }
  }
}
