/** `statecast delete`: forgets a conversation, with its journal. */
import { withSession } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, print, printable, printJson } from './output.ts'

/** @throws RuntimeError not_found, session_busy while a turn is running */
export const deleteConversation = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { deleted } = await withSession(key, (sessionKey) => client.command<{ deleted: string }>('sessions.delete', { sessionKey }))
    if (options.json) printJson({ deleted })
    else print(`the conversation ${printable(deleted)} is deleted, with its journal`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
