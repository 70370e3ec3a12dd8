/** `statecast nodes` and `statecast drain`: who shares the work on a NATS, and how one of them leaves. */
import type { NodeRow } from '../runtime/cluster.ts'
import { connect, type Globals } from './connect.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { printTable } from './table.ts'

export const nodes = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { nodes: list } = await client.command<{ nodes: NodeRow[] }>('nodes.list', {})
    if (options.json) list.forEach(printJson)
    else if (list.length === 0) note('no nodes: statecast up --url nats://… starts one; a node on a folder of its own shares nothing')
    else printTable(['NODE', 'ROLES', 'PARTITIONS', 'HOST', 'PROCESS', 'SINCE'], list.map(cells))
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const cells = ({ id, roles, partitions, host, pid, since, draining }: NodeRow): string[] => [
  `${printable(id)}${draining ? ' (draining)' : ''}`,
  roles.join(','),
  String(partitions),
  printable(host),
  String(pid),
  new Date(since).toISOString(),
]

export const drain = async (options: Globals, node: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    await client.command('nodes.drain', { node })
    if (options.json) printJson({ draining: node })
    else print(`${printable(node)} gives away what it has, lets turns that run end, and stops; see statecast nodes`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
