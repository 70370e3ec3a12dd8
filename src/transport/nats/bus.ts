/** Live traffic over core NATS. */

import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { definedOf } from '../../contracts/defined.ts'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Bus, BusMessage } from '../../contracts/transport.ts'
import { collectAnswers } from '../answers.ts'
import { nobodyListens, secretToken } from '../bus-request.ts'
import { checkName } from '../limits.ts'
import { checkPattern, checkSubject } from '../subject.ts'
import { fromNats } from './errors.ts'
import { headersOf, payloadMax } from './link.ts'
import { newInbox } from './workarounds/requester.ts'

const plainHeaders = ({ headers }: Msg): Record<string, string> | undefined =>
  headers === undefined ? undefined : Object.fromEntries(headers.keys().map((name) => [name, headers.last(name)]))

const messageOf = (message: Msg): BusMessage => {
  const headers = plainHeaders(message)
  return { subject: message.subject, data: message.data, headers, reply: message.reply || undefined }
}

/** An empty message of the server itself. */
const saysNobodyListens = ({ headers, data }: Msg): boolean => headers?.code === 503 && data.length === 0

const realClock = {
  setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms),
  clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
}

const natsHeaders = (record: Record<string, string> | undefined) => (record === undefined ? {} : { headers: headersOf(record) })

/**
 * The server says of a request that nobody listens to it, before it answers a ping that was sent behind the request: so nothing has to be waited for but
 * the way there and back, and nobody has to answer.
 */
const reachedOn = (nc: NatsConnection) => {
  /** By where the server would say it, whether somebody got it as far as is known. */
  const asked = new Map<string, boolean>()
  let inbox: string | undefined
  let count = 0
  let flushing: Promise<void> | undefined
  /** One ping for all that is asked in one go: each was published before it is sent. */
  const flushed = (): Promise<void> => {
    flushing ??= Promise.resolve().then(() => {
      flushing = undefined
      return nc.flush()
    })
    return flushing
  }
  const begin = (): string => {
    const prefix = newInbox(nc)
    nc.subscribe(`${prefix}.*`, {
      callback: (error, message) => {
        if (!error && saysNobodyListens(message) && asked.has(message.subject)) asked.set(message.subject, false)
      },
    })
    return prefix
  }
  return async (subject: string, data: Uint8Array, options: ReturnType<typeof natsHeaders>): Promise<boolean> => {
    inbox ??= begin()
    const reply = `${inbox}.${++count}`
    asked.set(reply, true)
    try {
      nc.publish(subject, data, { ...options, reply })
      await flushed()
      return asked.get(reply) === true
    } finally {
      asked.delete(reply)
    }
  }
}

export const natsBus = (nc: NatsConnection, log: Logger): Bus => {
  const failed = (subject: string, error: unknown): void => log.error({ subject, error: errorBody(error) }, 'a bus listener threw')
  const check = (subject: string, data: Uint8Array): void => {
    checkSubject(subject)
    const bytesMax = payloadMax(nc)
    if (data.length > bytesMax)
      throw new RuntimeError('too_large', `a message on the bus may have ${bytesMax} bytes, this one has ${data.length}`, {
        hint: "send less, or raise the server's max_payload",
        data: { sizeBytes: data.length, sizeBytesMax: bytesMax },
      })
  }

  const reaches = reachedOn(nc)

  return {
    publish(subject, data, headers) {
      check(subject, data)
      try {
        nc.publish(subject, data, natsHeaders(headers))
      } catch (error) {
        throw fromNats(error, `publishing on '${subject}'`)
      }
    },
    // Only the server knows whether there are subscribers.
    wanted: () => true,
    reaches: async (subject, data, headers) => {
      check(subject, data)
      try {
        return await reaches(subject, data, natsHeaders(headers))
      } catch (error) {
        throw fromNats(error, `publishing on '${subject}'`)
      }
    },
    subscribe(pattern, listener, { queue } = {}) {
      checkPattern(pattern)
      const subscription = nc.subscribe(pattern, {
        ...definedOf({ queue: queue === undefined ? undefined : checkName(queue, 'queue') }),
        callback: (error, message) => {
          if (error)
            return log.error({ subject: pattern, error: fromNats(error, `listening on '${pattern}'`).toJSON() }, 'a subscription was refused')
          try {
            const result: unknown = listener(messageOf(message))
            if (result instanceof Promise) result.catch((cause: unknown) => failed(message.subject, cause))
          } catch (cause) {
            failed(message.subject, cause)
          }
        },
      })
      return () => subscription.unsubscribe()
    },
    async request(subject, data, { timeoutMs, headers }) {
      check(subject, data)
      try {
        return messageOf(await nc.request(subject, data, { timeout: timeoutMs, ...natsHeaders(headers) }))
      } catch (error) {
        if (error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders()))
          throw nobodyListens(subject)
        if (error instanceof errors.TimeoutError)
          throw new RuntimeError('timeout', `'${subject}' gave no answer within ${timeoutMs} ms`, {
            retryable: true,
            hint: 'see whether the responder is alive',
          })
        throw fromNats(error, `asking '${subject}'`)
      }
    },
    requestMany: (subject, data, { headers, ...until }) =>
      collectAnswers(realClock, until, ({ push, fail }) => {
        check(subject, data)
        // The client's own names are counted on from one to the next.
        const reply = `${newInbox(nc)}${secretToken()}`
        let stop: () => void = () => undefined
        try {
          const subscription = nc.subscribe(reply, {
            callback: (error, message) => {
              if (error) fail(fromNats(error, `asking '${subject}'`))
              else if (saysNobodyListens(message)) fail(nobodyListens(subject))
              else push(messageOf(message))
            },
          })
          stop = () => subscription.unsubscribe()
          void subscription.closed.then(() => fail(new RuntimeError('closed', 'the connection was closed', { retryable: true })))
          nc.publish(subject, data, { reply, ...natsHeaders(headers) })
          return stop
        } catch (error) {
          stop()
          throw fromNats(error, `asking '${subject}'`)
        }
      }),
  }
}
