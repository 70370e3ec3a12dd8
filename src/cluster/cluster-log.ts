/** Who came, who went, and which partitions changed hands, in the log of one node. */
import type { Environment } from '../contracts/environment.ts'
import type { Members, NodeRecord } from '../contracts/placement.ts'

/** Partitions change hands one by one, within moments: they are told together once none has for this long, in ms. */
const quietMs = 250

type Source = { readonly members: Members; listen(listener: () => void): () => void }

/** Follows the membership as this node sees it. @param me the name of this node @returns the stopper, which tells what has not been told yet */
export const logCluster = (source: Source, { clock, log }: Pick<Environment, 'clock' | 'log'>, me: string): (() => void) => {
  let before = source.members
  /** Partitions that came here and went away, by the node that had or has them. */
  const came = new Map<string, number>()
  const went = new Map<string, number>()
  let timer: unknown

  const tellPartitions = (): void => {
    timer = undefined
    const holds = source.members.leases.filter(({ holder }) => holder === me).length
    if (came.size > 0) log.info({ partitions: total(came), from: Object.fromEntries(came), holds }, 'this node took over partitions')
    if (went.size > 0) log.info({ partitions: total(went), to: Object.fromEntries(went), holds }, 'this node handed partitions over')
    came.clear()
    went.clear()
  }

  const tellNodes = (now: Members): void => {
    const known = byId(before)
    const present = byId(now)
    for (const node of present.values()) {
      const earlier = known.get(node.id)
      if (node.id === me) continue
      if (earlier === undefined) log.info({ ...named(node), version: node.version, roles: node.roles, nodes: present.size }, 'a node joined')
      if (node.draining && earlier?.draining !== true) log.info(named(node), 'a node is draining')
    }
    for (const node of known.values()) {
      if (node.id === me || present.has(node.id)) continue
      const lost = before.leases.filter(({ holder }) => holder === node.id).length
      const facts = { ...named(node), partitions: lost, nodes: present.size }
      if (node.draining) log.info(facts, 'a node left')
      else log.warn(facts, 'a node is gone without draining: its process died, was stopped at once or cannot reach NATS')
    }
  }

  const look = (): void => {
    const now = source.members
    tellNodes(now)
    for (const [partition, lease] of now.leases.entries()) {
      const earlier = before.leases[partition]?.holder ?? null
      if (lease.holder === earlier) continue
      if (lease.holder === me) count(came, earlier)
      else if (earlier === me) count(went, lease.holder)
    }
    before = now
    if (came.size + went.size === 0) return
    clock.clearTimeout(timer)
    timer = clock.setTimeout(tellPartitions, quietMs)
  }

  const stop = source.listen(look)
  return () => {
    stop()
    clock.clearTimeout(timer)
    tellPartitions()
  }
}

const byId = ({ nodes }: Members): Map<string, NodeRecord> => new Map(nodes.map((node) => [node.id, node]))
/** `node` is taken by the name of the node that writes the line. */
const named = ({ id, host, pid }: NodeRecord) => ({ peer: id, peerHost: host, peerPid: pid })
const count = (counts: Map<string, number>, node: string | null): void => {
  counts.set(node ?? 'nobody', (counts.get(node ?? 'nobody') ?? 0) + 1)
}
const total = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, one) => sum + one, 0)
