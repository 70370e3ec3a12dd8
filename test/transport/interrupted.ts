/** A transport whose link is harmed again and again while it is used, in the hands of callers who do what ours do: they ask again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isRuntimeError } from '../../src/contracts/errors.ts'
import type { Appended, Delivery, Frame, Journal, Registry, Transport } from '../../src/contracts/transport.ts'

/** Harms the link, at once. */
export type Harm = () => void

const patienceMs = 60_000
const pauseMs = 50

const isLost = (error: unknown): boolean => isRuntimeError(error) && error.code === 'log_unavailable' && error.retryable

export const interrupted = (transport: Transport, harm: Harm): Transport => {
  /** The call is on its way when the link breaks. */
  const harmed = <T>(call: () => Promise<T>): Promise<T> => {
    const answer = call()
    harm()
    return answer
  }
  /** @param lost what is asked before the next try; an answer ends it */
  const patient = async <T>(call: () => Promise<T>, lost: () => Promise<T | undefined> = async () => undefined): Promise<T> => {
    const until = Date.now() + patienceMs
    const tried = async <A>(one: () => Promise<A>): Promise<{ answer: A } | { error: unknown }> => {
      try {
        return { answer: await one() }
      } catch (error) {
        if (!isLost(error) || Date.now() > until) throw error
        return { error }
      }
    }
    for (let first = true; ; first = false) {
      const said = await tried(first ? () => harmed(call) : call)
      if ('answer' in said) return said.answer
      const found = await tried(lost)
      if ('answer' in found && found.answer !== undefined) return found.answer
      await sleep(pauseMs)
    }
  }

  const { journal, inbox, registry, blobs, bus } = transport

  /** Nobody has two appends to one root on their way: the first may have to be asked for again, and the second would overtake it. */
  const lines = new Map<string, Promise<unknown>>()
  const append: Journal['append'] = (address, expected, bytes, head) => {
    const kept = new Uint8Array(bytes)
    const line = JSON.stringify([address.kind, address.id])
    const next = (lines.get(line) ?? Promise.resolve()).then(() => appendNow(address, expected, kept, head))
    lines.set(
      line,
      next.catch(() => undefined),
    )
    return next
  }
  /** As `appendCommit` does it, for one answer. */
  const appendNow: Journal['append'] = async (address, expected, kept, head) => {
    const said = await patient(async (): Promise<Appended> => {
      const appended = await journal.append(address, expected, kept, head)
      if (appended.outcome !== 'unknown') return appended
      const last = await patient(() => journal.last(address))
      if (isOurs(last, expected + 1, kept)) return { outcome: 'ok' }
      return (last?.seq ?? 0) === expected ? appendNow(address, expected, kept, head) : { outcome: 'fenced', last: last?.seq ?? 0 }
    })
    if (said.outcome !== 'fenced') return said
    const last = await patient(() => journal.last(address))
    return isOurs(last, expected + 1, kept) ? { outcome: 'ok' } : said
  }
  const isOurs = (frame: Frame | undefined, seq: number, bytes: Uint8Array): boolean => frame?.seq === seq && Buffer.compare(frame.bytes, bytes) === 0

  const put: Registry['put'] = (key, value, options) =>
    patient(
      () => registry.put(key, value, options),
      async () => {
        const found = await registry.get(key)
        return found?.value === value && found.revision !== options?.expected ? found.revision : undefined
      },
    )

  /** What was done comes again when its acknowledgement is lost, and is known then. */
  const once = (handler: (delivery: Delivery) => Promise<void>) => {
    const done = new Set<string>()
    return async (delivery: Delivery): Promise<void> => {
      const name = `${delivery.subject} ${delivery.id}`
      if (done.has(name)) return delivery.ack()
      await handler({
        ...delivery,
        ack: () => {
          done.add(name)
          return delivery.ack()
        },
      })
    }
  }

  return {
    ...transport,
    journal: {
      append,
      fork: (...args) =>
        patient<unknown>(
          () => journal.fork(...args),
          async () => ((await journal.head(args[2])) === undefined ? undefined : true),
        ) as Promise<void>,
      origin: (...args) => patient(() => journal.origin(...args)),
      read: (...args) => patient(() => journal.read(...args)),
      last: (...args) => patient(() => journal.last(...args)),
      head: (...args) => patient(() => journal.head(...args)),
      list: (...args) => patient(() => journal.list(...args)),
      due: (...args) => patient(() => journal.due(...args)),
      watchWakes: (listener) => journal.watchWakes(listener),
      saveSnapshot: (...args) => patient(() => journal.saveSnapshot(...args)),
      snapshot: (...args) => patient(() => journal.snapshot(...args)),
      truncate: (...args) => patient(() => journal.truncate(...args)),
      remove: (...args) => patient(() => journal.remove(...args)),
    },
    inbox: {
      put: async (...args) => {
        let lost = false
        const said = await patient(
          () => inbox.put(...args),
          async () => {
            lost = true
            return undefined
          },
        )
        // The first try was stored, and its answer lost.
        return lost ? { duplicate: false } : said
      },
      consume: (pattern, handler, options) => inbox.consume(pattern, once(handler), options),
      deadLetters: (...args) => patient(() => inbox.deadLetters(...args)),
    },
    registry: {
      ...registry,
      get: (key) => patient(() => registry.get(key)),
      put,
      delete: (key, options) =>
        patient(
          () => registry.delete(key, options),
          async () => ((await registry.get(key)) === undefined ? true : undefined),
        ),
      list: (prefix) => patient(() => registry.list(prefix)),
      watch: (...args) => registry.watch(...args),
    },
    blobs: {
      put: (bytes) => patient(() => blobs.put(bytes)),
      get: (hash) => patient(() => blobs.get(hash)),
      has: (hash) => patient(() => blobs.has(hash)),
      delete: (hash) => patient(() => blobs.delete(hash)),
    },
    bus,
  }
}
