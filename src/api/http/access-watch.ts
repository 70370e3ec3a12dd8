/**
 * Notices that the token of a request is over, revoked or expired, while its answer is being made: what opens nothing any more is told nothing
 * any more. Where something is about to be said that is asked first; where nothing is said, every few seconds.
 */

import type { Clock } from '../../contracts/environment.ts'
import type { GatewayScope } from '../../contracts/gateway.ts'
import type { Caller } from './guard.ts'

/** ms between two looks at tokens in whose answers nothing is said; nodes that share a store hear of each other's changes within about that time. */
const everyMs = 5_000

export type Watched = {
  /** Aborts when the token is over; its reason is what the caller is told. */
  over: AbortSignal
  /** To be asked before anything is said. @throws RuntimeError unauthorised where the token is over */
  check: () => void
  /** It is watched no longer. */
  leave: () => void
}

/** The same as an answer, for streams that end without a word. */
export const isOver = ({ check, over }: Pick<Watched, 'check' | 'over'>): boolean => {
  try {
    check()
  } catch {
    return over.aborted
  }
  return false
}

export class AccessWatch {
  readonly #clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>
  readonly #looks = new Set<() => void>()
  #timer: unknown

  constructor(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>) {
    this.#clock = clock
  }

  /** The token of a node is never over, and is not watched. */
  watch({ access }: Pick<Caller, 'access'>): Watched {
    const controller = new AbortController()
    const { signal } = controller
    const look = () => {
      try {
        access?.()
      } catch (error) {
        this.#leave(look)
        controller.abort(error)
      }
    }
    if (access) this.#enter(look)
    const check = () => {
      if (!signal.aborted) look()
      signal.throwIfAborted()
    }
    return { over: signal, check, leave: () => this.#leave(look) }
  }

  /** What a command tells that needs this scope, unless the token is over by then. @throws RuntimeError unauthorised, and what `run` throws */
  async told<Answer>(caller: Pick<Caller, 'access'>, scope: GatewayScope | undefined, run: () => Promise<Answer>): Promise<Answer> {
    // What has changed something says that it has: only what is read is kept back.
    if (caller.access === undefined || scope !== 'read') return run()
    const { over, check, leave } = this.watch(caller)
    const ended = Promise.withResolvers<never>()
    const end = () => ended.reject(over.reason)
    over.addEventListener('abort', end)
    try {
      const answer = await Promise.race([run(), ended.promise])
      check()
      return answer
    } finally {
      over.removeEventListener('abort', end)
      leave()
    }
  }

  #enter(look: () => void): void {
    this.#looks.add(look)
    if (this.#looks.size === 1) this.#wait()
  }

  #leave(look: () => void): void {
    this.#looks.delete(look)
    // No timer where nobody is waiting: it would keep a process alive.
    if (this.#looks.size === 0) this.#clock.clearTimeout(this.#timer)
  }

  #wait(): void {
    this.#timer = this.#clock.setTimeout(() => {
      for (const look of this.#looks) look()
      if (this.#looks.size > 0) this.#wait()
    }, everyMs)
  }
}
