/** The nodes that answer on a NATS: how many there are, and whether every partition has one. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../../client/index.ts'
import type { NodeRow } from '../../cluster/index.ts'
import { partitionCount } from '../../contracts/placement.ts'
import type { Health } from '../../runtime.ts'
import { hintCommand, type Place } from '../hint.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

/** Partitions change hands within seconds of a node's coming or going. */
const patienceMs = 6_000
const askEveryMs = 500

export async function* cluster(client: Client, place: Place): AsyncGenerator<Finding> {
  const health = await client.command<Health>('health', {})
  yield health.ready ? ok('node', `one answers; ${health.durability}`) : bad('node', health.detail ?? 'not ready', 'see the log of the node')
  let rows = await nodesOf(client)
  for (let waitedMs = 0; heldBy(rows) < partitionCount && waitedMs < patienceMs; waitedMs += askEveryMs) {
    await pause(askEveryMs)
    rows = await nodesOf(client)
  }
  const draining = rows.filter((row) => row.draining).length
  yield ok('nodes', `${rows.length === 1 ? 'there is one' : `there are ${rows.length}`}${draining > 0 ? `, of which ${draining} leave` : ''}`)
  yield partitions(rows, place)
}

const nodesOf = async (client: Client): Promise<NodeRow[]> => (await client.command<{ nodes: NodeRow[] }>('nodes.list', {})).nodes

const heldBy = (rows: NodeRow[]): number => rows.reduce((sum, row) => sum + row.partitions, 0)

const partitions = (rows: NodeRow[], place: Place): Finding => {
  const held = heldBy(rows)
  const text = `${held} of ${partitionCount} are held`
  if (held >= partitionCount) return ok('partitions', text)
  const some = `${text}: the actors of the others wait`
  return rows.some(({ roles, draining }) => roles.includes('session') && !draining)
    ? warn('partitions', some, `look again in a few seconds; if it stays so, see ${hintCommand(place, 'nodes')} and the logs of the nodes`)
    : warn('partitions', some, 'no node has the role session: start one with statecast up')
}
