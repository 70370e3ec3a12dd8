/**
 * The same three programs in four frameworks, run calmly and killed: `node examples/compare/run.ts` writes what became of them into the page beside it.
 *
 * With `--only` and the name of a framework, which may stand several times, some of them run, and nothing is written.
 *
 * The others are installed into a scratch folder, with the versions that `bench/peers/package.json` pins.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPeer } from '../../bench/peers/install.ts'
import type { Program } from './process.ts'
import { desk, type Outcome, order, session } from './stories.ts'
import { type Column, type Told, tableOf } from './table.ts'

const here = import.meta.dirname
const page = join(here, 'README.md')
const [begin, end] = ['<!-- outcomes: made by `node examples/compare/run.ts` -->', '<!-- end of outcomes -->']

const frameworks = {
  statecast: 'Statecast',
  langgraph: 'LangGraph.js',
  mastra: 'Mastra',
  'openai-agents': 'OpenAI Agents JS',
}
type Framework = keyof typeof frameworks

/** Beside its libraries, where imports find them. */
const placeOf = (framework: Framework): { root: string; version: string; env: Record<string, string> } => {
  if (framework === 'statecast') return { root: here, version: '', env: {} }
  const { folder, version, env } = installPeer(framework)
  const root = join(folder, 'compare')
  cpSync(here, root, { recursive: true })
  return { root, version, env }
}

/** Without blank lines and comments. */
const linesOf = (file: string): number => {
  const code = readFileSync(file, 'utf8').replace(/\/\*\*.*?\*\//gs, '')
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
}

const outcomesOf = async (program: Program, ways: Record<string, (program: Program) => Promise<Outcome>>): Promise<Record<string, Told>> => {
  const told: Record<string, Told> = {}
  for (const [name, tell] of Object.entries(ways)) {
    console.log(`  ${name}`)
    told[name] = await tell(program).catch((error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) }))
  }
  return told
}

const stories = { order, desk, session }

const columnOf = async (framework: Framework): Promise<Column> => {
  const { root, version, env } = placeOf(framework)
  const column: Column = { name: `${frameworks[framework]} ${version}`.trim(), programs: {} }
  for (const name of ['order', 'desk', 'session'] as const) {
    const file = join(root, framework, `${name}.${framework === 'statecast' ? 'ts' : 'mjs'}`)
    console.log(`${framework} ${name}`)
    column.programs[name] = { lines: linesOf(file), told: await outcomesOf({ file, env }, stories[name]) }
  }
  return column
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
const columns: Column[] = []
for (const framework of Object.keys(frameworks) as Framework[]) if (values.only?.includes(framework) ?? true) columns.push(await columnOf(framework))
const table = tableOf(columns)
console.log(table)
if (values.only === undefined) {
  const text = readFileSync(page, 'utf8')
  const about = `Made on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node}.`
  writeFileSync(page, `${text.slice(0, text.indexOf(begin) + begin.length)}\n${table}\n${about}\n${text.slice(text.indexOf(end))}`)
}
process.exitCode = columns.some(({ programs }) => Object.values(programs).some(({ told }) => Object.values(told).some((one) => 'failed' in one)))
  ? 1
  : 0
