import type { Environment } from '../../src/index.ts'

const ignore = (): void => undefined
type Handle = { timer?: NodeJS.Timeout; due?: () => void }

/**
 * A world that repeats itself: ids are numbered, chance has a seed, the date is the same. Timers fire, since a link to a server needs them, but for those
 * that come due while time is stopped: they wait until it goes on.
 */
export const repeatable = () => {
  let ids = 0
  let seed = 1
  let stopped = false
  const waiting = new Set<() => void>()
  const environment: Environment = {
    failPoints: { hit: () => undefined },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    clock: {
      now: () => 1_800_000_000_000,
      setTimeout: (callback, ms) => {
        const handle: Handle = {}
        const fire = (): void => {
          handle.due = callback
          if (stopped) waiting.add(callback)
          else callback()
        }
        handle.timer = setTimeout(fire, ms)
        return handle
      },
      clearTimeout: (handle) => {
        const { timer, due } = (handle ?? {}) as Handle
        clearTimeout(timer)
        if (due !== undefined) waiting.delete(due)
      },
    },
    ids: { next: (prefix) => `${prefix}-${String(ids++).padStart(25, '0')}` },
    random: {
      next: () => {
        seed = (seed * 48_271) % 2_147_483_647
        return seed / 2_147_483_647
      },
    },
  }
  return {
    environment,
    stop: () => {
      stopped = true
    },
    goOn: () => {
      stopped = false
      for (const callback of waiting) callback()
      waiting.clear()
    },
  }
}
