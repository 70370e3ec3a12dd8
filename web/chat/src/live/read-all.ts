/** All of what was cut, in pieces. */
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import type { ChatModel } from '../model.ts'

/** More than what is shown of anything that is cut, so that the first piece takes nothing away. */
const limit = 200_000

type Piece = { text: string; next?: number | null }

export const readAll =
  (client: SocketClient): ChatModel['readAll'] =>
  async (sessionKey, what, onText, signal) => {
    const command = 'callId' in what ? 'chat.output' : 'chat.message'
    let whole = ''
    for (let offset: number | undefined = 0; offset !== undefined && !signal.aborted; ) {
      const { text, next }: Piece = await client.call<Piece>(command, { sessionKey, ...what, offset, limit })
      if (signal.aborted) return
      whole += text
      onText(whole)
      offset = next ?? undefined
    }
  }
