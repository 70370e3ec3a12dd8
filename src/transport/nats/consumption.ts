/** One durable consumer of the inbox: the server delivers, {@link inOrder} puts it in the order of the stream, and whose turn it is the queue says, as in every backend. */
import { AckPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream'
import type { Environment } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Delivery } from '../../contracts/transport.ts'
import { inboxQueue } from '../inbox-queue.ts'
import type { InboxStore } from '../inbox-store.ts'
import { deadLetterHeaders, idOf } from './dead-letters.ts'
import { fromNats } from './errors.ts'
import { type Link, pulling } from './link.ts'
import type { Names } from './names.ts'
import type { Consuming } from './workarounds/acknowledged-sweep.ts'
import { inOrder } from './workarounds/in-order.ts'
import { keepListening } from './workarounds/listening.ts'
import type { payloads } from './workarounds/payload.ts'
import { requestMs } from './workarounds/requester.ts'

/** After this long without a sign of life from its consumer, the server gives a message to another consumer. */
const ackWaitMs = 4_000
const signOfLifeMs = ackWaitMs / 3
/** Messages that one consumer holds, delivered or waiting for their subject's turn. */
const heldMax = 2_048
const nanos = 1_000_000
const acknowledged = '+ACK'
/** A node has 64 of these, and each asks again and again. */
const pullingPartition = { expires: 6_000, idle_heartbeat: 1_500 } as const

/** The field in which the server wants them; the client's types lack it. */
const acknowledgementsOf = (message: JsMsg): string => (message as JsMsg & { reply: string }).reply

type ConsumptionParts = {
  link: Link
  names: Names
  content: ReturnType<typeof payloads>
  environment: Pick<Environment, 'clock' | 'log'>
  pattern: string
  partition: number | undefined
}

export type Consumption = Consuming & {
  /** Lets handlers end what they have begun, and gives the other messages to the next consumer. */
  stop(): Promise<void>
  /** A handler that is still at work cannot settle its message any more. */
  abandon(): Promise<void>
}

export const consumption = (parts: ConsumptionParts, handler: (delivery: Delivery) => Promise<void>): Consumption => {
  const { link, names, content, environment, pattern, partition } = parts
  const { clock } = environment
  const filter = names.inbox(pattern, partition)
  const name = `in-${filter
    .slice(names.prefix.length + '.inbox.'.length)
    .replaceAll('>', 'all')
    .replaceAll('*', 'any')
    .replace(/[^A-Za-z0-9_-]/g, '-')}`
  const held = new Map<number, JsMsg>()
  let sign: unknown

  const heldAt = (row: number): JsMsg => {
    const message = held.get(row)
    if (message === undefined) throw new RuntimeError('closed', 'this message went to another consumer meanwhile', { retryable: true })
    return message
  }

  const store: InboxStore = {
    put: () => Promise.reject(new TypeError('the server delivers what is put')),
    async done(row) {
      // Asked back, since a message whose acknowledgement is lost comes again. The client's own `ackAck` can be asked once only, and signs of life end with it.
      const reply = acknowledgementsOf(heldAt(row))
      await link.nc.request(reply, acknowledged, { timeout: requestMs }).catch((error: unknown) => {
        throw fromNats(error, 'acknowledging a message')
      })
      held.delete(row)
    },
    async postpone(row) {
      heldAt(row).working()
    },
    async bury(row, reason, at) {
      const message = heldAt(row)
      // With the reason in its headers a message may be too large.
      const kept = await content.write(new Uint8Array(message.data), reason.length)
      const { subject, headers } = deadLetterHeaders(names, message, reason, at)
      const id = `dead ${message.info.timestampNanos} ${message.seq}`
      await link.publish(subject, kept.data, { headers: { ...headers, ...kept.headers }, id }).catch((error: unknown) => {
        throw fromNats(error, 'putting a message aside')
      })
      message.term(reason.slice(0, 100).replace(/[\r\n]/g, ' '))
      held.delete(row)
    },
    waiting: () => [],
    data: (row) => new Uint8Array(heldAt(row).data),
    dead: () => Promise.resolve([]),
  }
  const queue = inboxQueue(store, () => environment)

  const signLater = (): void => {
    sign ??= clock.setTimeout(() => {
      sign = undefined
      for (const message of held.values()) message.working()
      if (held.size > 0) signLater()
    }, signOfLifeMs)
  }

  const offer = (row: number): void => {
    const message = heldAt(row)
    queue.offer({
      row,
      subject: names.publishedAs(message.subject),
      id: idOf(message),
      attempts: message.info.deliveryCount - 1,
      failures: 0,
      readyAt: 0,
      leftOver: false,
    })
  }
  const order = inOrder({
    link,
    stream: names.streams.inbox,
    environment,
    doubtMs: 3 * ackWaitMs,
    patienceMs: 4 * ackWaitMs,
    isHeld: (row) => held.has(row),
    isDone: async (row) => {
      const { ack_floor, delivered, num_ack_pending } = await link.jsm.consumers.info(names.streams.inbox, name)
      return row <= (num_ack_pending === 0 ? delivered : ack_floor).stream_seq
    },
    offer,
  })

  const take = (message: JsMsg): void => {
    // A message that comes again while we hold it: our sign of life was lost, and not the message.
    const again = held.has(message.seq)
    held.set(message.seq, message)
    signLater()
    order.took(message, again)
  }

  const listen = async (): Promise<ConsumerMessages> => {
    const { streams } = names
    const before = await link.jsm.consumers.add(streams.inbox, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * nanos,
      max_ack_pending: heldMax,
      filter_subject: filter,
    })
    order.begin(before.delivered.consumer_seq, before.num_ack_pending)
    const consumer = await link.js.consumers.get(streams.inbox, name)
    return consumer.consume({ callback: take, max_messages: 256, ...(partition === undefined ? pulling : pullingPartition) })
  }

  const stopQueue = queue.consume(pattern, handler, queue)
  const listening = keepListening(`consuming ${filter}`, listen, environment, () => link.nc.isClosed())

  const end = async (handlers: () => Promise<void>): Promise<void> => {
    await listening.stop()
    order.stop()
    await handlers()
    clock.clearTimeout(sign)
    // To the next consumer, at once and in their order.
    for (const [row, message] of [...held].sort(([one], [other]) => other - one)) {
      message.nak()
      held.delete(row)
    }
    queue.forget()
    await link.nc.flush().catch(() => undefined)
  }
  let ended: Promise<void> | undefined
  return {
    name,
    filter,
    holds: (upTo) => [...held.keys()].some((row) => row <= upTo),
    stop: () => (ended ??= end(stopQueue)),
    abandon: () => (ended ??= end(async () => queue.abandon(queue, true))),
  }
}
