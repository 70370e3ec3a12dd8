/** Where the answer to a message leaves for that a client said: nowhere, unless the client asks for it and the conversation belongs to one channel. */
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError } from '../contracts/errors.ts'
import type { Origin } from '../contracts/reply.ts'
import { channelInKey } from '../contracts/session-key.rules.ts'
import type { Session } from '../runtime/index.ts'

/** The last route outside of the session, where it is of the channel that the session belongs to. @returns undefined where the answer stays inside */
export const lastRoute = async (session: Session): Promise<Origin | undefined> => {
  const channel = channelInKey(session.key)
  if (channel === undefined) return undefined
  const view = await session.view().catch((error: unknown) => {
    if (isRuntimeError(error) && error.code === 'not_found') return undefined
    throw error
  })
  const last = view?.record.outside
  if (last === undefined || last.channel !== channel) return undefined
  const { account, to, thread, chatType } = last
  return { channel, to, ...definedOf({ account, thread, chatType }) }
}
