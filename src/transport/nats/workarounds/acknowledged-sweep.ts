/**
 * Removes acknowledged messages that are still in the inbox. A server that makes a consumer while messages come, or that is killed then, may count an
 * acknowledgement and leave the message in the stream (nats-server 2.15.1): no consumer gets it again, and in the end such messages fill the inbox.
 */
import type { Environment } from '../../../contracts/environment.ts'
import { fromNats } from '../errors.ts'
import type { Link } from '../link.ts'

/** ms to the next look: while there are messages, and at most where each look finds none, twice as long each time. */
const lookMs = 3_000
const restMsMax = 60_000

/** One consumer of the inbox, and the subjects that it takes. */
export type Consuming = { name: string; filter: string; holds(upTo: number): boolean }

export const sweepAcknowledged = (
  {
    link,
    stream,
    environment: { clock, log },
  }: { link: Pick<Link, 'jsm' | 'next'>; stream: string; environment: Pick<Environment, 'clock' | 'log'> },
  consuming: () => Iterable<Consuming>,
): { stop(): void } => {
  /** @returns how many messages it removed */
  const sweep = async ({ name, filter, holds }: Consuming): Promise<number> => {
    const { ack_floor } = await link.jsm.consumers.info(stream, name)
    const upTo = ack_floor.stream_seq
    const found = await link.next(stream, filter, 1)
    if (found === undefined || found.seq > upTo || holds(upTo)) return 0
    // A stream that has lost its end gives the same sequences to other messages. Asked last: the end that was read earlier is soon behind what is acknowledged.
    const { state } = await link.jsm.streams.info(stream)
    if (upTo > state.last_seq) return 0
    return (await link.jsm.streams.purge(stream, { filter, seq: upTo + 1 })).purged
  }

  let first = 0
  let pauseMs = lookMs
  const look = async (): Promise<void> => {
    const { state } = await link.jsm.streams.info(stream)
    // In an inbox that works, another message is first at each look.
    const still = state.messages > 0 && state.first_seq === first
    first = state.first_seq
    pauseMs = state.messages > 0 ? lookMs : Math.min(pauseMs * 2, restMsMax)
    let removed = 0
    if (still) for (const one of consuming()) removed += await sweep(one)
    if (removed > 0) log.warn({ stream, messages: removed }, 'acknowledged messages were still in the inbox, and were removed')
  }

  let stopped = false
  let timer: unknown
  const lookLater = (): void => {
    if (!stopped) timer = clock.setTimeout(() => void look().catch(failed).finally(lookLater), pauseMs)
  }
  const failed = (error: unknown): void => {
    if (!stopped) log.debug({ error: fromNats(error, 'looking through the inbox').toJSON() }, 'the inbox could not be looked through')
  }
  lookLater()
  return {
    stop: () => {
      stopped = true
      clock.clearTimeout(timer)
    },
  }
}
