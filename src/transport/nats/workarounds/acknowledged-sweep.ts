/**
 * Takes out of the inbox what is done and still there. A server that makes a consumer while messages come, or that is killed then, may count what is
 * acknowledged and not take it out of the stream (nats-server 2.15.1): nobody is given it again, and in the end the inbox is full of it.
 */
import type { Environment } from '../../../contracts/environment.ts'
import { fromNats } from '../errors.ts'
import type { Link } from '../link.ts'

const lookMs = 3_000

/** Whoever takes messages of one filter. */
export type Consuming = { name: string; filter: string; holds(upTo: number): boolean }

export const clearLeftovers = (
  {
    link,
    stream,
    environment: { clock, log },
  }: { link: Pick<Link, 'jsm' | 'next'>; stream: string; environment: Pick<Environment, 'clock' | 'log'> },
  consuming: () => Iterable<Consuming>,
): { stop(): void } => {
  /** @returns how many there were */
  const clear = async ({ name, filter, holds }: Consuming): Promise<number> => {
    const { ack_floor } = await link.jsm.consumers.info(stream, name)
    const upTo = ack_floor.stream_seq
    const found = await link.next(stream, filter, 1)
    if (found === undefined || found.seq > upTo || holds(upTo)) return 0
    // A stream that has lost its end gives the same places away again. Asked last: while messages come, what is done is soon behind an older end.
    const { state } = await link.jsm.streams.info(stream)
    if (upTo > state.last_seq) return 0
    return (await link.jsm.streams.purge(stream, { filter, seq: upTo + 1 })).purged
  }

  let first = 0
  const look = async (): Promise<void> => {
    const { state } = await link.jsm.streams.info(stream)
    // In an inbox that works something else is first each time.
    const still = state.messages > 0 && state.first_seq === first
    first = state.first_seq
    let cleared = 0
    if (still) for (const one of consuming()) cleared += await clear(one)
    if (cleared > 0) log.warn({ stream, messages: cleared }, 'messages that were done stood in the inbox still, and were taken out')
  }

  let stopped = false
  let timer: unknown
  const lookLater = (): void => {
    if (!stopped) timer = clock.setTimeout(() => void look().catch(failed).finally(lookLater), lookMs)
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
