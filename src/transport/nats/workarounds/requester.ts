/**
 * The connection as the client's JetStream parts shall see it, with requests that know about the link. The client itself silently drops a request made while the
 * link is down, lets a request that waits for its answer when the link breaks run into its timeout, and takes a process that was frozen for a server that is
 * silent. Here the first waits for the link, the second fails at once, and the third is given its time once more.
 */

import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection, type Payload } from '@nats-io/transport-node'
import { definedOf } from '../../../contracts/defined.ts'

/** ms for a request that names no timeout, and for a link that is down. */
export const requestMs = 5_000
/** ms after its time at which a timer fires late. */
const keptMs = 250

type Asked = { subject: string; take(message: Msg): void; fail(error: unknown): void; timer: NodeJS.Timeout }
type Question = { subject: string; data?: Payload | undefined; headers?: MsgHdrs | undefined; timeoutMs: number }

type Requester = {
  /** The connection that it was made of, with another `request`. */
  nc: NatsConnection
  /** Every answer to a request, up to the one for which `last` is true, which is left out. */
  all(subject: string, data: string, last: (message: Msg) => boolean): Promise<Msg[]>
  stop(): void
}

/** A new subject for answers, below the prefix that this user may subscribe to. */
export const newInbox = (nc: NatsConnection): string => createInbox((nc as unknown as { options?: { inboxPrefix?: string } }).options?.inboxPrefix)

export const requesterOn = (nc: NatsConnection): Requester => {
  const inbox = newInbox(nc)
  const asked = new Map<string, Asked>()
  let count = 0
  /** Set while the link is down. */
  let down: PromiseWithResolvers<void> | undefined

  const end = (reply: string): Asked | undefined => {
    const one = asked.get(reply)
    clearTimeout(one?.timer)
    asked.delete(reply)
    return one
  }
  const fail = (error: unknown, which: (one: Asked) => boolean = () => true): void => {
    for (const [reply, one] of asked) if (which(one)) end(reply)?.fail(error)
  }

  const subscription = nc.subscribe(`${inbox}.*`, { callback: (error, message) => (error ? fail(error) : asked.get(message.subject)?.take(message)) })
  void (async () => {
    for await (const status of nc.status())
      if (status.type === 'disconnect') {
        down ??= Promise.withResolvers<void>()
        fail(new errors.ConnectionError('the link to the server broke'))
      } else if (status.type === 'reconnect') {
        down?.resolve()
        down = undefined
      } else if (status.type === 'error' && status.error instanceof errors.PermissionViolationError) {
        // A request that the permissions forbid gets no answer.
        const { operation, subject } = status.error
        if (operation === 'publish') fail(status.error, (one) => one.subject === subject)
      }
    down?.resolve()
    fail(new errors.ClosedConnectionError())
  })()

  /** @throws ConnectionError when it stays down */
  const up = async (again: Promise<void>): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new errors.ConnectionError('the link to the server is down')), requestMs)
    })
    await Promise.race([again, late]).finally(() => clearTimeout(timer))
  }

  /** @param take returns whether this was the last answer */
  const ask = async ({ subject, data, headers, timeoutMs }: Question, take: (message: Msg) => boolean): Promise<void> => {
    if (down !== undefined) await up(down.promise)
    return new Promise((resolve, reject) => {
      const reply = `${inbox}.${++count}`
      // The server answers in real time, whatever the clock of the environment does.
      let due = performance.now() + timeoutMs
      let wasKept = false
      const timer = setTimeout(() => {
        // A process that was kept from its work has not looked for the answer meanwhile, though it may be there.
        if (!wasKept && performance.now() - due > keptMs) {
          wasKept = true
          return void timer.refresh()
        }
        end(reply)?.fail(new errors.TimeoutError({ cause: new Error(`no answer on ${subject} within ${timeoutMs} ms`) }))
      }, timeoutMs)
      asked.set(reply, {
        subject,
        timer,
        fail: reject,
        take: (message) => {
          try {
            if (!take(message)) {
              due = performance.now() + timeoutMs
              return void timer.refresh()
            }
            end(reply)
            resolve()
          } catch (error) {
            end(reply)?.fail(error)
          }
        },
      })
      try {
        nc.publish(subject, data, { reply, ...definedOf({ headers }) })
      } catch (error) {
        end(reply)?.fail(error)
      }
    })
  }

  const request: NatsConnection['request'] = async (subject, data, { timeout = requestMs, headers } = { timeout: requestMs }) => {
    let answer: Msg | undefined
    await ask({ subject, data, headers, timeoutMs: timeout }, (message) => {
      answer = message
      return true
    })
    if (answer!.headers?.code === 503 && answer!.data.length === 0)
      throw new errors.RequestError(`nobody listens on ${subject}`, { cause: new errors.NoRespondersError(subject) })
    return answer!
  }

  return {
    // All other properties are those of the connection.
    nc: Object.create(nc, { request: { value: request } }) as NatsConnection,
    async all(subject, data, last) {
      const messages: Msg[] = []
      await ask({ subject, data, timeoutMs: requestMs }, (message) => {
        if (last(message)) return true
        messages.push(message)
        return false
      })
      return messages
    },
    stop() {
      subscription.unsubscribe()
      fail(new Error('the connection was closed'))
    },
  }
}
