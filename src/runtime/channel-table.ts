/** The channels of an app by id: our own for the web and the command line, and those that its author brings. */
import { stdioChannel } from '../channels/stdio.ts'
import { webChannel } from '../channels/web.ts'
import type { Channel } from '../contracts/channel.ts'
import { RuntimeError } from '../contracts/errors.ts'

export type Channels = ReadonlyMap<string, Channel>

/** @param given one with the id of ours takes its place @throws RuntimeError conflict */
export const channelTable = (given: readonly Channel[]): Channels => {
  const table = new Map<string, Channel>([webChannel(), stdioChannel()].map((channel) => [channel.id, channel]))
  const own = new Set<string>()
  for (const channel of given) {
    if (own.has(channel.id))
      throw new RuntimeError('conflict', `two channels are named '${channel.id}'`, { field: 'channels', hint: 'rename one of them' })
    own.add(channel.id)
    table.set(channel.id, channel)
  }
  return table
}

/** @throws RuntimeError not_found: an answer to it would go nowhere */
export const channelNamed = (channels: Channels, id: string): Channel => {
  const found = channels.get(id)
  if (found) return found
  throw new RuntimeError('not_found', `no channel is named '${id.slice(0, 80)}' on this node`, {
    field: 'origin.channel',
    hint: `it has: ${[...channels.keys()].join(', ')}; add its adapter under channels in statecast.config.ts`,
  })
}
