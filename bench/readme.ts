/** The table of costs in README.md, between two marks, from the newest answers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure, type Row, type Table } from './measure.ts'
import { type Answer, newest } from './results.ts'
import { floors, ours } from './turns/contender.ts'

const [begin, end] = ['<!-- costs: made by `npm run docs` from bench/results/ -->', '<!-- end of costs -->']
const file = join(import.meta.dirname, '../README.md')

type Measured = Extract<Row, { median: number }>

const find = (kept: Record<string, Answer>, question: string, title: string, name: string): { row: Measured; table: Table } | undefined => {
  const table = kept[question]?.tables.find((one) => one.title.startsWith(title))
  const row = table?.rows.find((one) => one.name === name)
  return table && row && 'median' in row ? { table, row } : undefined
}

/** How many times as much as another row of the same table, as the table says: taken round by round. */
const times = (kept: Record<string, Answer>, title: string, name: string, other: string, words: string): string[] => {
  const base = find(kept, 'turns', title, other)
  const ratio = base?.row.ratios[base.table.ratios.indexOf(`${name}, ÷ this`)]
  return typeof ratio === 'number' ? [`× ${figure(ratio)} ${words}`] : []
}

const lines = (kept: Record<string, Answer>): string[] => {
  const turn = (what: string, title: string, name: string, unit: string, beside: [string, string][]): string[] => {
    const found = find(kept, 'turns', title, name)
    const ratios = beside.flatMap(([other, words]) => times(kept, title, name, other, words))
    return found ? [`| ${what} | ${figure(found.row.median)} ${unit} | ${ratios.join(', ')} |`] : []
  }
  const plainly = (what: string, question: string, title: string, name: string, unit: string, beside: string): string[] => {
    const found = find(kept, question, title, name)
    return found ? [`| ${what} | ${figure(found.row.median)} ${unit} | ${beside} |`] : []
  }
  const bareActor = find(kept, 'memory', 'heap of a live', 'floor: a bare XState actor and its two texts')
  const onDisk: [string, string][] = [
    [floors.disk.name, 'bare XState with as many synced appends'],
    ['LangGraph, SQLite', 'LangGraph.js on SQLite, which does not sync'],
  ]
  const inMemory: [string, string][] = [
    [floors.charts.name, 'our bare statecharts'],
    ['pi-agent-core', 'pi-agent-core, which stores nothing'],
    ['AI SDK, ToolLoopAgent', "the AI SDK's ToolLoopAgent"],
  ]
  return [
    ...turn('a plain turn of 100 deltas, on disk and synced', 'a plain turn: one', ours.disk.name, 'µs', onDisk),
    ...turn('the same in memory', 'a plain turn: one', ours.memory.name, 'µs', inMemory),
    ...turn('a turn with a tool, on disk and synced', 'a tool turn: one', ours.disk.name, 'µs', onDisk),
    ...turn('200 sessions at once, five such turns each: more is better', '200 sessions', ours.disk.name, 'turns/s', onDisk),
    ...plainly('deltas to a reader, an await each', 'deltas', 'deltas of one turn', 'statecast, an await a delta', 'a second', 'more is better'),
    ...plainly(
      'a live session',
      'memory',
      'heap of a live',
      'a session: machine, transcript, ledger',
      'KiB of heap',
      bareActor ? `a bare XState actor and its texts ${figure(bareActor.row.median)}` : '',
    ),
    ...plainly('waking one of one turn, p99', 'memory', 'waking', 'p99', 'ms', ''),
  ]
}

/** README.md with the table in it, as text. */
export const readmePage = (kept = newest()): string => {
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`README.md lacks the marks ${begin} and ${end}`)
  return `${before}${begin}\n\n| what | measured | beside |\n| --- | ---: | --- |\n${lines(kept).join('\n')}\n\n${end}${after}`
}
