/**
 * What does a turn cost on NATS JetStream, to somebody who hears it over a connection of its own, beside the floor and, with `--peers`, beside LangGraph
 * with its SQLite checkpointer?
 */
import { show, type Table } from './measure.ts'
import { installPeers } from './peers/install.ts'
import { type Entry, onNats } from './turns/contender.ts'
import { measure, metrics, type Relative, tableOf, valuesOf } from './turns/tables.ts'

const peer = 'LangGraph, SQLite'

const relative: Relative[] = [
  { of: 'tool', subject: onNats.ours, to: onNats.floor.name, bound: 'at most', limit: 2 },
  { of: 'tool', subject: onNats.ours, to: peer, bound: 'at most', limit: 0.5 },
  { of: 'together', subject: onNats.ours, to: onNats.floor.name, bound: 'at least', limit: 0.5 },
  { of: 'together', subject: onNats.ours, to: peer, bound: 'at least', limit: 5 },
]

export const run = async ({ withPeers = false } = {}): Promise<Table[]> => {
  const { entries, failed } = withPeers ? installPeers() : { entries: [] as Entry[], failed: [] }
  const measured = await measure([onNats.floor, onNats.ours, ...entries.filter(({ name }) => name === peer)])
  const refused = failed.filter(({ name }) => name === peer)
  const tables = metrics.map((metric) => tableOf(measured, refused, metric, [onNats.ours], relative))
  const first = tables[0] as Table
  first.note =
    'One nats-server 2.15 with its default of syncing every two minutes, for the floor as for us; LangGraph writes to a file and does not sync.'
  tables.forEach(show)
  if (!valuesOf(measured, onNats.ours.name, 'plain')) throw new Error('could not be measured')
  return tables
}

if (import.meta.main) await run({ withPeers: process.argv.includes('--peers') })
