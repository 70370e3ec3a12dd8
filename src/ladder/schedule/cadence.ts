/** When a schedule is due: computed from a given moment alone, never from a clock. Times are ms since the epoch. */
import { Cron } from 'croner'
import { LadderError, wordsOf } from '../errors.ts'
import { msOf } from '../times.rules.ts'

export type Cadence = { at: Date | string | number } | { every: number | string } | { cron: string; timezone?: string }

/** @property from the last time that was due; null where none was yet @property anchor when the schedule began */
type Since = { from: number | null; anchor: number; now: number }
/** @property fallen due by now, the earliest first, the last {@link fallenMax} of them @property next what comes then; null: nothing does */
export type Reckoned = { fallen: number[]; next: number | null }

/** How many that were missed are looked at. */
export const fallenMax = 1_000

/** The last moment that a Date can name. */
const lastMoment = 8.64e15

/** What is checked once, when it is written; `text` names it, so that a change is noticed. */
export type CheckedCadence = { text: string; reckon(since: Since): Reckoned }

/** @throws LadderError SCHEDULE_CONFIG */
export const checkedCadence = (name: string, cadence: Cadence): CheckedCadence => {
  const kinds = ['at', 'every', 'cron'].filter((kind) => Object.hasOwn(cadence, kind))
  if (kinds.length !== 1)
    throw wrong(name, kinds.length === 0 ? 'does not say when' : `has ${kinds.join(' and ')}`, 'give it one of at, every and cron')
  if ('at' in cadence) return once(name, cadence.at)
  return 'every' in cadence ? regularly(name, cadence.every) : byCron(name, cadence)
}

const once = (name: string, at: Date | string | number): CheckedCadence => {
  const due = typeof at === 'string' ? Date.parse(at) : at instanceof Date || typeof at === 'number' ? Number(at) : Number.NaN
  if (!Number.isFinite(due) || Math.abs(due) > lastMoment || (typeof at === 'string' && !hasZone.test(at)))
    throw wrong(
      name,
      `is at ${JSON.stringify(at) ?? String(at)}, which is no moment`,
      "give a Date, ms since the epoch, or an ISO time with its zone: '2027-01-31T09:00:00Z'",
    )
  return {
    text: `at ${isoOf(due)}`,
    reckon: ({ from, now }) => (from !== null ? { fallen: [], next: null } : due <= now ? { fallen: [due], next: null } : { fallen: [], next: due }),
  }
}
/** Without a zone it would be another moment on each node. */
const hasZone = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d))?$/

const regularly = (name: string, every: number | string): CheckedCadence => {
  const ms = msOf(every)
  if (ms === undefined || !Number.isInteger(ms) || ms < 1_000 || ms > lastMoment)
    throw wrong(name, `is every ${JSON.stringify(every) ?? String(every)}`, "give ms, or a time such as '30s', '15m', '6h', '1d'; at least a second")
  return {
    text: `every ${ms} ms`,
    reckon: ({ from, anchor, now }) => {
      const passed = Math.max(0, Math.floor((now - anchor) / ms))
      const before = from === null ? 0 : Math.max(0, Math.floor((from - anchor) / ms))
      const count = Math.max(0, Math.min(passed - before, fallenMax))
      const fallen = Array.from({ length: count }, (_, index) => anchor + (passed - count + 1 + index) * ms)
      return { fallen, next: moment(anchor + (Math.max(passed, before) + 1) * ms) }
    },
  }
}

const byCron = (name: string, { cron, timezone = 'UTC' }: { cron: string; timezone?: string }): CheckedCadence => {
  const job = cronOf(name, cron, timezone)
  if (job.nextRun(new Date(0)) === null) throw wrong(name, `is never due: '${cron}'`, 'name a day that there is')
  return {
    text: `cron ${cron} ${timezone}`,
    reckon: ({ from, anchor, now }) => {
      const since = from ?? anchor
      const fallen: number[] = []
      for (let due = job.nextRun(new Date(since)); due !== null && Number(due) <= now && fallen.length <= fallenMax; due = job.nextRun(due))
        fallen.push(Number(due))
      const last =
        fallen.length > fallenMax
          ? job
              .previousRuns(fallenMax, new Date(now + 1))
              .map(Number)
              .reverse()
          : fallen
      // A fixed hour comes once, also where the clocks are set back.
      const next = job.nextRun(new Date(Math.max(now, since)))
      return { fallen: last, next: next === null ? null : Number(next) }
    },
  }
}

const cronOf = (name: string, cron: string, timezone: string): Cron => {
  try {
    const job = new Cron(cron, { timezone, paused: true, mode: '5-or-6-parts' })
    // A zone is looked up when it is asked.
    job.nextRun(new Date(0))
    return job
  } catch (cause) {
    throw wrong(
      name,
      `cannot be due by '${String(cron).slice(0, 80)}' in '${String(timezone).slice(0, 40)}': ${wordsOf(cause)}`,
      "write minute, hour, day, month and weekday, such as '0 9 * * 1-5', and a zone such as 'Europe/Berlin'",
      cause,
    )
  }
}

const moment = (at: number): number | null => (at <= lastMoment ? at : null)

/** As it stands in names of runs: with ms only where there are any. */
export const isoOf = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

export const wrong = (name: string, what: string, hint: string, cause?: unknown): LadderError =>
  new LadderError('SCHEDULE_CONFIG', `the schedule '${name}' ${what}`, { hint, cause })
