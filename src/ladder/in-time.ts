/** Code of somebody else that others wait for, and that may never end. */
import type { Clock } from '../index.ts'

/** ms that a store, a memory or other code has which holds up a session. */
export const codeMaxMs = 30_000

/** What is said where it has taken longer. */
export const unanswered = (what: string): string => `${what} has given no answer for ${codeMaxMs / 1000} seconds`

/** ms more, of real time: where a clock has leapt, as after a sleep of the machine, an answer may be about to come. */
const graceMs = 50

/** As runtimes measure it; where there is none, nobody waits in vain but the caller. */
export type Timer = Pick<Clock, 'setTimeout' | 'clearTimeout'>

/** What the work comes to. Where that takes too long it goes on, and nobody hears of it. @param late what is thrown then */
export const inTime = async <Value>(timer: Timer | undefined, work: () => Value | Promise<Value>, late: () => Error): Promise<Value> => {
  if (!timer) return work()
  const over = Promise.withResolvers<never>()
  let grace: ReturnType<typeof setTimeout> | undefined
  const giveUp = (): void => over.reject(late())
  const handle = timer.setTimeout(() => {
    grace = setTimeout(giveUp, graceMs)
  }, codeMaxMs)
  try {
    return await Promise.race([work(), over.promise])
  } finally {
    timer.clearTimeout(handle)
    clearTimeout(grace)
  }
}
