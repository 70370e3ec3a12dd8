/** What actors say to the world, here or on other nodes, handed to listeners in this process. What goes to the bus: host-events.ts. */

import type { Logger } from '../contracts/environment.ts'
import { errorBody, type RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { EventQueue } from './event-queue.ts'
import { Growth, type GrowthElsewhere } from './growth.ts'
import type { OutputEvent, OutputListener } from './output-event.ts'

/** Called once when nothing more can come, with the reason. */
type EndListener = (reason: RuntimeError) => void

/** Listens to what a root says on other nodes, and to how far they write it. Each returns the unsubscriber. */
export type Elsewhere = { outputs: (name: string, hear: OutputListener) => () => void; growth: GrowthElsewhere }

export class EventHub {
  readonly #listeners = new Map<string, Set<OutputListener>>()
  readonly #endings = new Map<OutputListener, EndListener>()
  readonly #remoteFeeds = new Map<string, () => void>()
  readonly #ofSessions = new Set<(key: string) => void>()
  readonly #log: Logger
  readonly #remote: Elsewhere['outputs'] | undefined
  readonly growth: Growth

  /** @param remote where nodes share the actors */
  constructor(log: Logger, remote?: Elsewhere) {
    this.#log = log
    this.#remote = remote?.outputs
    this.growth = new Growth(log, remote?.growth)
  }

  /** @param name address of a root, as text @returns the unsubscriber */
  listen(name: string, listener: OutputListener, ended?: EndListener): () => void {
    if (ended) this.#endings.set(listener, ended)
    const leave = this.listenHere(name, listener)
    if (this.#remote && !this.#remoteFeeds.has(name))
      this.#remoteFeeds.set(
        name,
        this.#remote(name, (output) => this.say(name, output)),
      )
    return leave
  }

  /** The same without what other nodes say of it. */
  listenHere(name: string, listener: OutputListener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      this.#endings.delete(listener)
      if (listeners.size > 0 || this.#listeners.get(name) !== listeners) return
      this.#listeners.delete(name)
      this.#remoteFeeds.get(name)?.()
      this.#remoteFeeds.delete(name)
    }
  }

  /**
   * What a root says from the moment of this call on, however late the reader begins; it ends with the loop or the signal.
   * @param map leaves out what it answers with undefined
   */
  follow<T>(name: string, { signal }: { signal?: AbortSignal }, map: (output: OutputEvent) => T | undefined): AsyncGenerator<T> {
    const queue = new EventQueue<T>()
    const stop = this.listen(
      name,
      (output) => {
        const item = map(output)
        if (item !== undefined) queue.push(item)
      },
      () => end(),
    )
    const end = () => {
      stop()
      queue.end()
    }
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
    const read = async function* (): AsyncGenerator<T> {
      try {
        yield* queue
      } finally {
        end()
      }
    }
    return read()
  }

  /** Tells the listeners of one root, or of all, that there will be no more: it was set aside, or the runtime closes. */
  end(reason: RuntimeError, name?: string): void {
    const roots = name === undefined ? [...this.#listeners.values()] : [this.#listeners.get(name) ?? []]
    for (const listener of roots.flatMap((listeners) => [...listeners])) this.#endings.get(listener)?.(reason)
  }

  /** @param listener told of each session that has another state or is gone, here @returns the unsubscriber */
  onSessionChange(listener: (key: string) => void): () => void {
    const own = (key: string) => listener(key)
    this.#ofSessions.add(own)
    return () => void this.#ofSessions.delete(own)
  }

  changed({ kind, id }: Address): void {
    if (kind !== 'session') return
    for (const listener of this.#ofSessions) {
      try {
        listener(id)
      } catch (error) {
        this.#threw(formatAddress({ kind, id }), error)
      }
    }
  }

  /** A listener that throws is logged and never disturbs another one, or the actor. */
  say(name: string, output: OutputEvent): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(output)
      } catch (error) {
        this.#threw(name, error)
      }
    }
  }

  #threw(actor: string, error: unknown): void {
    this.#log.error({ actor, error: errorBody(error) }, 'a listener threw')
  }
}
