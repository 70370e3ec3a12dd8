/** This runtime as one of many on a shared transport: a node that has partitions, or a bystander who talks to those that have. */
import { hostname } from 'node:os'
import type { Directory, Host } from '../actors/index.ts'
import type { AgentTable } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type NodeRecord, type Placement, partitionOf, type Role } from '../contracts/placement.ts'
import type { Address, Subjects } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import type { TurnEffects } from '../machines/index.ts'
import { logCluster } from './cluster-log.ts'
import { askNode, elsewhereError, sharedDirectory } from './directory.ts'
import { Membership } from './membership.ts'
import { type RunningNode, runNode } from './node.effects.ts'
import { serveNodeRpc } from './node-rpc.ts'
import { watchPeers } from './peer.effects.ts'
import { openWorker, type RemoteEffectName, type RemoteEffectParts, remoteEffect, roleOf } from './remote-effects.ts'
import { lackingElsewhere, type ToolNames } from './tools-elsewhere.ts'

export type NodeRow = NodeRecord & {
  /** How many of the 64 partitions it has, and which. */
  partitions: number
  holds: number[]
}

type JoinParts = {
  host: Host
  /** What this node does for others, as far as it has the role. */
  effects: TurnEffects
  agents: AgentTable
  /** Takes the stored messages of a partition in. @returns the stopper */
  consume(partition: number): () => Promise<void>
  /** An operator has asked this node to go. */
  drained(): void
}

export type Cluster = {
  /** The name of this node; undefined for a bystander. */
  me: string | undefined
  /** Whether a node is there, by its name. */
  isAlive(node: string): boolean
  placement: Placement
  /** @param host called when something is asked */
  directory(host: () => Host): Directory
  /** The work of turns, done here where this node has the role and `distributed` is not set, else by a node that has it. */
  place(effects: TurnEffects, distributed: boolean): TurnEffects
  join(parts: JoinParts): void
  /** By node, which of these tools it does not have, also after it has looked. */
  lacking(wanted: ToolNames): Promise<Map<string, ToolNames>>
  nodes(): NodeRow[]
  /** @throws RuntimeError not_found */
  drainNode(id: string): Promise<void>
  drain(timeoutMs: number): Promise<void>
  /** Takes nothing more in. What it has it keeps, until {@link close} says that it is gone. */
  stop(): Promise<void>
  close(): Promise<void>
}

type ClusterParts = { transport: Transport; names: Subjects; environment: Environment; roles: readonly Role[]; version: string }

/** ms for the answer to whether a node is there. */
const hereMs = 1_000

/** @param roles none for a bystander, who takes no actors for as long as a node is there */
export const openCluster = async ({ transport, names, environment, roles, version }: ClusterParts): Promise<Cluster> => {
  const { bus, registry } = transport
  const membership = await new Membership(registry, environment).open()
  const me = roles.length === 0 ? undefined : environment.ids.next('node')
  const record: NodeRecord = {
    id: me ?? '',
    roles: [...roles],
    host: hostname(),
    pid: process.pid,
    version,
    since: environment.clock.now(),
    draining: false,
  }
  let node: RunningNode | undefined
  const remoteParts = (name: string): RemoteEffectParts => ({ bus, names, membership, environment, me: name })
  let closeDoor: () => void = () => undefined
  let endLog: () => void = () => undefined
  let leavePeers: () => void = () => undefined
  let leaving = false

  const has = (address: Address): boolean => me !== undefined && membership.lease(partitionOf(address)).holder === me

  /** The previous holder of a partition ends the actors that are in the middle of their work. */
  const admit = async (address: Address): Promise<void> => {
    const partition = partitionOf(address)
    const { previous } = membership.lease(partition)
    if (me === undefined ? membership.members.nodes.length > 0 : !has(address)) throw elsewhereError(address, membership.holder(partition))
    if (previous === null || previous === me || !membership.isAlive(previous)) return
    const holds = await askNode({ bus, names, membership }, previous, 'holds', address).catch((error: unknown) => {
      if (!isRuntimeError(error) || error.code !== 'closed') throw error
      // It does not answer any more; that it is gone is known when its word has expired.
      return membership.isAlive(previous)
    })
    if (holds === true) throw elsewhereError(address, previous)
  }

  /** A node that takes longer to answer has a connection all the same. */
  const listens = async (id: string): Promise<boolean> => {
    try {
      await bus.request(names.node(id, 'here'), new Uint8Array(), { timeoutMs: hereMs })
    } catch (error) {
      return !isRuntimeError(error) || error.code !== 'not_found'
    }
    return true
  }

  return {
    me,
    isAlive: (id) => membership.isAlive(id),
    placement: { has, admit, sure: () => me !== undefined && membership.sure },
    directory: (host) => sharedDirectory({ host, membership, bus, names, environment, me, leaving: () => leaving }),
    place(effects, distributed) {
      if (me === undefined) return effects
      const placed = (Object.keys(effects) as RemoteEffectName[]).map((name) => [
        name,
        !distributed && roles.includes(roleOf[name]) ? effects[name] : remoteEffect(remoteParts(me), name),
      ])
      return Object.fromEntries(placed) as TurnEffects
    },
    lacking: (wanted) =>
      lackingElsewhere(
        { bus, names },
        membership.members.nodes.flatMap(({ id }) => (id === me ? [] : [id])),
        wanted,
      ),
    join({ host, effects, agents, consume, drained }) {
      if (me === undefined) return
      endLog = logCluster(membership, environment, me)
      const worker = openWorker(remoteParts(me), effects, roles)
      closeDoor = serveNodeRpc({ host, agents, bus, names, log: environment.log }, me, drained)
      leavePeers = watchPeers({ membership, environment, listens })
      node = runNode({ membership, record, host, environment, consume, finishWork: () => worker.stop() })
    },
    nodes() {
      const { nodes, leases } = membership.members
      return nodes.map((one) => {
        const holds = leases.flatMap(({ holder }, partition) => (holder === one.id ? [partition] : []))
        return { ...one, partitions: holds.length, holds }
      })
    },
    async drainNode(id) {
      if (!membership.isAlive(id))
        throw new RuntimeError('not_found', `there is no node '${String(id).slice(0, 80)}'`, {
          hint: `there are: ${membership.members.nodes.map((one) => one.id).join(', ') || 'none'}`,
        })
      await bus.request(names.node(id, 'drain'), new Uint8Array(), { timeoutMs: 5_000 })
    },
    async drain(timeoutMs) {
      leaving = true
      await node?.drain(timeoutMs)
    },
    async stop() {
      leaving = true
      leavePeers()
      await node?.stop()
    },
    async close() {
      closeDoor()
      endLog()
      membership.close()
      // The next holder need not wait until our lease has expired.
      if (node) await membership.withdraw(record.id).catch(() => undefined)
    },
  }
}
