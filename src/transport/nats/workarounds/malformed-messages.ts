/**
 * Messages published below `<prefix>.in` whose subject names no actor: too few tokens or too many, or a wildcard for one. No node subscribes to such a subject,
 * so the server would drop them silently; the inbox's stream stores them as they are, outside all partitions, and from there they go to the dead letters.
 */
import { AckPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream'
import type { Environment } from '../../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../../contracts/errors.ts'
import type { Blobs, Inbox } from '../../../contracts/transport.ts'
import { deadLetterHeaders } from '../dead-letters.ts'
import { type Link, pulling } from '../link.ts'
import type { Names } from '../names.ts'
import { keepListening, type Listening } from './listening.ts'
import { payloads } from './payload.ts'

/** Its name on servers that have one already: a work queue refuses a second consumer of the same subjects. */
const consumerName = 'strays'
const nanos = 1_000_000
/** Long enough to put one aside, also where its content goes to the blob store. */
const ackWaitMs = 30_000
const againMs = 5_000
const heldMax = 64

type MalformedParts = { link: Link; names: Names; blobs: Blobs; environment: Pick<Environment, 'clock' | 'log'> }

/** Puts malformed messages aside as soon as the inbox is consumed; a process that only reads changes nothing. */
export const withMalformedMessages = <Consumed extends Inbox & { stop(): Promise<void> }>(inbox: Consumed, parts: MalformedParts): Consumed => {
  let listening: Listening | undefined
  return {
    ...inbox,
    consume(...args) {
      const stop = inbox.consume(...args)
      listening ??= keepListening(
        'consuming messages without an actor',
        () => listen(parts),
        parts.environment,
        () => parts.link.nc.isClosed(),
      )
      return stop
    },
    async stop() {
      await listening?.stop()
      await inbox.stop()
    },
  }
}

const listen = async ({ link, names, blobs, environment: { clock, log } }: MalformedParts): Promise<ConsumerMessages> => {
  const stream = names.streams.inbox
  const content = payloads(link, blobs)

  const putAside = async (message: JsMsg): Promise<void> => {
    const {
      code,
      message: text,
      hint,
    } = new RuntimeError('bad_request', `'${message.subject.slice(0, 200)}' names no actor`, {
      hint: `publish to ${names.prefix}.in.<kind>.<id>, with two tokens and no wildcard`,
    })
    const reason = JSON.stringify({ code, message: text, hint, retryable: false })
    const { data, headers: kept } = await content.write(new Uint8Array(message.data), reason.length)
    const { subject, headers } = deadLetterHeaders(names, message, reason, clock.now())
    await link.publish(subject, data, {
      headers: { ...headers, ...kept, 'Statecast-Subject': message.subject },
      id: `malformed ${message.info.timestampNanos} ${message.seq}`,
    })
    message.ack()
    log.warn({ subject: message.subject }, 'a message names no actor and was put aside')
  }

  await link.jsm.consumers.add(stream, {
    durable_name: consumerName,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * nanos,
    max_ack_pending: heldMax,
    filter_subjects: [`${names.prefix}.in`, names.every('in')],
  })
  const consumer = await link.js.consumers.get(stream, consumerName)
  return consumer.consume({
    ...pulling,
    max_messages: heldMax,
    callback: (message) => {
      putAside(message).catch((error: unknown) => {
        if (link.nc.isClosed()) return
        log.warn({ subject: message.subject, error: errorBody(error) }, 'a message that names no actor could not be put aside yet')
        message.nak(againMs)
      })
    },
  })
}
