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
  /** How many of what the present consumer was given have come. */
  let arrived = 0
  const consumer = await js.consumers.get(stream, { filter_subjects: filter, deliver_policy: DeliverPolicy.LastPerSubject })
  const messages = await consumer.consume({
    ...pulling,
    callback: (message) => {
      arrived = message.info.deliverySequence
      try {
        tell(message)
      } catch (error) {
        log.error({ stream, subject: message.subject, error: errorBody(error) }, 'a watcher threw')
      }
      if (message.info.pending === 0 || message.seq >= there.state.last_seq) resolve()
    },
  })
  /**
   * What is lost with a link the client misses only by the number of the next message, and there may be none for long. The server counts in its
   * heartbeats; a consumer that is gone is made anew by the client, behind the last message that has come.
   */
  const heed = async (): Promise<void> => {
    let { name } = await consumer.info(true)
    for await (const status of messages.status())
      if (status.type === 'reset') arrived = 0
      else if (status.type === 'ordered_consumer_recreated') name = status.name
      else if (status.type === 'heartbeat' && status.lastConsumerSequence > arrived) await jsm.consumers.delete(stream, name).catch(() => undefined)
  }
  void heed()
  return {
    ready,
    stop: async () => {
      resolve()
      messages.stop()
      await messages.closed()
    },
  }
}
