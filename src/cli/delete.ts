/** `statecast delete`: removes a conversation, or an actor of any kind, with its journal. */
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, print, printable, printJson } from './output.ts'

type Deleted = { deleted: string }

/** @throws RuntimeError not_found, session_busy while a turn is running */
export const deleteConversation = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { deleted, what } = await withAddress(key, async ({ kind, id }) =>
      kind === 'session'
        ? { what: 'conversation', ...(await client.command<Deleted>('sessions.delete', { sessionKey: id })) }
        : { what: 'actor', ...(await client.command<Deleted>('actors.delete', { kind, id })) },
    )
    if (options.json) printJson({ deleted })
    else print(`the ${what} ${printable(deleted)} is deleted, with its journal`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
