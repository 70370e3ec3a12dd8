/** What stands above the lanes: wall time, quiet times that are cut, and where a node was killed. */
import type { Row } from '../fold/protocol.ts'

/** ms in which nothing was written down, beyond which it is said how long that was. */
const quietMs = 5_000

/** `52 s`, `3 min`, `2 h`, `4 d`. */
export const spanWords = (ms: number): string => {
  if (ms < 950) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${Number((ms / 1000).toFixed(1))} s`
  if (ms < 119_500) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

/** Made once: to make one takes as long as to draw a column. */
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
export const clockWords = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(date) : clock.format(date)
}
/** `48.509`: where the minute is known. */
const withinMinute = (at: number): string => exactClock(at).slice(6)
export const exactClock = (at: number): string => `${clockWords(at)}.${String(Math.floor(at % 1000)).padStart(3, '0')}`

export type Cut = { seq: number; ms: number; killed: boolean; before: Row; row: Row }

/** Between which commits time is left out, and where nobody was there. */
export const cutsIn = (rows: readonly Row[], first: number, last: number): Cut[] => {
  const cuts: Cut[] = []
  for (let seq = Math.max(2, first); seq <= Math.min(last, rows.length); seq++) {
    const row = rows[seq - 1] as Row
    const before = rows[seq - 2] as Row
    const ms = row.at - before.at
    if (row.killed || ms > quietMs) cuts.push({ seq, ms, killed: row.killed === true, before, row })
  }
  return cuts
}

/** Columns that say the time, so far apart that their words do not touch; within one second they say what differs. */
export const timedColumns = (rows: readonly Row[], first: number, last: number, perCommit: number): { seq: number; words: string }[] => {
  const every = Math.max(1, Math.ceil(66 / perCommit))
  const columns: { seq: number; words: string }[] = []
  let before = ''
  for (let seq = Math.max(1, Math.ceil(first / every) * every - every + 1); seq <= last; seq += every) {
    const row = rows[seq - 1]
    if (!row || seq < first) continue
    const words = clockWords(row.at)
    columns.push({ seq, words: words === before ? withinMinute(row.at) : words })
    before = words
  }
  return columns
}
