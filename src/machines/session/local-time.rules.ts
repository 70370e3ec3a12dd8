/** Local time, read from the tables of time zones that Node has. */

type LocalTime = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** By time zone, since each takes as long to make as a hundred questions; undefined for a name that nobody knows. */
const clocks = new Map<string, Intl.DateTimeFormat | undefined>()
/** More than there are time zones: any further name is made up. */
const clocksMax = 1_000

const clockOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  if (!clocks.has(timeZone)) {
    if (clocks.size >= clocksMax) clocks.clear()
    clocks.set(timeZone, newClock(timeZone))
  }
  return clocks.get(timeZone)
}

const newClock = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

/** The last moment that a date can name. */
const latestMs = 8.64e15

/** What a clock on the wall shows. A guard of a statechart may ask, so nothing makes it throw: an unknown time zone is UTC. */
export const localTime = (at: number, timeZone = 'UTC'): LocalTime => {
  const moment = Math.min(latestMs, Math.max(-latestMs, at))
  const clock = timeZone === 'UTC' ? undefined : clockOf(timeZone)
  return clock === undefined ? utcTime(new Date(moment)) : timeOn(clock, moment)
}

const timeOn = (clock: Intl.DateTimeFormat, moment: number): LocalTime => {
  const parts = new Map(clock.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0
  return { year: part('year'), month: part('month'), day: part('day'), hour: part('hour'), minute: part('minute'), second: part('second') }
}

const utcTime = (moment: Date): LocalTime => ({
  year: moment.getUTCFullYear(),
  month: moment.getUTCMonth() + 1,
  day: moment.getUTCDate(),
  hour: moment.getUTCHours(),
  minute: moment.getUTCMinutes(),
  second: moment.getUTCSeconds(),
})
