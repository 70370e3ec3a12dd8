/** Which consumer gets which stored message, and when: in order per subject, one in flight per subject, again after a failure. Storage is a parameter. */

import type { Environment } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Delivery, Inbox } from '../contracts/transport.ts'
import { closedError } from './closable.ts'
import type { InboxStore, StoredMessage } from './inbox-store.ts'
import { checkBytes, checkName, inboxBytesMax, inboxMessagesMax } from './limits.ts'
import { checkSubject, subjectMatcher } from './subject.ts'

export const failuresMax = 10
/** Subjects delivered at the same time, to all consumers together. */
const inFlightMax = 1_024
const reasonCharactersMax = 2_000
/** Pause after an acknowledgement that could not be written. */
const unsettledMs = 1_000
const backoffMs = (failures: number): number => Math.min(30_000, 100 * 2 ** (failures - 1))

type Consumer = {
  pattern: string
  matches: (subject: string) => boolean
  handler: (delivery: Delivery) => Promise<void>
  running: Set<Promise<void>>
  owner: unknown
  dead: boolean
}
type Line = { messages: StoredMessage[]; busy: boolean; timer: { handle: unknown } | undefined }

export type InboxQueue = {
  put: Inbox['put']
  /** For a store that delivers by itself: one more message has arrived. */
  offer(message: StoredMessage): void
  /** For such a store: all waiting messages were given back. */
  forget(): void
  /** @param owner the transport that consumes; it has one consumer @param takes which of the subjects that fit the pattern; all, unless given. @throws RuntimeError conflict */
  consume(pattern: string, handler: (delivery: Delivery) => Promise<void>, owner: unknown, takes?: (subject: string) => boolean): () => Promise<void>
  /** Removes the owner's consumer and gives its messages in flight to others. A `dead` owner can settle nothing any more; one that lives on without a consumer can. */
  abandon(owner: unknown, dead: boolean): void
}

