/** What the gate prints, and its verdicts as a test report. */
import { figure } from '../measure.ts'
import { type Figure, passes, ratioOf } from './rules.ts'

const amountOf = (value: number, unit: string): string =>
  Number.isFinite(value) ? `${figure(value)}${unit === '' ? '' : ` ${unit}`}` : 'not measured'

const verdictOf = (one: Figure): string =>
  passes(one) ? 'ok' : Number.isFinite(one.now) && Number.isFinite(one.baseline) ? 'DEARER' : 'NOT MEASURED'

export const tableOf = (figures: readonly Figure[], revision: string): string => {
  const rows = [
    ['a turn of', revision.slice(0, 12), 'now', 'ratio', 'limit', 'verdict'],
    ...figures.map((one) => [
      one.name,
      amountOf(one.baseline, one.unit),
      amountOf(one.now, one.unit),
      ratioOf(one).toFixed(2),
      one.limit.toFixed(2),
      verdictOf(one),
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 0 || column === 5 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
    )
    .map((line) => line.trimEnd())
    .join('\n')
}

const sentenceOf = (one: Figure): string =>
  verdictOf(one) === 'NOT MEASURED'
    ? `${one.name} could not be measured on both sides`
    : `${one.name} rose from ${amountOf(one.baseline, one.unit)} to ${amountOf(one.now, one.unit)} a turn, × ${ratioOf(one).toFixed(2)}: the limit is × ${one.limit.toFixed(2)}`

const advice =
  'Make the turn cheaper: `node --cpu-prof` shows where CPU time goes, `node bench/counts.ts` what a turn enters. ' +
  'If the cost buys something, move the baseline: add a row with the reason to bench/baseline.md.'

export const summaryOf = (
  figures: readonly Figure[],
  { revision, isBaseline, seconds }: { revision: string; isBaseline: boolean; seconds: number },
): string => {
  const dearer = figures.filter((one) => !passes(one))
  const against = `${isBaseline ? 'the baseline ' : ''}${revision.slice(0, 12)}`
  const took = `in ${Math.round(seconds)} s`
  if (dearer.length === 0) return `No figure is above its limit beside ${against}: ${figures.length} figures, ${took}.`
  return [
    `A turn costs more than at ${against}: ${dearer.length} of ${figures.length} above the limit, ${took}.`,
    ...dearer.map((one) => `  ${sentenceOf(one)}`),
    advice,
  ].join('\n')
}

/** In the form of vitest's JSON reporter, so that each figure counts as a test. */
export const reportOf = (figures: readonly Figure[], revision: string) => ({
  testResults: [
    {
      name: 'bench/against.ts',
      status: figures.every(passes) ? 'passed' : 'failed',
      message: '',
      assertionResults: figures.map((one) => ({
        fullName: `${one.name} is within its limit of ${one.limit} beside ${revision.slice(0, 12)}`,
        status: passes(one) ? 'passed' : 'failed',
        failureMessages: passes(one) ? [] : [`${sentenceOf(one)}\n${advice}`],
      })),
    },
  ],
})
