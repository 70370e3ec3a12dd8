/** Follows the newest message of each subject of a stream: first what is there, then every change, however often the link breaks. */
import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import { type Link, pulling } from './link.ts'

type Watch = {
  /** Resolves when the listener has got all that was there at the start. */
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
  /** How many messages of the present consumer have arrived. */
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
   * The client notices a message that was lost with the link only by the number of the next one, and that may take long. The server's heartbeats say how many it
   * has delivered; where that is more than arrived, the client makes the consumer anew, behind the last message that did.
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
