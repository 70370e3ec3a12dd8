/** Waiting by the injected clock. */
import type { Clock } from '../contracts/environment.ts'

/** Resolves after `ms`, or as soon as the signal aborts: the caller looks at the signal next. */
export const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const finish = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.setTimeout(finish, ms)
    signal.addEventListener('abort', finish, { once: true })
  })

/** Real time, for a model that is made outside a runtime; a runtime hands in its own. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
}
