/** People who read the stream of the session, as a web page does: a message has arrived when the session says it. */
import type { Channel } from '../../contracts/channel.ts'
import { webChannelId } from '../../contracts/reply.ts'

/** The event `block` that every delivery brings about is the message: pages know it by its key if it comes again after a crash. */
export const webChannel = (changes: Partial<Channel> = {}): Channel => ({
  id: webChannelId,
  markdown: true,
  textMax: 100_000,
  repeatable: true,
  showsApprovals: true,
  // That somebody types is said in the session too.
  typing: () => undefined,
  send: () => undefined,
  ...changes,
})
