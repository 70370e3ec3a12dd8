/**
 * Live traffic inside one process.
 *
 * Delivery is synchronous, in publish order: when `publish` returns, every listener has run. The exception is a listener that publishes: its
 * message waits until the current one has reached all listeners, so all of them see all messages in the same order and none is re-entered.
 * After ten thousand of those in a row the rest, and what is published meanwhile, follows in the next turns of the event loop.
 */

import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Bus, BusMessage } from '../contracts/transport.ts'
import { manyRequester, requester } from './bus-request.ts'
import { checkName } from './limits.ts'
import { checkPattern, checkSubject } from './subject.ts'
import { subjectTrie } from './subject-trie.ts'

type Listener = (message: BusMessage) => void
type Subscription = { pattern: string; listener: Listener; queue: Queue | undefined; active: boolean }
/** Shared by all subscribers of one queue name; `turn` says which of them is next. */
type Queue = { name: string; members: number; turn: number }
/** The subscribers that get a subject: all of `all`, and one of each of `groups`. */
type Route = { all: Subscription[]; groups: { queue: Queue; members: Subscription[] }[] }

/** Messages that listeners have published and that are not delivered yet. */
const waitingMax = 100_000
/** After so many in one go the event loop gets a turn, or two listeners that answer each other would stop the process. */
const burstMax = 10_000
const routesMax = 10_000

export type LocalBus = Bus & {
  /** @throws RuntimeError bad_request, overloaded. @returns how many subscribers it goes to */
  send(message: BusMessage): number
}

export const localBus = (environment: Pick<Environment, 'clock' | 'log'>, prefix = 'statecast'): LocalBus => {
  const trie = subjectTrie<Subscription>()
  const queues = new Map<string, Queue>()
  /** The subscribers of subjects seen lately; a subject in it is known to be well formed. Emptied when a subscriber comes or goes. */
  const routes = new Map<string, Route>()
  let waiting: { message: BusMessage; route: Route }[] = []
  let delivering = false
  let subscriptions = 0

  const routeOf = (subject: string): Route => {
    const known = routes.get(subject)
    if (known !== undefined) return known
    checkSubject(subject)
    const route: Route = { all: [], groups: [] }
    for (const subscription of trie.match(subject)) {
      const { queue } = subscription
      if (queue === undefined) route.all.push(subscription)
      else {
        const group = route.groups.find((candidate) => candidate.queue === queue)
        if (group === undefined) route.groups.push({ queue, members: [subscription] })
        else group.members.push(subscription)
      }
    }
    if (routes.size >= routesMax) routes.clear()
    routes.set(subject, route)
    return route
  }

  const failed = (subject: string, error: unknown): void => environment.log.error({ subject, error }, 'a bus listener threw')

  const call = (subscription: Subscription, message: BusMessage): void => {
    if (!subscription.active) return
    try {
      const result: unknown = subscription.listener(message)
      // An async listener's rejection would end the process.
      if (result instanceof Promise) result.catch((error: unknown) => failed(message.subject, error))
    } catch (error) {
      failed(message.subject, error)
    }
  }

  const deliver = (message: BusMessage, route: Route): void => {
    for (const subscription of route.all) call(subscription, message)
    for (const { queue, members } of route.groups) {
      queue.turn = (queue.turn + 1) % Number.MAX_SAFE_INTEGER
      const chosen = members[queue.turn % members.length] as Subscription
      // The subscriber may have left while this message waited.
      call(chosen.active ? chosen : (members.find(({ active }) => active) ?? chosen), message)
    }
  }

  const drain = (): void => {
    let burst = 0
    let index = 0
    for (; index < waiting.length && burst < burstMax; index += 1, burst += 1) {
      const next = waiting[index] as (typeof waiting)[number]
      deliver(next.message, next.route)
    }
    waiting = index === waiting.length ? [] : waiting.slice(index)
    if (waiting.length === 0) delivering = false
    else setImmediate(drain)
  }

  const send = (message: BusMessage): number => {
    const route = routeOf(message.subject)
    const reached = route.all.length + route.groups.length
    if (reached === 0) return 0
    if (delivering) {
      if (waiting.length >= waitingMax)
        throw new RuntimeError('overloaded', `${waitingMax} bus messages wait for delivery`, {
          hint: 'listeners publish faster than they return',
          retryable: true,
        })
      waiting.push({ message, route })
      return reached
    }
    delivering = true
    deliver(message, route)
    if (waiting.length === 0) delivering = false
    else drain()
    return reached
  }

  const subscribe: Bus['subscribe'] = (pattern, listener, { queue: name } = {}) => {
    checkPattern(pattern)
    let queue: Queue | undefined
    if (name !== undefined) {
      queue = queues.get(checkName(name, 'queue')) ?? { name, members: 0, turn: -1 }
      queue.members += 1
      queues.set(name, queue)
    }
    const subscription: Subscription = { pattern, listener, queue, active: true }
    trie.add(pattern, subscription)
    subscriptions++
    routes.clear()
    return () => {
      if (!subscription.active) return
      subscription.active = false
      subscriptions--
      trie.remove(pattern, subscription)
      routes.clear()
      if (queue !== undefined && --queue.members === 0) queues.delete(queue.name)
    }
  }

  return {
    send,
    publish: (subject, data, headers) => void send(headers === undefined ? { subject, data } : { subject, data, headers }),
    reaches: async (subject, data, headers) => send(headers === undefined ? { subject, data } : { subject, data, headers }) > 0,
    wanted: (subject) => {
      if (subscriptions === 0 || subject === undefined) return subscriptions > 0
      const { all, groups } = routeOf(subject)
      return all.length > 0 || groups.length > 0
    },
    subscribe,
    request: requester({ send, subscribe }, environment.clock, `_INBOX.${prefix}`),
    // A name of its own, apart from the subject on which single requests listen.
    requestMany: manyRequester({ send, subscribe }, environment.clock, `_INBOX.${prefix}.many`),
  }
}
