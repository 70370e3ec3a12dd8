/** The table of costs in README.md, between two marks, from the newest answers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure, type Row, type Table } from './measure.ts'
import { type Answer, newest } from './results.ts'
import { changedSince, sourcesOf } from './sources.ts'
import { floors, ours } from './turns/contender.ts'

const [begin, end] = ['<!-- costs: made by `npm run docs` from bench/results/ -->', '<!-- end of costs -->']
const file = join(import.meta.dirname, '../README.md')

type Measured = Extract<Row, { median: number }>

const find = (kept: Record<string, Answer>, question: string, title: string, name: string): { row: Measured; table: Table } | undefined => {
  const table = kept[question]?.tables.find((one) => one.title.startsWith(title))
  const row = table?.rows.find((one) => one.name === name)
  return table && row && 'median' in row ? { table, row } : undefined
}

/** As a reader would say it: `2.1 × slower than …`. The table of the benchmark has ours ÷ theirs, taken round by round. */
const compared = (kept: Record<string, Answer>, title: string, name: string, better: Better, [other, words]: [string, string]): string[] => {
  const base = find(kept, 'turns', title, other)
  const ratio = base?.row.ratios[base.table.ratios.indexOf(`${name}, ÷ this`)]
  if (typeof ratio !== 'number') return []
  const ahead = better === 'lower' ? ratio < 1 : ratio > 1
  return [`${figure(ratio < 1 ? 1 / ratio : ratio)} × ${ahead ? 'faster' : 'slower'} than ${words}`]
}

type Better = 'lower' | 'higher'

const lines = (kept: Record<string, Answer>): string[] => {
  const line = (what: string, row: Measured, unit: string, better: Better, beside: string): string =>
    `| ${what} | ${figure(row.median)} ${unit} | ${better} | ${beside} |`
  const turn = (what: string, title: string, name: string, unit: string, better: Better, beside: [string, string][]): string[] => {
    const found = find(kept, 'turns', title, name)
    return found ? [line(what, found.row, unit, better, beside.flatMap((other) => compared(kept, title, name, better, other)).join(', '))] : []
  }
  const plainly = (what: string, question: string, title: string, name: string, unit: string, better: Better, beside = ''): string[] => {
    const found = find(kept, question, title, name)
    return found ? [line(what, found.row, unit, better, beside)] : []
  }
  const bareActor = find(kept, 'memory', 'heap of a live', 'floor: a bare XState actor and its two texts')
  const onDisk: [string, string][] = [
    [floors.disk.name, 'bare XState with as many synced appends'],
    ['LangGraph, SQLite', 'LangGraph.js on SQLite, which does not sync'],
  ]
  const inMemory: [string, string][] = [
    [floors.charts.name, 'our statecharts without a runtime'],
    ['pi-agent-core', 'pi-agent-core, which stores nothing'],
    ['AI SDK, ToolLoopAgent', "the AI SDK's ToolLoopAgent"],
  ]
  return [
    ...turn('a plain turn of 100 deltas, on disk and synced', 'a plain turn: one', ours.disk.name, 'µs', 'lower', onDisk),
    ...turn('the same in memory', 'a plain turn: one', ours.memory.name, 'µs', 'lower', inMemory),
    ...turn('a turn with a tool, on disk and synced', 'a tool turn: one', ours.disk.name, 'µs', 'lower', onDisk),
    ...turn('200 sessions at once, five such turns each', '200 sessions', ours.disk.name, 'turns/s', 'higher', onDisk),
    ...plainly('deltas to one reader, an await each', 'deltas', 'deltas of one turn', 'statecast, an await a delta', 'per second', 'higher'),
    ...plainly(
      'heap of a live session',
      'memory',
      'heap of a live',
      'a session: machine, transcript, ledger',
      'KiB',
      'lower',
      bareActor ? `a bare XState actor and its texts: ${figure(bareActor.row.median)} KiB` : '',
    ),
    ...plainly('waking a one-turn session, p99', 'memory', 'waking', 'p99', 'ms', 'lower'),
  ]
}

/** Of which commits these figures are, and whether they are of what is here. */
const origin = (kept: Record<string, Answer>, now: string): string => {
  const shown = ['turns', 'deltas', 'memory'].flatMap((name) => kept[name] ?? [])
  const commits = [...new Set(shown.map(({ commit }) => commit))]
  const stale = shown.some(({ sources }) => sources !== now)
  return `Measured at ${commits.length > 1 ? 'commits' : 'commit'} ${commits.join(', ')}.${stale ? ` **${changedSince}.**` : ''}`
}

/** README.md with the table in it, as text. */
export const readmePage = (kept = newest(), now = sourcesOf()): string => {
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`README.md lacks the marks ${begin} and ${end}`)
  return `${before}${begin}\n\n| what | measured | better | compared with |\n| --- | ---: | --- | --- |\n${lines(kept).join('\n')}\n\n${origin(kept, now)}\n\n${end}${after}`
}
