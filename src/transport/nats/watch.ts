/** Follows the newest message of each subject of a stream: first what is there, then every change, however often the link breaks. */
import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import { type Link, pulling } from './link.ts'

export type Watch = {
  /** Resolves when all that was there at the start has been told. */
  ready: Promise<void>
  stop(): Promise<void>
}

export const watchStream = async (
  { js, jsm }: Link,
  { stream, filter, log }: { stream: string; filter: string; log: Logger },
  tell: (message: JsMsg) => void,
): Promise<Watch> => {
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const there = await jsm.streams.info(stream)
  if (there.state.messages === 0) resolve()
  const consumer = await js.consumers.get(stream, { filter_subjects: filter, deliver_policy: DeliverPolicy.LastPerSubject })
  const messages = await consumer.consume({
    ...pulling,
    callback: (message) => {
      try {
        tell(message)
      } catch (error) {
        log.error({ stream, subject: message.subject, error: errorBody(error) }, 'a watcher threw')
      }
      if (message.info.pending === 0 || message.seq >= there.state.last_seq) resolve()
    },
  })
  return {
    ready,
    stop: async () => {
      resolve()
      messages.stop()
      await messages.closed()
    },
  }
}
