/**
 * What does a step of a workflow cost that outlives its process, a supervisor that asks ten at once, and a turn of a long session, beside the same in plain code and, with `--peers`, in
 * other agent runtimes? Each contender runs in a process of its own. Steps do nothing but count, so what is measured is what stands around them.
 */
import { floor, ours } from './ladder/contender.ts'
import { measure, metrics, tableOf, valuesOf, type Wanted } from './ladder/tables.ts'
import { show, type Table } from './measure.ts'
import { installPeers } from './peers/install.ts'

const langGraph = 'LangGraph, SQLite'

const wanted: Wanted[] = [
  ...(['short', 'long'] as const).map((key) => ({ key, subject: ours.disk, to: langGraph, limit: 0.5 })),
  { key: 'fan', subject: ours.disk, to: langGraph, limit: 1 },
  { key: 'growth', subject: ours.memory, limit: 1.5 },
  { key: 'growth', subject: ours.disk, limit: 1.5 },
  { key: 'turnGrowth', subject: ours.memory, limit: 1.5 },
  { key: 'turnGrowth', subject: ours.disk, limit: 1.5 },
  // What a step leaves in the run: its record, which its report shows.
  { key: 'late', subject: ours.disk, limit: 2_048 },
]

/** Read from their connections. */
const durabilityOfPeers =
  "LangGraph's SQLite saver has synchronous=NORMAL, which survives a kill but not a power cut, and by default it writes a checkpoint while the next step runs; Mastra's libSQL store, ours and the floor sync."

/** @param withPeers installs other runtimes in a scratch folder and measures them in the same rounds */
export const run = async ({ withPeers = false } = {}): Promise<Table[]> => {
  const { entries, failed, versions } = withPeers ? installPeers('ladder') : { entries: [], failed: [], versions: {} }
  const own = Object.values(ours)
  const measured = await measure([floor, ...own, ...entries])
  const tables = metrics.map((metric) => tableOf(measured, failed, metric, own, wanted))
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  if (peers.length > 0) (tables[0] as Table).note = `Peers: ${peers.join(', ')}. ${durabilityOfPeers}`
  tables.forEach(show)
  const broken = [floor, ...own].filter(({ name }) => !valuesOf(measured, name, 'short'))
  if (broken.length > 0) throw new Error(`could not be measured: ${broken.map(({ name }) => name).join(', ')}`)
  return tables
}

if (import.meta.main) await run({ withPeers: process.argv.includes('--peers') })
