/** Turns that nobody asked for: whether one is due to run, and whether what it found is worth telling. */
import type { HeartbeatVisibility } from '../../contracts/channel.ts'
import { localTime } from '../../machines/session/local-time.rules.ts'

/** Hours of the day as `hh:mm`, the end excluded and `24:00` allowed; they may go over midnight. */
type ActiveHours = { start: string; end: string /** Default: UTC. */; timeZone?: string }

/** After a heartbeat that found the session at work, and for requests that come together. */
export const busyRetryMs = 1000
export const wakeCoalesceMs = 250
const repeatMs = 24 * 3_600_000

/** Whether heartbeats may run at this time. Hours that are missing, malformed or of no length forbid nothing. @param now ms since the epoch */
export const insideActiveHours = (now: number, hours?: ActiveHours): boolean => {
  const start = minuteOf(hours?.start)
  const end = minuteOf(hours?.end)
  if (start === undefined || end === undefined || start === end) return true
  const { hour, minute } = localTime(now, hours?.timeZone)
  const at = hour * 60 + minute
  return start < end ? start <= at && at < end : start <= at || at < end
}

const minuteOf = (time = ''): number | undefined => {
  const [, hour, minute] = /^(\d{1,2}):([0-5]\d)$/.exec(time.trim()) ?? []
  const at = Number(hour) * 60 + Number(minute)
  return at <= 24 * 60 ? at : undefined
}

/** A heading, or an item of a list, a box to tick included, that says nothing. */
const emptyLine = /^(?:#+(?:\s.*)?|(?:[-*+]|\d{1,9}[.)])(?:\s+\[[ xX]?\])?)?$/

/** Whether a checklist names nothing to do. A file that is not there is no empty one: the prompt alone may be enough. */
export const checklistEmpty = (text: string | undefined): boolean => text?.split('\n').every((line) => emptyLine.test(line.trim())) ?? false

type Visibility = Record<keyof HeartbeatVisibility, boolean>

export const defaultVisibility: Visibility = { showOk: false, showAlerts: true, indicator: true }

/** For each flag the first layer that has it: account, channel, agent. */
export const resolveVisibility = (layers: readonly (HeartbeatVisibility | undefined)[]): Visibility => {
  const flag = (name: keyof Visibility) => layers.find((layer) => layer?.[name] !== undefined)?.[name] ?? defaultVisibility[name]
  return { showOk: flag('showOk'), showAlerts: flag('showAlerts'), indicator: flag('indicator') }
}

export type SkipReason = 'disabled' | 'quiet-hours' | 'requests-in-flight' | 'empty-checklist' | 'nothing-visible'

export type HeartbeatMoment = {
  enabled: boolean
  now: number
  hours?: ActiveHours
  busy: boolean
  /** Contents of the checklist file, if there is one. */
  checklist?: string | undefined
  visibility: Visibility
}

/** Why no heartbeat runs now; undefined when one does. `requests-in-flight` comes last: it alone is worth another attempt after {@link busyRetryMs}. */
export const skipReason = ({ enabled, now, hours, busy, checklist, visibility }: HeartbeatMoment): SkipReason | undefined => {
  if (!enabled) return 'disabled'
  if (!insideActiveHours(now, hours)) return 'quiet-hours'
  if (!visibility.showOk && !visibility.showAlerts && !visibility.indicator) return 'nothing-visible'
  if (checklistEmpty(checklist)) return 'empty-checklist'
  return busy ? 'requests-in-flight' : undefined
}

/** Whether the same was said within 24 hours. @param last the alert that was delivered last */
export const alertRepeated = (text: string, last: { text: string; at: number } | undefined, now: number): boolean =>
  last !== undefined && last.text.trim() === text.trim() && now - last.at < repeatMs
