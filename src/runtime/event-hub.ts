/** What actors say to the world, handed to whoever listens in this process and to the bus. */

import type { Logger } from '../contracts/environment.ts'
import { errorBody, type RuntimeError } from '../contracts/errors.ts'
import { EventQueue } from './event-queue.ts'
import type { Said, SaidListener } from './said.ts'

/** Called once when nothing more can come, with the reason. */
type EndListener = (reason: RuntimeError) => void

/** Listens to what a root says on other nodes. @returns the unsubscriber */
export type Elsewhere = (name: string, hear: SaidListener) => () => void

export class Outputs {
  readonly #listeners = new Map<string, Set<SaidListener>>()
  readonly #endings = new Map<SaidListener, EndListener>()
  readonly #elsewhere = new Map<string, () => void>()
  readonly #log: Logger
  readonly #remote: Elsewhere | undefined

  /** @param remote where nodes share the actors */
  constructor(log: Logger, remote?: Elsewhere) {
    this.#log = log
    this.#remote = remote
  }

  /** @param name address of a root, as text @returns the unsubscriber */
  listen(name: string, listener: SaidListener, ended?: EndListener): () => void {
    if (ended) this.#endings.set(listener, ended)
    const leave = this.listenHere(name, listener)
    if (this.#remote && !this.#elsewhere.has(name))
      this.#elsewhere.set(
        name,
        this.#remote(name, (said) => this.say(name, said)),
      )
    return leave
  }

  /** The same without what other nodes say of it. */
  listenHere(name: string, listener: SaidListener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      this.#endings.delete(listener)
      if (listeners.size > 0 || this.#listeners.get(name) !== listeners) return
      this.#listeners.delete(name)
      this.#elsewhere.get(name)?.()
      this.#elsewhere.delete(name)
    }
  }

  /**
   * What a root says from the moment of this call on, however late the reader begins; it ends with the loop or the signal.
   * @param map leaves out what it answers with undefined
   */
  follow<T>(name: string, { signal }: { signal?: AbortSignal }, map: (said: Said) => T | undefined): AsyncGenerator<T> {
    const queue = new EventQueue<T>()
    const stop = this.listen(
      name,
      (said) => {
        const item = map(said)
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

  /** Tells whoever listens to one root, or to any, that there will be no more: it was set aside, or the runtime closes. */
  end(reason: RuntimeError, name?: string): void {
    const roots = name === undefined ? [...this.#listeners.values()] : [this.#listeners.get(name) ?? []]
    for (const listener of roots.flatMap((listeners) => [...listeners])) this.#endings.get(listener)?.(reason)
  }

  /** A listener that throws is logged and never disturbs another one, or the actor. */
  say(name: string, said: Said): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(said)
      } catch (error) {
        this.#log.error({ actor: name, error: errorBody(error) }, 'a listener threw')
      }
    }
  }
}
