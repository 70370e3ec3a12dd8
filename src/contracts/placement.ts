/** Which node has which actors: every address belongs to one of 64 partitions, and every partition has a lease that one node holds. */
import { z } from 'zod'
import { type Address, escapeToken } from './subjects.ts'

export const partitionCount = 64

export const roles = ['gateway', 'session', 'turn', 'tool'] as const
/** `gateway` answers commands, `session` holds partitions with their actors, `turn` runs turns of sessions elsewhere, `tool` runs tools. */
export type Role = (typeof roles)[number]

/** What a node says of itself; it stands in the registry for as long as the node renews it. */
export const NodeRecord = z.object({
  id: z.string().min(1),
  /** A {@link Role} each, or one of a later version. */
  roles: z.array(z.string()),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  /** ms since the epoch. */
  since: z.number(),
  /** It gives away what it holds and takes no more. */
  draining: z.boolean(),
})
export type NodeRecord = z.infer<typeof NodeRecord>

/** Who holds a partition. It stands until somebody else writes it, and counts for as long as its holder is alive. */
export const Lease = z.object({
  holder: z.string().nullable(),
  /** Held it before, and still has actors of it that are in the middle of their work. */
  previous: z.string().nullable(),
})
export type Lease = z.infer<typeof Lease>
export const emptyLease: Lease = { holder: null, previous: null }

/** The membership of a cluster as one node sees it. */
export type Members = { nodes: readonly NodeRecord[]; leases: readonly Lease[] }

const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/** FNV-1a of the text as UTF-8, 32 bits. */
const fnv = (text: string): number => {
  let hash = fnvOffset
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    // Of ASCII, which an escaped address always is, each character is one byte.
    if (code > 0x7f) return fnvOf(new TextEncoder().encode(text))
    hash = Math.imul(hash ^ code, fnvPrime) >>> 0
  }
  return hash
}

const fnvOf = (bytes: Uint8Array): number => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, fnvPrime) >>> 0, fnvOffset)

/** The same as nats-server makes of `partition(64,1,2)`, so that the server sorts messages as we sort actors. */
export const partitionOf = ({ kind, id }: Address): number => fnv(kind + escapeToken(id)) % partitionCount

/** FNV alone tells names that end alike too little apart. */
const mixed = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/** Who of these nodes is to hold a partition: highest random weight, so that a node which comes or goes moves no lease but its own. */
export const rendezvous = (partition: number, nodes: readonly string[]): string | null => {
  let best: string | null = null
  let weight = -1
  for (const node of nodes) {
    const own = mixed(fnv(`${node} ${partition}`))
    if (own > weight || (own === weight && best !== null && node < best)) {
      best = node
      weight = own
    }
  }
  return best
}

/** Nodes that may hold partitions. */
export const holders = ({ nodes }: Pick<Members, 'nodes'>): string[] =>
  nodes.filter(({ roles: own, draining }) => own.includes('session') && !draining).map(({ id }) => id)

/** What a host asks about the actors that it shares with others. */
export type Placement = {
  /** Whether an actor may be woken here. */
  has(address: Address): boolean
  /** Asked before an actor is taken into memory. @throws RuntimeError fenced, retryable, when it is another node's */
  admit(address: Address): Promise<void>
  /** Whether our last word still stands, so that nobody can have taken our place without our knowing. */
  sure(): boolean
}
