/** `statecast nodes` and `statecast drain`: who shares the work on a NATS, and how one of them leaves. */

import type { Client } from '../client/index.ts'
import type { NodeRow } from '../cluster/index.ts'
import { partitionOf } from '../contracts/placement.ts'
import { formatAddress } from '../contracts/subjects.ts'
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { printTable } from './table.ts'

export const nodes = async (options: Globals, key: string | undefined): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { nodes: list } = await client.command<{ nodes: NodeRow[] }>('nodes.list', {})
    if (key !== undefined) return await whereIs(client, key, list, options)
    if (options.json) list.forEach(printJson)
    else if (list.length === 0) note(noNodes)
    else printTable(['NODE', 'ROLES', 'PARTITIONS', 'HOST', 'PROCESS', 'SINCE'], list.map(cells))
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const noNodes = 'no nodes: statecast up --url nats://… starts one; a node on a folder of its own shares nothing'

const whereIs = async (client: Client, key: string, list: NodeRow[], { json }: Globals): Promise<number> => {
  const address = await withAddress(key, async (one) => {
    await client.command('trace.read', { ...one, limit: 1 })
    return one
  })
  const partition = partitionOf(address)
  const holder = list.find(({ holds }) => holds.includes(partition))
  if (json) printJson({ ...address, partition, node: holder?.id ?? null })
  else if (holder === undefined) note(list.length === 0 ? noNodes : `nobody has partition ${partition} now: ask again in a few seconds`)
  else
    print(
      `${printable(formatAddress(address))} is on ${printable(holder.id)}, process ${holder.pid} on ${printable(holder.host)} (partition ${partition})`,
    )
  return exitCodes.fine
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
    else print(`${printable(node)} hands over its work, lets running turns finish, and stops; see statecast nodes`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
