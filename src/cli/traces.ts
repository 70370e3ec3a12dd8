/** Many recorded sessions, wherever they are, folded one after the other by the machines of an app: `statecast replay --against` and `statecast test`. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ActorPage } from '../api/index.ts'
import { type Client, type Compared, compareTrace, journalOf, journalOfFile, parseTraceFile, unreadable } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import type { MachinesOf } from './against.ts'

/** One of them; opened when its turn comes. `name` is its address, or its file. */
export type Recorded = { name: string; file?: string; open(): { address: Address; journal: Journal } }

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

/** Exported traces: a file, or all files of a folder and of those in it, in the order of their names. @throws RuntimeError bad_request */
export const recordedIn = (path: string): Recorded[] => {
  const files = filesOf(path)
  if (files.length > 0) return files.map((file) => ({ name: file, file, open: () => opened(file) }))
  throw new RuntimeError('bad_request', `there is no trace in ${path}`, { field: 'traces', hint: exportHint })
}

const exportHint = 'write some with `statecast export KEY > FILE`, or with --redact where others see them'

const filesOf = (path: string): string[] => {
  try {
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  } catch (cause) {
    throw new RuntimeError('bad_request', `${path} cannot be read`, { cause, field: 'traces', hint: `name a folder of traces: ${exportHint}` })
  }
}

const opened = (file: string): ReturnType<Recorded['open']> => {
  const trace = parseTraceFile(readText(file), file)
  return { address: trace.address, journal: journalOfFile(trace) }
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read`, { cause, field: 'traces', hint: exportHint })
  }
}

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
