/** `statecast sessions`: the conversations of a data folder. */
import type { SessionRow } from '../runtime/sessions.ts'
import { connect, type Globals } from './connect.ts'
import { exitCodes, note, print, printable, printJson, stateText } from './output.ts'

export const sessions = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const list = (await client.command<{ sessions: SessionRow[] }>('sessions.list', { limit: 10_000 })).sessions
    list.sort((a, b) => b.at - a.at)
    if (options.json) list.forEach(printJson)
    else if (list.length === 0) note('no conversations yet: statecast chat begins one')
    else printTable(['KEY', 'STATE', 'COMMITS', 'LAST'], list.map(cells))
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const cells = ({ key, state, seq, at, busy }: SessionRow): string[] => [
  printable(key),
  `${printable(stateText(state))}${busy ? ' *' : ''}`,
  String(seq),
  new Date(at).toISOString(),
]

const printTable = (head: string[], rows: string[][]): void => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => Math.min(60, row[column]?.length ?? 0))))
  for (const row of [head, ...rows])
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
