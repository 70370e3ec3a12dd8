/** `statecast actors`: every conversation and machine with its state, and what lives below it. */

import type { ActorPage, ActorRow } from '../api/index.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, printable, printJson, stateText } from './output.ts'
import { printTable } from './table.ts'

type ActorsOptions = Globals & { kind?: string; all?: boolean }

const pageSize = 100

export const actors = async (options: ActorsOptions): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const rows: ActorRow[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const page: ActorPage = await client.command('actors.list', {
        limit: pageSize,
        after,
        kind: options.kind,
      })
      rows.push(...page.actors.filter((row) => options.all || isAlive(row)))
      after = page.next
    }
    if (options.json) rows.forEach(printJson)
    else if (rows.length === 0) note(`nobody lives here${options.all ? '' : '; --all also lists those that have ended'}`)
    else printTable(['ACTOR', 'STATE', 'COMMITS', 'LAST', 'WAKES'], rows.flatMap(linesOf))
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const isAlive = ({ status }: ActorRow): boolean => status !== 'done' && status !== 'stopped'

const linesOf = (row: ActorRow): string[][] => {
  const { '/': own, ...below } = row.states
  const wakes = row.wakeAt === null ? '-' : row.wakeAt === 0 ? 'at once' : new Date(row.wakeAt).toISOString()
  return [
    [printable(`${row.kind}/${row.id}`), stateOf(row, own), String(row.seq), new Date(row.at).toISOString(), wakes],
    ...Object.entries(below).map(([path, state]) => [`  ${printable(path)}`, printable(stateText(state))]),
  ]
}

const stateOf = ({ error, quarantine, waiting, status }: ActorRow, own: unknown): string => {
  if (error) return `cannot be woken [${error.code}]${error.code === 'not_found' ? ': --app FILE has to bring its kind' : ''}`
  if (quarantine) return `quarantined [${quarantine.code}]`
  if (waiting > 0) return `${printable(stateText(own))}, waits for a person`
  return status === 'done' || status === 'error' ? `${printable(stateText(own))} (${status})` : printable(stateText(own))
}
