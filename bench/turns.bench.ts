/**
 * What does a turn cost, beside its floors and, with `--peers`, beside other agent runtimes? Each contender runs in a process of its own, with the
 * same messages, the same model without latency, and the same checks.
 */
import { quick, show, type Table } from './measure.ts'
import { installPeers } from './peers/install.ts'
import { floors, ours } from './turns/contender.ts'
import { type Measured, measure, metrics, type Relative, tableOf, valuesOf } from './turns/tables.ts'

/** Bounds relative to others in the same run; `less` for times, `more` for rates. */
const relative: Relative[] = [
  ...(['plain', 'tool'] as const).flatMap((of) => [
    { of, subject: ours.memory, to: floors.memory.name, bound: 'at most' as const, limit: 6 },
    { of, subject: ours.memory, to: 'pi-agent-core', bound: 'at most' as const, limit: 3 },
    { of, subject: ours.memory, to: 'AI SDK, ToolLoopAgent', bound: 'at most' as const, limit: 0.1 },
    { of, subject: ours.memory, to: 'LangGraph, MemorySaver', bound: 'at most' as const, limit: 0.1 },
  ]),
  { of: 'together', subject: ours.memory, to: floors.memory.name, bound: 'at least', limit: 0.25 },
  { of: 'together', subject: ours.memory, to: 'pi-agent-core', bound: 'at least', limit: 0.5 },
  { of: 'together', subject: ours.memory, to: 'OpenAI Agents, MemorySession', bound: 'at least', limit: 3 },
  { of: 'tool', subject: ours.disk, to: floors.disk.name, bound: 'at most', limit: 2 },
  { of: 'tool', subject: ours.disk, to: 'LangGraph, SQLite', bound: 'at most', limit: 0.6 },
  { of: 'together', subject: ours.disk, to: floors.disk.name, bound: 'at least', limit: 0.3 },
  { of: 'together', subject: ours.disk, to: 'LangGraph, SQLite', bound: 'at least', limit: 10 },
  { of: 'together', subject: ours.disk, to: 'Mastra, libSQL file', bound: 'at least', limit: 15 },
]

const mergers = (measured: Measured[]): string => {
  const merged = measured.filter(({ rounds: all }) => all.some(({ pieces }) => pieces < 100))
  if (quick || merged.length === 0) return 'Every contender handed over each delta by itself, and all of them arrived.'
  const list = merged.map(({ name, rounds: all }) => `${name} in ${Math.min(...all.map(({ pieces }) => pieces))}`).join(', ')
  return `All text arrived everywhere; not each delta by itself: ${list} pieces of 100.`
}

/** Read from their connections. */
const durabilityOfPeers =
  "LangGraph's SQLite saver sets synchronous=NORMAL, which survives a kill but not a power cut; ours and the floor sync every commit."

/** @param withPeers installs other runtimes in a scratch folder and measures them in the same rounds */
export const run = async ({ withPeers = false } = {}): Promise<Table[]> => {
  const { entries, failed, versions } = withPeers ? installPeers() : { entries: [], failed: [], versions: {} }
  const measured = await measure([...Object.values(floors), ...Object.values(ours), ...entries])
  const tables = metrics.map((metric) => tableOf(measured, failed, metric, Object.values(ours), relative))
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const first = tables[0] as Table
  first.note = [mergers(measured), ...(peers.length > 0 ? [`Peers: ${peers.join(', ')}. ${durabilityOfPeers}`] : [])].join(' ')
  tables.forEach(show)
  const broken = [...Object.values(ours), ...Object.values(floors)].filter(({ name }) => !valuesOf(measured, name, 'plain'))
  if (broken.length > 0) throw new Error(`could not be measured: ${broken.map(({ name }) => name).join(', ')}`)
  return tables
}

if (import.meta.main) await run({ withPeers: process.argv.includes('--peers') })
