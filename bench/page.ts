/** `docs/performance.md` from the newest answers. Made by `npm run docs`, at the end of `npm run bench`, or by `node bench/page.ts`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { figure, type Goal, type Row, type Table } from './measure.ts'
import { questions } from './questions.ts'
import { readmePage } from './readme.ts'
import { type Answer, newest } from './results.ts'
import { changedSince, sourcesOf } from './sources.ts'

export const pagePath = 'docs/performance.md'

const note = '<!-- made by `npm run docs` from bench/results/: run the benchmark again, do not change this page -->'

const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`
/** Columns after the first `left` ones hold figures. */
const table = (head: readonly string[], rows: readonly (readonly string[])[], left = 1): string =>
  `${line(head)}${line(head.map((_, column) => (column < left ? '---' : '---:')))}${rows.map(line).join('')}`

const cellsOf = (row: Row, { rounds, ratios }: Table): string[] => {
  if ('failed' in row) return [row.name, `not measured: ${row.failed}`, ...(rounds > 1 ? [''] : []), ...ratios.map(() => '')]
  const spread = rounds > 1 ? [`${figure(row.min)}–${figure(row.max)}`] : []
  return [row.name, figure(row.median), ...spread, ...row.ratios.map((ratio) => (ratio === null ? '' : `× ${figure(ratio)}`))]
}

const tableOf = (one: Table): string => {
  const head = [one.title, one.unit, ...(one.rounds > 1 ? ['min–max'] : []), ...one.ratios]
  const rows = table(
    head,
    one.rows.map((row) => cellsOf(row, one)),
  )
  const goals = one.goals.map((goal) => `- ${goal.met ? 'Goal met' : '**Goal not met**'}: ${wordsOf(goal)}\n`).join('')
  return [rows, goals, one.note ? `${one.note}\n` : ''].filter((part) => part !== '').join('\n')
}

const wordsOf = ({ text, value, unit, bound, limit }: Goal): string => `${text}: ${figure(value)} ${unit}, the goal is ${bound} ${figure(limit)}.`

const section = ({ question, command, at, commit, sources, load, tables }: Answer, now: string): string => {
  const rounds = Math.max(...tables.map((one) => one.rounds))
  const how = `\`${command}\`, ${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, load ${load.toFixed(1)}, ${rounds === 1 ? 'one round' : `medians of ${rounds} rounds`}`
  const stale = sources === now ? '' : ` **${changedSince}.**`
  return `## ${question}\n\n${how}.${stale}\n\n${tables.map(tableOf).join('\n')}`
}

const overview = (answers: [string, Answer][]): string => {
  const goals = answers.flatMap(([name, { tables }]) => tables.flatMap((one) => one.goals.map((goal) => ({ name, title: one.title, goal }))))
  const missed = goals.filter(({ goal }) => !goal.met)
  const first = `${goals.length - missed.length} of ${goals.length} goals are met.`
  if (missed.length === 0) return `${first}\n`
  const rows = missed.map(({ name, title, goal }) => [
    name,
    title,
    goal.text,
    `${figure(goal.value)} ${goal.unit}`,
    `${goal.bound} ${figure(goal.limit)}`,
  ])
  return `${first} These are not:\n\n${table(['question', 'about', 'who', 'measured', 'goal'], rows, 3)}`
}

/** The page as text; undefined when nothing was ever kept. */
export const performancePage = (kept = newest(), now = sourcesOf()): string | undefined => {
  const answers = Object.keys(questions).flatMap((name) => (kept[name] ? [[name, kept[name]] as [string, Answer]] : []))
  if (answers.length === 0) return undefined
  const places = [...new Set(answers.map(([, { machine, versions }]) => `${machine}; ${versions}`))]
  return `# What it costs

${note}

Each figure was measured by the command above its table, beside its floor in the same run; *floor* is the same work without a runtime. Absolute
figures belong to the machine; ratios, taken round by round, travel further. The load is that of the machine in the minute before, the question before
included: of the first question it says whether others were at work. The model answers without latency, so what is left is the runtime, and in the
question of the first word a provider package with its HTTP. How the contenders are
measured, and how to add one: [bench/README.md](../bench/README.md). Where the sources have changed since a question was asked, its section says so.

${places.map((place) => `    ${place}\n`).join('')}
${overview(answers)}
${answers.map(([, answer]) => section(answer, now)).join('\n')}`
}

/** @returns the path from the repository */
export const writePage = async (): Promise<string> => {
  const page = performancePage()
  if (page !== undefined) await writeFile(join(import.meta.dirname, '..', pagePath), page)
  await writeFile(join(import.meta.dirname, '../README.md'), readmePage())
  return pagePath
}

if (import.meta.main) console.log(`wrote ${await writePage()}`)
