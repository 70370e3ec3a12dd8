/** Whether machines of an author are the same every time: which of their inputs are applied twice, and with what eye. */

import type { DeterminismCheck } from '../actors/index.ts'
import type { Logger } from '../contracts/environment.ts'
import { presentMoment } from '../contracts/environment.ts'

export type CheckDeterminism = 'off' | 'sample' | 'always'

/** What is new is looked at; of what has often been the same, a little. */
const firstLooks = 3
const everyLook = 256
const kindsMax = 1000

/** Far enough for another date, another hour and another minute. */
const anotherDayMs = (400 * 24 + 5) * 3_600_000 + 7 * 60_000 + 11_013

export const determinismCheck = (mode: CheckDeterminism, log: Logger): DeterminismCheck | undefined => {
  if (mode === 'off') return undefined
  const looks = new Map<string, number>()
  const told = new Set<string>()
  return {
    refuses: mode === 'always',
    wants(what) {
      if (mode === 'always') return true
      const key = looks.has(what) || looks.size < kindsMax ? what : ''
      const count = (looks.get(key) ?? 0) + 1
      looks.set(key, count)
      return count <= firstLooks || count % everyLook === 0
    },
    watch: watched,
    tell(error) {
      const { kind, path, event, place, calls } = error.data ?? {}
      // The second pet of a family is like the first.
      const key = JSON.stringify([kind, path, event, place, calls]).replaceAll(/\d+/g, '')
      if (told.has(key) || told.size >= kindsMax) return
      told.add(key)
      log.error({ error: error.toJSON() }, 'a machine is not the same every time: after a crash its actor would be drift')
    },
  }
}

/** @param environment that of the process, of which production is told by `NODE_ENV` */
export const defaultCheck = (environment: NodeJS.ProcessEnv): CheckDeterminism => (environment.NODE_ENV === 'production' ? 'off' : 'sample')

/**
 * Runs it on another day, so that a date differs too, and notes who asks. Nobody else sees that day: the work does not wait, and it is over when this returns.
 * Ids that are drawn by other means differ by themselves.
 */
const watched = (work: () => void): string[] => {
  const calls = new Set<string>()
  const note = (what: string): void => {
    const moment = presentMoment()
    // XState notes when a delay was set, and forgets it.
    if (moment && !moment.scheduling()) calls.add(what)
  }
  const { Date: RealDate } = globalThis
  const realRandom = Math.random
  const later = () => RealDate.now() + anotherDayMs
  // A date says of itself that it was made by whatever stands there.
  RealDate.prototype.constructor = globalThis.Date = new Proxy(RealDate, {
    get(date, key) {
      if (key !== 'now') return Reflect.get(date, key)
      note('Date.now()')
      return later
    },
    construct(date, args) {
      if (args.length > 0) return Reflect.construct(date, args)
      note('new Date()')
      return new date(later())
    },
    apply(date) {
      note('Date()')
      return new date(later()).toString()
    },
  })
  Math.random = () => {
    note('Math.random()')
    return realRandom()
  }
  try {
    work()
  } finally {
    RealDate.prototype.constructor = globalThis.Date = RealDate
    Math.random = realRandom
  }
  return [...calls]
}
