/**
 * Durable work on a work-queue stream: what is published is stored, and taken out when it is acknowledged. The server delivers in the order of the
 * stream; which subject's turn it is, pauses and failures are the queue's business, as in every backend.
 */
import { AckPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream'
import type { Environment } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Blobs, Inbox } from '../../contracts/transport.ts'
import { inboxQueue } from '../inbox-queue.ts'
import type { InboxStore } from '../inbox-store.ts'
import { checkBytes, checkName } from '../limits.ts'
import { checkPattern, checkSubject } from '../subject.ts'
import { fromNats } from './errors.ts'
import { type Link, pulling } from './link.ts'
import type { Names } from './names.ts'
import { contentMax, payloads } from './payload.ts'

const idHeader = 'Nats-Msg-Id'
const subjectHeader = 'Statecast-Subject'
const reasonHeader = 'Statecast-Reason'
/** After this long without a sign of life of its consumer a message goes to another one. */
const ackWaitMs = 4_000
const signOfLifeMs = ackWaitMs / 3
/** Messages that one consumer holds, delivered or waiting for their subject's turn. */
const heldMax = 2_048
const nanos = 1_000_000

export const natsInbox = (
  link: Link,
  names: Names,
  blobs: Blobs,
  environment: Pick<Environment, 'clock' | 'log'>,
): Inbox & { stop(): Promise<void> } => {
  const { prefix, streams } = names
  const held = new Map<number, JsMsg>()
  const content = payloads(link, blobs)
  let consuming: { end(handlers: () => Promise<void>): Promise<void> } | undefined

  const heldAt = (row: number): JsMsg => {
    const message = held.get(row)
    if (message === undefined) throw new RuntimeError('closed', 'this message went to another consumer meanwhile', { retryable: true })
    return message
  }

  const store: InboxStore = {
    put: () => Promise.reject(new TypeError('the server delivers what is put')),
    async done(row) {
      // Asked back, since a message whose acknowledgement is lost comes again.
      if (!(await heldAt(row).ackAck())) throw new RuntimeError('log_unavailable', 'an acknowledgement did not reach the server', { retryable: true })
      held.delete(row)
    },
    async postpone(row) {
      heldAt(row).working()
    },
    async bury(row, reason, at) {
      const message = heldAt(row)
      const subject = names.publishedAs(message.subject)
      const headers = {
        [subjectHeader]: subject,
        [reasonHeader]: encodeURIComponent(reason),
        'Statecast-Id': idOf(message),
        'Statecast-At': String(at),
      }
      // With its reason it may not fit where it did without.
      const kept = await content.write(new Uint8Array(message.data), reason.length)
      await link.publish(names.dead(codeIn(reason)), kept.data, {
        headers: { ...headers, ...kept.headers },
        id: `dead ${message.info.timestampNanos} ${message.seq}`,
      })
      message.term(reason.slice(0, 100).replace(/[\r\n]/g, ' '))
      held.delete(row)
    },
    waiting: () => [],
    data: (row) => new Uint8Array(heldAt(row).data),
    async dead({ limit = 1000 } = {}) {
      if (limit < 1) return []
      const { state } = await link.jsm.streams.info(streams.dead)
      if (state.messages === 0) return []
      const letters = await link.batch(streams.dead, { seq: 1, next_by_subj: names.every('dead'), batch: limit })
      return Promise.all(
        letters.map(async (letter) => ({
          subject: letter.headers.last(subjectHeader),
          id: letter.headers.last('Statecast-Id'),
          data: await content.read(letter),
          reason: decodeURIComponent(letter.headers.last(reasonHeader)),
          at: Number(letter.headers.last('Statecast-At')),
        })),
      )
    },
  }
  const queue = inboxQueue(store, () => environment)

  const signs = setInterval(() => {
    for (const message of held.values()) message.working()
  }, signOfLifeMs)
  signs.unref()

  const take = (message: JsMsg): void => {
    // What comes again though we hold it was not lost: our sign of life was.
    if (held.has(message.seq)) return void held.set(message.seq, message)
    held.set(message.seq, message)
    queue.offer({
      row: message.seq,
      subject: names.publishedAs(message.subject),
      id: idOf(message),
      attempts: message.info.deliveryCount - 1,
      failures: 0,
      readyAt: 0,
      leftOver: false,
    })
  }

  const listen = async (pattern: string): Promise<ConsumerMessages> => {
    const filter = names.inbox(checkPattern(pattern))
    const rest = filter.slice(names.inbox('').length)
    const name = `in-${rest
      .replaceAll('>', 'all')
      .replaceAll('*', 'any')
      .replace(/[^A-Za-z0-9_-]/g, '-')}`
    await link.jsm.consumers.add(streams.inbox, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * nanos,
      max_ack_pending: heldMax,
      filter_subject: filter,
    })
    const consumer = await link.js.consumers.get(streams.inbox, name)
    return consumer.consume({ callback: take, max_messages: 256, ...pulling })
  }

  return {
    async put(subject, id, data) {
      checkSubject(subject)
      checkName(id, 'message id')
      checkBytes(data, contentMax(link), 'message')
      if (!subject.startsWith(`${prefix}.in.`))
        throw new RuntimeError('bad_request', `'${subject.slice(0, 120)}' is no subject of an inbox`, {
          field: 'subject',
          hint: `write ${prefix}.in.<kind>.<id>`,
        })
      try {
        // The server knows ids by stream, and users choose the same id for messages to two sessions.
        const { duplicate } = await link.publish(subject, data, { id: `${subject} ${id}`, headers: { 'Statecast-Id': id } })
        return { duplicate }
      } catch (error) {
        throw fromNats(error, 'storing a message')
      }
    },

    consume(pattern, handler) {
      if (consuming !== undefined)
        throw new RuntimeError('conflict', 'this inbox has a consumer', { hint: 'stop it first; one consumer takes all subjects by a wildcard' })
      const stopQueue = queue.consume(pattern, handler, queue)
      const listening = listen(pattern)
      listening.catch((error: unknown) => environment.log.error({ pattern, error: errorBody(error) }, 'an inbox cannot be consumed'))
      const mine = {
        end: async (handlers: () => Promise<void>) => {
          if (consuming !== mine) return
          const messages = await listening.catch(() => undefined)
          messages?.stop()
          await handlers()
          // To whoever is next, at once and in their order.
          for (const [row, message] of [...held].sort(([one], [other]) => other - one)) {
            message.nak()
            held.delete(row)
          }
          queue.forget()
          await link.nc.flush().catch(() => undefined)
          consuming = undefined
        },
      }
      consuming = mine
      return () => mine.end(stopQueue)
    },
    deadLetters: async (options) => {
      try {
        return await store.dead(options)
      } catch (error) {
        throw fromNats(error, 'reading dead letters')
      }
    },
    async stop() {
      clearInterval(signs)
      // Whoever is still at work can settle nothing any more; another consumer gets it.
      await consuming?.end(async () => queue.abandon(queue, true))
    },
  }
}

/**
 * A publisher names it in our header, or in that of NATS. One who names nothing gets when the stream took it and as which: a stream that was made
 * anew counts from one again, and nobody shall be taken for somebody of before.
 */
const idOf = ({ headers, seq, info }: JsMsg): string => headers?.last('Statecast-Id') || headers?.last(idHeader) || `in-${info.timestampNanos}-${seq}`

/** Reasons are JSON of an error, or words. */
const codeIn = (reason: string): string => {
  try {
    const { code } = JSON.parse(reason) as { code?: unknown }
    return typeof code === 'string' ? code : 'failed'
  } catch {
    return 'failed'
  }
}
