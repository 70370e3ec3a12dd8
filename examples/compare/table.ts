/** What became of each program, as one table. */
import { again, counted, type Outcome, told as seenIn } from './stories.ts'

export type Told = Outcome | { failed: string }
/** Of one framework; by the name of the program its lines of code, and by that of the story what became of it. */
export type Column = { name: string; programs: Record<string, { lines: number; told: Record<string, Told> }> }

type Cell = (outcome: Outcome, calm: Outcome) => string

const byItself: Cell = ({ byItself: did }) => (did ? 'yes' : 'no')
const ranAgain: Cell = (outcome, calm) => again(calm, outcome).join(', ') || 'nothing'
const modelCalls: Cell = ({ deeds }) => String(deeds.filter(({ what }) => what === 'model').length)
const parcels: Cell = ({ deeds }) => {
  const keys = deeds.filter(({ what }) => what === 'ship').map(({ key }) => key)
  return `${keys.length} under ${new Set(keys).size === 1 ? 'one key' : `${new Set(keys).size} keys`}`
}
const seenLast: Cell = (outcome) => `${seenIn(outcome).last.filter((message) => !message.startsWith('system: ')).length} messages`
const summaries: Cell = ({ deeds }) => String((counted(deeds).get('model summarizer') ?? 0) + (counted(deeds).get('model observer') ?? 0))
/** Whether what the customer said in the turn that was cut off is there once, and its answer as well. */
const kept: Cell = (outcome) => {
  const { after } = seenIn(outcome)
  const said = after.filter((message) => message === 'user: message 3').length
  const answered = after.some((message) => message === 'assistant: answer to message 3')
  // What has become a summary by then cannot be told.
  if (said === 0 && !answered) return 'in the summary'
  return `${said === 1 ? 'once' : `${said} times`}${answered ? ', with its answer' : ', without its answer'}`
}

const rows: { program: string; story: string; title: string; cell: Cell }[] = [
  { program: 'order', story: 'afterChecks', title: '… killed after the checks: goes on by itself', cell: byItself },
  { program: 'order', story: 'afterChecks', title: '… what was done again', cell: ranAgain },
  { program: 'order', story: 'whileItShips', title: '… killed while it ships: goes on by itself', cell: byItself },
  { program: 'order', story: 'whileItShips', title: '… parcels sent', cell: parcels },
  { program: 'desk', story: 'calm', title: '… model calls without a crash', cell: modelCalls },
  { program: 'desk', story: 'whileOneWorks', title: '… killed while one of three works: goes on by itself', cell: byItself },
  { program: 'desk', story: 'whileOneWorks', title: '… asked again', cell: ranAgain },
  { program: 'session', story: 'calm', title: '… calls for summaries', cell: summaries },
  { program: 'session', story: 'calm', title: '… what the model sees in turn 8, beside system messages', cell: seenLast },
  { program: 'session', story: 'inTheThirdTurn', title: '… killed in turn 3: goes on by itself', cell: byItself },
  { program: 'session', story: 'inTheThirdTurn', title: '… asked again', cell: ranAgain },
  { program: 'session', story: 'inTheThirdTurn', title: '… message 3, as turn 4 sees it', cell: kept },
]

const titles: Record<string, string> = {
  order: '**An order**, a workflow: lines of code',
  desk: '**A desk**, a supervisor with three specialists: lines of code',
  session: '**A conversation** of eight turns, compacted: lines of code',
}

const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`

export const tableOf = (columns: readonly Column[]): string => {
  const cellOf = ({ programs }: Column, program: string, story: string, cell: Cell): string => {
    const { told = {} } = programs[program] ?? {}
    const [outcome, calm] = [told[story], told.calm]
    if (!outcome || !calm) return ''
    if ('failed' in outcome) return `failed: ${outcome.failed.slice(0, 120)}`
    return 'failed' in calm ? 'failed without a crash' : cell(outcome, calm)
  }
  return [
    line(['', ...columns.map(({ name }) => name)]),
    line(['---', ...columns.map(() => '---')]),
    ...Object.entries(titles).flatMap(([program, title]) => [
      line([title, ...columns.map(({ programs }) => String(programs[program]?.lines ?? ''))]),
      ...rows
        .filter((row) => row.program === program)
        .map(({ title: what, story, cell }) => line([what, ...columns.map((column) => cellOf(column, program, story, cell))])),
    ]),
  ].join('\n')
}
