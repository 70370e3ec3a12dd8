import { randomBytes } from 'node:crypto'
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Bus, BusMessage } from '../contracts/transport.ts'
import { type AnswerQueue, collectAnswers } from './answers.ts'

/** The part of a bus that requests and answers go over; `send` says how many subscribers a message goes to. */
type Wire = Pick<Bus, 'subscribe'> & { send(message: BusMessage): number }

export const nobodyListens = (subject: string): RuntimeError =>
  new RuntimeError('not_found', `nobody listens on '${subject}'`, { retryable: true, hint: 'start what answers there, then try again' })

/** 128 bits: only a subscriber that gets the request can answer it. */
export const secretToken = (): string => randomBytes(16).toString('hex')

/** Request and reply over a bus: one subscription takes all answers, so that a request changes no route of other subscribers. */
export const requester = ({ send, subscribe }: Wire, clock: Clock, replyPrefix: string): Bus['request'] => {
  const asked = new Map<string, (message: BusMessage) => void>()
  let count = 0
  let listening = false

  return (subject, data, { timeoutMs, headers }) =>
    new Promise((resolve, reject) => {
      if (!listening) {
        subscribe(`${replyPrefix}.*`, (message) => asked.get(message.subject)?.(message))
        listening = true
      }
      count += 1
      const reply = `${replyPrefix}.${count}`
      const timer = clock.setTimeout(() => {
        asked.delete(reply)
        reject(
          new RuntimeError('timeout', `'${subject}' gave no answer within ${timeoutMs} ms`, {
            retryable: true,
            hint: 'see whether the responder is alive',
          }),
        )
      }, timeoutMs)
      const settle = (): void => {
        asked.delete(reply)
        clock.clearTimeout(timer)
      }
      asked.set(reply, (message) => {
        settle()
        resolve(message)
      })
      let reached = 0
      try {
        reached = send({ subject, data, reply, headers })
      } finally {
        if (reached === 0) settle()
      }
      if (reached === 0) throw nobodyListens(subject)
    })
}

/** The same with many answers: each request has a subscription of its own. */
export const manyRequester =
  ({ send, subscribe }: Wire, clock: Clock, replyPrefix: string): Bus['requestMany'] =>
  (subject, data, { headers, ...until }) =>
    collectAnswers(clock, until, ({ push }: AnswerQueue) => {
      const reply = `${replyPrefix}.${secretToken()}`
      const stop = subscribe(reply, push)
      let reached = 0
      try {
        reached = send({ subject, data, reply, headers })
      } finally {
        if (reached === 0) stop()
      }
      if (reached === 0) throw nobodyListens(subject)
      return stop
    })
