/** A consumer that is started again until its owner stops it: times without a leader, or without a server, pass. */
import type { ConsumerMessages } from '@nats-io/jetstream'
import { type Environment, pause } from '../../../contracts/environment.ts'
import { fromNats } from '../errors.ts'

const againMs = 1_000

export type Listening = {
  /** Resolves when nothing more is delivered. */
  stop(): Promise<void>
}

/** @param what in words, for the log */
export const keepListening = (
  what: string,
  listen: () => Promise<ConsumerMessages>,
  { clock, log }: Pick<Environment, 'clock' | 'log'>,
  isClosed: () => boolean,
): Listening => {
  let over = false
  const begun = (async (): Promise<ConsumerMessages | undefined> => {
    while (!over && !isClosed())
      try {
        return await listen()
      } catch (error) {
        if (over || isClosed()) return undefined
        log.warn({ error: fromNats(error, what).toJSON() }, 'what waits on the server is not delivered yet; it is tried again')
        await pause(clock, againMs)
      }
    return undefined
  })()
  return {
    async stop() {
      over = true
      const messages = await begun
      messages?.stop()
    },
  }
}
