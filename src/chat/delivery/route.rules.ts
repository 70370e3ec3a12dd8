/** Where answers go. */
import type { Origin, Route } from '../../contracts/reply.ts'

/** Where an answer to a message goes, and which message it answers. */
export const routed = ({ channel, account, to, thread, messageId }: Origin): { route: Route; messageId?: string } => ({
  route: { channel, to, ...(account === undefined ? {} : { account }), ...(thread === undefined ? {} : { thread }) },
  ...(messageId === undefined ? {} : { messageId }),
})
