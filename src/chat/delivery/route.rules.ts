/** Where answers go. */
import { definedOf } from '../../contracts/defined.ts'
import type { Origin, Route } from '../../contracts/reply.ts'

/** Where an answer to a message goes, and which message it answers. */
export const routed = ({ channel, account, to, thread, messageId }: Origin): { route: Route; messageId?: string } => ({
  route: { channel, to, ...definedOf({ account, thread }) },
  ...definedOf({ messageId }),
})
