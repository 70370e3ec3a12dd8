/**
 * What does a turn cost, beside its floors and, with `--peers`, beside other agent runtimes? Each contender runs in a process of its own, with the
 * same messages, the same model without latency, and the same checks.
 */
import { inChild } from './child.ts'
import { type Goal, goal, median, quick, rounds, rowOf, show, type Table } from './measure.ts'
import { installPeers } from './peers/install.ts'
import { type Entry, floors, ours } from './turns/contender.ts'
import type { Figures, Sizes } from './turns/measured.ts'
import { withFolder } from './workload.ts'

const sizes: Sizes = quick
  ? { warmUpMs: 20, turns: 4, sessions: 4, each: 2, long: 1, longTurns: 20 }
  : { warmUpMs: 2_000, turns: 200, sessions: 200, each: 5, long: 3, longTurns: 100 }

type Measured = { name: string; rounds: Figures[]; failed?: string }

const metrics: { key: keyof Figures; title: string; unit: string }[] = [
  { key: 'plain', title: 'a plain turn: one message, 100 deltas', unit: 'µs, p50' },
  { key: 'plainWorst', title: 'a plain turn, the slowest of a hundred', unit: 'µs, p99' },
  { key: 'first', title: 'from the message to the first delta', unit: 'µs, p50' },
  { key: 'tool', title: 'a tool turn: one message, one tool call, its result, 100 deltas', unit: 'µs, p50' },
  { key: 'toolWorst', title: 'a tool turn, the slowest of a hundred', unit: 'µs, p99' },
  { key: 'together', title: '200 sessions at once, five tool turns each', unit: 'turns/s' },
  { key: 'growth', title: 'tool turns 91–100 of a session against turns 1–10', unit: 'times as long' },
]

/** Bounds relative to others in the same run; `less` for times, `more` for rates. */
const relative: { of: keyof Figures; subject: Entry; to: string; bound: 'at most' | 'at least'; limit: number }[] = [
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

const growthMax = 1.2

const measure = async (entries: Entry[]): Promise<Measured[]> => {
  const measured = entries.map(({ name }): Measured => ({ name, rounds: [] }))
  for (let round = 0; round < rounds(3); round++)
    for (const [index, { name, module, variant, env }] of entries.entries()) {
      const one = measured[index] as Measured
      if (one.failed !== undefined) continue
      try {
        const program = new URL('turns/measured.ts', import.meta.url)
        const input = (folder: string) => ({ module, variant, folder, sizes })
        one.rounds.push(await withFolder((folder) => inChild<Figures>(program, input(folder), env ? { env } : {})))
      } catch (error) {
        one.failed = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
        console.log(`  ${name}: ${one.failed}`)
      }
    }
  return measured
}

const valuesOf = (measured: Measured[], name: string, key: keyof Figures): number[] | undefined => {
  const found = measured.find((one) => one.name === name && one.failed === undefined)
  return found?.rounds.map((figures) => figures[key])
}

const goalsOf = (measured: Measured[], key: keyof Figures): Goal[] => {
  const goals = relative.flatMap(({ of, subject, to, bound, limit }) => {
    const [own, other] = [valuesOf(measured, subject.name, of), valuesOf(measured, to, of)]
    if (of !== key || !own || !other) return []
    const ratio = median(own.map((value, round) => value / (other[round] as number)))
    return [goal(`${subject.name}, against ${to}`, ratio, bound, limit, 'times')]
  })
  if (key !== 'growth') return goals
  return Object.values(ours).flatMap(({ name }) => {
    const own = valuesOf(measured, name, key)
    return own ? [goal(name, median(own), 'at most', growthMax, 'times as long')] : []
  })
}

const tableOf = (measured: Measured[], failed: { name: string; reason: string }[], { key, title, unit }: (typeof metrics)[number]): Table => {
  const subjects = key === 'growth' ? [] : Object.values(ours)
  const rows = measured.map((one) => {
    if (one.failed !== undefined) return { name: one.name, failed: one.failed }
    const values = one.rounds.map((figures) => figures[key])
    const compared = subjects.map(({ name }) => {
      const own = valuesOf(measured, name, key)
      return own && name !== one.name ? ([own, values] as const) : null
    })
    return rowOf(one.name, values, compared)
  })
  return {
    title,
    unit,
    rounds: rounds(3),
    ratios: subjects.map(({ name }) => `${name}, ÷ this`),
    rows: [...rows, ...failed.map(({ name, reason }) => ({ name, failed: reason }))],
    goals: goalsOf(measured, key),
  }
}

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
  const tables = metrics.map((metric) => tableOf(measured, failed, metric))
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const first = tables[0] as Table
  first.note = [mergers(measured), ...(peers.length > 0 ? [`Peers: ${peers.join(', ')}. ${durabilityOfPeers}`] : [])].join(' ')
  tables.forEach(show)
  const broken = [...Object.values(ours), ...Object.values(floors)].filter(({ name }) => !valuesOf(measured, name, 'plain'))
  if (broken.length > 0) throw new Error(`could not be measured: ${broken.map(({ name }) => name).join(', ')}`)
  return tables
}

if (import.meta.main) await run({ withPeers: process.argv.includes('--peers') })
