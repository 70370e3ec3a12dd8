/** Looks for something that may have got lost on its way here: soon after a sign of it, now and then without one. */
import type { Clock } from '../contracts/environment.ts'

/** Pause before the first look, in ms; each next one is twice as long. */
const quietMs = 5_000
const longestMs = 60_000
/** The same after a sign: what was said may be written a moment later where we read it. */
const afterSignMs = 100

type Looking = {
  /** Looks at once, or as soon as the present look has ended; then again after short pauses. */
  now(): void
  stop(): void
}

/** One look at a time. @param look never rejects */
export const pollOutcome = (clock: Clock, look: () => Promise<void>): Looking => {
  let pauseMs = quietMs
  let looking = false
  let sign = false
  let stopped = false
  let timer: unknown
  const wait = (): void => {
    timer = clock.setTimeout(() => void once(), pauseMs)
    pauseMs = Math.min(pauseMs * 2, longestMs)
  }
  const once = async (): Promise<void> => {
    clock.clearTimeout(timer)
    looking = true
    do {
      sign = false
      await look()
    } while (sign && !stopped)
    looking = false
    if (!stopped) wait()
  }
  wait()
  return {
    now() {
      pauseMs = afterSignMs
      sign = true
      if (!looking && !stopped) void once()
    },
    stop() {
      stopped = true
      clock.clearTimeout(timer)
    },
  }
}
