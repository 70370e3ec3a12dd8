/** `statecast sessions`: the conversations of a data folder. */
import type { SessionRow } from '../api/index.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { exitCodes, note, printable, printJson, stateText } from './output.ts'
import { printTable } from './table.ts'

export const sessions = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const list = (await client.command<{ sessions: SessionRow[] }>('sessions.list', { limit: 10_000 })).sessions
    list.sort((a, b) => b.at - a.at)
    if (options.json) list.forEach(printJson)
    else if (list.length === 0) note(`no conversations yet: ${hintCommand(options, 'chat')} begins one`)
    else {
      printTable(['KEY', 'STATE', 'COMMITS', 'LAST'], list.map(cells))
      if (list.some(({ waiting }) => waiting > 0)) note(`${hintCommand(options, 'approvals')} lists what waits, and how to answer`)
    }
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const cells = ({ key, state, seq, at, busy, waiting }: SessionRow): string[] => [
  printable(key),
  `${waiting > 0 ? 'waits for a person' : printable(stateText(state))}${busy ? ' *' : ''}`,
  String(seq),
  new Date(at).toISOString(),
]
