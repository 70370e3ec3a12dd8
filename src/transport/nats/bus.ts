/** Live traffic over core NATS. */
import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Bus, BusMessage } from '../../contracts/transport.ts'
import { checkName } from '../limits.ts'
import { checkPattern, checkSubject } from '../subject.ts'
import { fromNats } from './errors.ts'
import { headersOf, payloadMax } from './link.ts'

const plainHeaders = ({ headers }: Msg): Record<string, string> | undefined =>
  headers === undefined ? undefined : Object.fromEntries(headers.keys().map((name) => [name, headers.last(name)]))

const messageOf = (message: Msg): BusMessage => {
  const headers = plainHeaders(message)
  return { subject: message.subject, data: message.data, ...(headers ? { headers } : {}), ...(message.reply ? { reply: message.reply } : {}) }
}

const natsHeaders = (record: Record<string, string> | undefined) => (record === undefined ? {} : { headers: headersOf(record) })

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

  return {
    publish(subject, data, headers) {
      check(subject, data)
      try {
        nc.publish(subject, data, natsHeaders(headers))
      } catch (error) {
        throw fromNats(error, `publishing on '${subject}'`)
      }
    },
    // Only the server knows.
    wanted: () => true,
    subscribe(pattern, listener, { queue } = {}) {
      checkPattern(pattern)
      const subscription = nc.subscribe(pattern, {
        ...(queue === undefined ? {} : { queue: checkName(queue, 'queue') }),
        callback: (error, message) => {
          if (error) return failed(pattern, error)
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
          throw new RuntimeError('not_found', `nobody listens on '${subject}'`, { retryable: true, hint: 'start what answers there, then try again' })
        if (error instanceof errors.TimeoutError)
          throw new RuntimeError('timeout', `'${subject}' gave no answer within ${timeoutMs} ms`, {
            retryable: true,
            hint: 'see whether the responder is alive',
          })
        throw fromNats(error, `asking '${subject}'`)
      }
    },
  }
}
