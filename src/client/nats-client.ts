/** Commands of a node over NATS, through its front door. */

import { beginning, birthOf, type EventPage, inOrder, parsePlace } from '../api/index.ts'
import type { CommandName } from '../contracts/commands.ts'
import type { Logger } from '../contracts/environment.ts'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { subjects } from '../contracts/subjects.ts'
import type { BusMessage } from '../contracts/transport.ts'
import type { OutEvent, RuntimeOptions } from '../runtime/index.ts'
import { EventQueue, stderrLogger } from '../runtime/index.ts'
import { connectBus } from '../transport/nats/index.ts'
import type { Client, Subscription } from './client.ts'
import { journalOf } from './journal.ts'

const answerMs = 30_000
/** Some commands wait for a turn to end. */
const longestWaitMs = 3_600_000
/** A server that restarts, a leader that is elected, a node that takes over: all end by themselves. */
const outageMsMax = 600_000

/** @returns undefined when no node answers there @throws RuntimeError log_unavailable, unauthorised */
export const natsClient = async (
  url: string,
  { prefix, nats, log = stderrLogger() }: Pick<RuntimeOptions, 'prefix' | 'nats'> & { log?: Logger } = {},
): Promise<Client | undefined> => {
  const names = subjects(prefix)
  const { bus, flush, close } = await connectBus(url, log, nats)
  const command = async <Result>(name: CommandName, input: unknown, timeoutMs = answerMs): Promise<Result> => {
    const { timeoutMs: waits } = (input ?? {}) as { timeoutMs?: number }
    const patienceMs = name === 'agent.wait' ? (waits ?? longestWaitMs) + answerMs : timeoutMs
    return bodyOf(await bus.request(names.api(name), new TextEncoder().encode(JSON.stringify(input)), { timeoutMs: patienceMs })) as Result
  }
  try {
    await command('health', {}, 5_000)
  } catch (error) {
    await close()
    if (isRuntimeError(error) && error.code === 'not_found') return undefined
    throw error
  }
  /** Readers, who are told when there will be no more. */
  const queues = new Set<EventQueue<OutEvent>>()
  return {
    url,
    outageMsMax,
    untrusted: true,
    command: (name, input) => command(name, input),
    events: async (id, after): Promise<Subscription> => {
      const queue = new EventQueue<OutEvent>()
      queues.add(queue)
      const address = { kind: 'session', id }
      const stop = bus.subscribe(names.everyOut(address), ({ data }) => {
        const event = eventOf(data)
        if (event !== undefined && event.type !== 'state') queue.push(event)
      })
      await flush()
      const lives = { birth: () => birthOf(journalOf({ command }, address), address), stamped: false }
      const read = async function* (): AsyncGenerator<OutEvent> {
        let place = after === undefined ? beginning : parsePlace(after, 'after')
        for (let page: EventPage = { events: [], next: after ?? '', more: after !== undefined }; page.more; ) {
          page = await command<EventPage>('events.read', { id, after: page.next })
          yield* page.events
          place = parsePlace(page.next)
        }
        yield* inOrder(queue, place, lives)
      }
      return {
        events: read(),
        stop: () => {
          stop()
          queues.delete(queue)
          queue.end()
        },
      }
    },
    close: async () => {
      for (const queue of queues) queue.end()
      await close()
    },
  }
}

/** @returns undefined for what is no event: a program that may publish there may publish anything */
const eventOf = (data: Uint8Array): OutEvent | undefined => {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(data))
    return isEvent(event) ? event : undefined
  } catch {
    return undefined
  }
}

const isEvent = (event: unknown): event is OutEvent =>
  typeof event === 'object' &&
  event !== null &&
  'type' in event &&
  typeof event.type === 'string' &&
  // The list of messages that it is about is looked through by the run that waits for one of them.
  (!('ids' in event) || Array.isArray(event.ids))

const bodyOf = ({ data, headers }: BusMessage): unknown => {
  const text = new TextDecoder().decode(data)
  if (headers?.['Nats-Service-Error'] === undefined) return JSON.parse(text)
  const { error } = JSON.parse(text) as { error: ErrorBody }
  throw RuntimeError.from(error)
}
