/** What came of it, in lines. */
import type { Played } from './play.ts'

export const report = ({ figures, harms, notes, violations, folder }: Played): string[] => {
  const tally = (names: readonly string[]): string => {
    const counts = Map.groupBy(names, (name) => name)
    return (
      [...counts]
        .map(([name, all]) => `${name} ${all.length}`)
        .sort()
        .join(', ') || 'none'
    )
  }
  const rates = Object.entries(figures.turns).map(([status, count]) => `${status} ${count}`)
  const repeats = Object.entries(figures.repeated).map(([policy, count]) => `${policy} ${count}`)
  return [
    `done to them:    ${tally(harms.map(({ what }) => what))}`,
    `leaving took:    ${distribution(harms.flatMap(({ what, from, to }) => (['SIGTERM', 'drain'].includes(what) ? [to - from] : [])))}`,
    `load:            ${figures.sessions} sessions, ${figures.messages} messages answered, ${figures.commits} commits, ${figures.epochs} epochs`,
    `turns:           ${rates.join(', ')}`,
    `tools:           ${figures.executions} executions; run again: ${repeats.join(', ') || 'none'}; in doubt ${figures.inDoubt}`,
    `clients met:     ${tally(notes.flatMap(({ what, code, text }) => (what === 'refused' ? [`${code} (${String(text).slice(0, 60)})`] : [])))}`,
    `answers took:    ${distribution(figures.waitedMs)}`,
    `take-over:       ${distribution(figures.takeOversMs)}`,
    `  of one kill:   ${distribution(figures.aloneMs)}`,
    `began too late:  ${distribution(figures.lateMs)}`,
    ...figures.notable.slice(0, 50).map((line) => `notable ${line}`),
    ...violations.slice(0, 200).map((violation) => `VIOLATION ${violation}`),
    `${violations.length} violations${violations.length > 0 ? `, kept in ${folder}` : ''}`,
  ]
}

export const distribution = (ms: readonly number[]): string => {
  const sorted = ms.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return sorted.length === 0 ? 'none' : `${sorted.length}: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}