export const inboxQueue = (store: InboxStore, environment: () => Pick<Environment, 'clock' | 'log'>, messagesMax = inboxMessagesMax): InboxQueue => {
  const lines = new Map<string, Line>()
  const consumers: Consumer[] = []
  /** Subjects that could be delivered but for {@link inFlightMax}. */
  const starved = new Set<string>()
  let undelivered = 0
  let inFlight = 0
  let turn = 0

  const enqueue = (message: StoredMessage): void => {
    const line = lines.get(message.subject)
    if (line === undefined) lines.set(message.subject, { messages: [message], busy: false, timer: undefined })
    else line.messages.push(message)
  }

  const consumerOf = (subject: string): Consumer | undefined => {
    const fitting = consumers.filter(({ matches }) => matches(subject))
    return fitting[turn++ % fitting.length]
  }

  /** Starts the next delivery of a subject, if it may start. */
  const pump = (subject: string): void => {
    const line = lines.get(subject)
    const message = line?.messages[0]
    if (line === undefined || line.busy || line.timer !== undefined) return
    if (message === undefined) return void lines.delete(subject)
    const consumer = consumerOf(subject)
    if (consumer === undefined) return
    const { clock } = environment()
    const waitMs = message.readyAt - clock.now()
    if (waitMs > 0) {
      const timer = { handle: undefined as unknown }
      line.timer = timer
      // Compared, since the queue of the subject may have been abandoned and armed again meanwhile; the pause counts from the request, not by the wall clock.
      timer.handle = clock.setTimeout(() => {
        if (line.timer !== timer) return
        line.timer = undefined
        message.readyAt = 0
        pump(subject)
      }, waitMs)
      return
    }
    if (inFlight >= inFlightMax) return void starved.add(subject)
    line.busy = true
    inFlight += 1
    const running = deliver(line, message, consumer).finally(() => consumer.running.delete(running))
    consumer.running.add(running)
  }

  /** Without a consumer there is nothing to wake, and a process that is done must be able to end. */
  const disarm = (line: Line): void => {
    if (line.timer === undefined) return
    environment().clock.clearTimeout(line.timer.handle)
    line.timer = undefined
  }

  const release = (line: Line, message: StoredMessage): void => {
    line.busy = false
    inFlight -= 1
    for (const next of starved) {
      if (inFlight >= inFlightMax) break
      starved.delete(next)
      pump(next)
    }
    pump(message.subject)
  }

  const settled = (message: StoredMessage): void => {
    const line = lines.get(message.subject)
    const index = line?.messages.indexOf(message) ?? -1
    if (index < 0) return
    line?.messages.splice(index, 1)
    undelivered -= 1
  }

  const postpone = async (message: StoredMessage, delayMs: number): Promise<void> => {
    message.readyAt = environment().clock.now() + Math.max(0, delayMs)
    await store.postpone(message.row, message.attempts, message.failures, message.readyAt)
  }

  const bury = async (message: StoredMessage, reason: string): Promise<void> => {
    await store.bury(message.row, reason.slice(0, reasonCharactersMax), environment().clock.now())
    settled(message)
  }

  const deliver = async (line: Line, message: StoredMessage, consumer: Consumer): Promise<void> => {
    message.attempts += 1
    let settling: Promise<void> | undefined
    /** The first of `ack`, `retry` and `bury` counts. */
    const settle = (act: () => Promise<void>): Promise<void> => {
      if (settling !== undefined) return settling
      settling = consumer.dead ? Promise.reject(closedError()) : act()
      // A handler may ignore it: its rejection is handled below in any case.
      settling.catch(() => undefined)
      return settling
    }
    try {
      const data = readable(message)
      if (data === undefined) return await settle(() => bury(message, 'its stored bytes are damaged'))
      if (message.leftOver) void store.postpone(message.row, message.attempts, message.failures, 0).catch(() => undefined)
      await consumer.handler({
        subject: message.subject,
        id: message.id,
        data,
        attempt: message.attempts,
        ack: () => settle(() => store.done(message.row, environment().clock.now()).then(() => settled(message))),
        retry: (delayMs) => settle(() => postpone(message, delayMs)),
        bury: (reason) => settle(() => bury(message, reason)),
      })
      if (settling === undefined) throw new Error('the handler ended without ack, retry or bury')
      await settling
    } catch (error) {
      const reached = await Promise.resolve(settling).then(
        () => settling !== undefined,
        () => false,
      )
      if (reached)
        environment().log.warn({ subject: message.subject, id: message.id, error }, 'an inbox handler threw after it had settled its message')
      else if (consumers.includes(consumer)) await (settling === undefined ? fail(message, error) : unsettled(message, error))
    } finally {
      if (lines.get(message.subject) === line) release(line, message)
      else inFlight -= 1
    }
  }

  /** @returns undefined for a message that no later attempt could read either */
  const readable = (message: StoredMessage): Uint8Array | undefined => {
    try {
      return store.data(message.row)
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'corrupt_at') return undefined
      throw error
    }
  }

  const fail = async (message: StoredMessage, error: unknown): Promise<void> => {
    const reason = error instanceof Error ? error.message : String(error)
    message.failures += 1
    environment().log.warn({ subject: message.subject, id: message.id, failures: message.failures, error }, 'an inbox handler failed')
    const written =
      message.failures >= failuresMax ? bury(message, `failed ${message.failures} times: ${reason}`) : postpone(message, backoffMs(message.failures))
    await written.catch((unwritten: unknown) => {
      // It stays in memory and in the store; the pause keeps us from asking a broken disk all the time.
      message.readyAt = environment().clock.now() + backoffMs(failuresMax)
      environment().log.error({ subject: message.subject, id: message.id, error: unwritten }, 'the inbox could not note a failure')
    })
  }

  /** Nothing is wrong with the message: its handler is done, and the acknowledgement could not be stored. It is delivered again, however often. */
  const unsettled = async (message: StoredMessage, error: unknown): Promise<void> => {
    environment().log.warn(
      { subject: message.subject, id: message.id, error: errorBody(error) },
      'what became of a message could not be written down: it comes again',
    )
    await postpone(message, unsettledMs).catch(() => {
      message.readyAt = environment().clock.now() + backoffMs(failuresMax)
    })
  }

  const take = (message: StoredMessage): void => {
    enqueue(message)
    undelivered += 1
  }
  for (const message of store.waiting()) take(message)

  return {
    async put(subject, id, data) {
      checkSubject(subject)
      checkName(id, 'message id')
      checkBytes(data, inboxBytesMax, 'message')
      if (undelivered >= messagesMax)
        throw new RuntimeError('overloaded', `${undelivered} messages wait in the inbox`, { retryable: true, hint: 'try again when some are done' })
      undelivered += 1
      const row = await store.put(subject, id, data, environment().clock.now()).catch((error: unknown) => {
        undelivered -= 1
        throw error
      })
      if (row === undefined) {
        undelivered -= 1
        return { duplicate: true }
      }
      enqueue({ row, subject, id, attempts: 0, failures: 0, readyAt: 0, leftOver: false })
      pump(subject)
      return { duplicate: false }
    },

    offer(message) {
      take(message)
      pump(message.subject)
    },

    forget() {
      for (const line of lines.values()) disarm(line)
      lines.clear()
      starved.clear()
      undelivered = 0
    },

    consume(pattern, handler, owner, takes = () => true) {
      const fits = subjectMatcher(pattern)
      const matches = (subject: string): boolean => fits(subject) && takes(subject)
      if (consumers.some((consumer) => consumer.owner === owner))
        throw new RuntimeError('conflict', 'this inbox has a consumer', { hint: 'stop it first; one consumer takes all subjects by a wildcard' })
      const consumer: Consumer = { pattern, matches, handler, running: new Set(), owner, dead: false }
      consumers.push(consumer)
      for (const subject of lines.keys()) if (matches(subject)) pump(subject)
      return async () => {
        const index = consumers.indexOf(consumer)
        if (index >= 0) consumers.splice(index, 1)
        for (const [subject, line] of lines) if (matches(subject)) disarm(line)
        await Promise.allSettled(consumer.running)
      }
    },

    abandon(owner, dead) {
      const index = consumers.findIndex((consumer) => consumer.owner === owner)
      const consumer = consumers[index]
      if (consumer === undefined) return
      consumers.splice(index, 1)
      consumer.dead = dead
      for (const [subject, line] of lines) {
        if (!consumer.matches(subject)) continue
        disarm(line)
        // A new queue for the subject: what the dead consumer still does to the old one has no effect.
        lines.set(subject, { messages: line.messages, busy: false, timer: undefined })
        pump(subject)
      }
    },
  }
}
