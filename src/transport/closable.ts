/** The one place where a closed transport refuses calls, so that the parts behind it need not check. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Bus, BusMessage, Transport } from '../contracts/transport.ts'

export const closedError = (): RuntimeError => new RuntimeError('closed', 'this transport is closed', { hint: 'open it again' })

type TransportParts = Omit<Transport, 'close'> & {
  /** Called once; from then on every call is refused. */
  close(): Promise<void>
}

/** Refuses everything with `closed` from the moment that `close` is called, and takes the bus and registry listeners of this transport away. */
export const closable = (parts: TransportParts): Transport & { isClosed(): boolean } => {
  let closing: Promise<void> | undefined
  const cleanups = new Set<() => void>()

  const asynchronous =
    <Arguments extends unknown[], Result>(act: (...values: Arguments) => Promise<Result>) =>
    (...values: Arguments): Promise<Result> =>
      closing === undefined ? act(...values) : Promise.reject(closedError())

  const synchronous =
    <Arguments extends unknown[], Result>(act: (...values: Arguments) => Result) =>
    (...values: Arguments): Result => {
      if (closing !== undefined) throw closedError()
      return act(...values)
    }

  /** For calls that return their own stopper: closing the transport stops them too. */
  const listening = <Arguments extends unknown[]>(act: (...values: Arguments) => () => void) =>
    synchronous((...values: Arguments): (() => void) => {
      const stop = act(...values)
      const stopOnce = (): void => {
        if (cleanups.delete(stopOnce)) stop()
      }
      cleanups.add(stopOnce)
      return stopOnce
    })

  /** A request waits for another process, perhaps for long: closing does not wait for it. */
  const request: Bus['request'] = (...values) =>
    new Promise((resolve, reject) => {
      if (closing !== undefined) throw closedError()
      const giveUp = (): void => reject(closedError())
      cleanups.add(giveUp)
      bus
        .request(...values)
        .then(resolve, reject)
        .finally(() => cleanups.delete(giveUp))
    })

  async function* requestMany(...[subject, data, options]: Parameters<Bus['requestMany']>): AsyncGenerator<BusMessage, void, void> {
    if (closing !== undefined) throw closedError()
    const closed = new AbortController()
    const giveUp = (): void => closed.abort()
    cleanups.add(giveUp)
    const signal = options.signal === undefined ? closed.signal : AbortSignal.any([options.signal, closed.signal])
    try {
      yield* bus.requestMany(subject, data, { ...options, signal })
    } finally {
      cleanups.delete(giveUp)
    }
    if (closed.signal.aborted) throw closedError()
  }

  const { journal, bus, inbox, registry, blobs } = parts
  const guardedBus: Bus = {
    publish: synchronous(bus.publish),
    // Called for each delta, where an answer that comes too late costs nothing.
    wanted: bus.wanted,
    reaches: asynchronous(bus.reaches),
    subscribe: listening(bus.subscribe),
    request,
    requestMany,
  }

  return {
    name: parts.name,
    capabilities: parts.capabilities,
    journal: {
      append: asynchronous(journal.append),
      fork: asynchronous(journal.fork),
      origin: asynchronous(journal.origin),
      read: asynchronous(journal.read),
      last: asynchronous(journal.last),
      head: asynchronous(journal.head),
      list: asynchronous(journal.list),
      due: asynchronous(journal.due),
      watchWakes: listening(journal.watchWakes),
      saveSnapshot: asynchronous(journal.saveSnapshot),
      snapshot: asynchronous(journal.snapshot),
      truncate: asynchronous(journal.truncate),
      remove: asynchronous(journal.remove),
    },
    bus: guardedBus,
    inbox: { put: asynchronous(inbox.put), consume: synchronous(inbox.consume), deadLetters: asynchronous(inbox.deadLetters) },
    registry: {
      get: asynchronous(registry.get),
      put: asynchronous(registry.put),
      delete: asynchronous(registry.delete),
      list: asynchronous(registry.list),
      watch: listening(registry.watch),
    },
    blobs: {
      put: asynchronous(blobs.put),
      get: asynchronous(blobs.get),
      has: asynchronous(blobs.has),
      delete: asynchronous(blobs.delete),
    },
    health: async () => (closing === undefined ? parts.health() : { writable: false, freeBytes: undefined, durability: 'closed' }),
    isClosed: () => closing !== undefined,
    close() {
      closing ??= Promise.resolve().then(async () => {
        for (const stop of cleanups) stop()
        await parts.close()
      })
      return closing
    },
  }
}
