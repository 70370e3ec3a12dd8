/** A conversation in a terminal or a pipe: the person who writes into it listens to its session, as the web chat does. */
import type { Channel } from '../../contracts/channel.ts'

/** Text as it is, in blocks while it is written, and as long as it gets. */
export const stdioChannel = (changes: Partial<Channel> = {}): Channel => ({
  id: 'stdio',
  markdown: false,
  textMax: 1_000_000,
  blocks: { streaming: true },
  repeatable: true,
  showsApprovals: true,
  typing: () => undefined,
  send: () => undefined,
  ...changes,
})
