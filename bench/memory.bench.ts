/** How much memory does a session take, awake and asleep, how fast does it wake, and does memory grow with the sessions that were ever touched? */
import { inChild } from './child.ts'
import { amount, goal, percentile, plainTable, quick, rounds, show, type Table } from './measure.ts'
import type { Asleep, Awake, Touched } from './memory/measured.ts'
import { withFolder } from './workload.ts'

const program = new URL('memory/measured.ts', import.meta.url)
const flags = ['--expose-gc']

const measured = <Out>(question: 'awake' | 'asleep' | 'touched', input: object): Promise<Out> =>
  withFolder((folder) => inChild<Out>(program, { question, folder, ...input }, { flags, timeoutMs: 600_000 }))

const several = async <Out>(question: 'awake' | 'asleep', input: object): Promise<Out[]> => {
  const all: Out[] = []
  for (let round = 0; round < rounds(3); round++) all.push(await measured<Out>(question, input))
  return all
}

const awake = async (): Promise<Table> => {
  const sessions = amount(2_000)
  const all = await several<Awake>('awake', { sessions })
  const perSession = all.map(({ bytes }) => bytes / 1024)
  const table = plainTable(
    `heap of a live session after one plain turn; ${sessions.toLocaleString('en')} sessions, store on disk`,
    'KiB',
    [
      ['floor: a bare XState actor and its two texts', all.map(({ floor }) => floor / 1024)],
      ['a session: machine, transcript, ledger', perSession],
    ],
    [goal('a live session', percentile(perSession, 0.5), 'at most', 8, 'KiB')],
  )
  show(table)
  return table
}

const asleep = async (): Promise<Table[]> => {
  const sessions = amount(2_000)
  const all = await several<Asleep>('asleep', { sessions })
  const bytes = all.map((one) => one.bytes)
  const p99 = all.map(({ wakes }) => percentile(wakes, 0.99))
  const tables = [
    plainTable(
      'heap that a session leaves behind when it is passivated',
      'bytes',
      [['a passivated session', bytes]],
      [goal('a passivated session', percentile(bytes, 0.5), 'at most', 1024, 'bytes')],
    ),
    plainTable(
      'waking a passivated session from disk: snapshot, state, ready',
      'ms',
      [
        ['p50', all.map(({ wakes }) => percentile(wakes, 0.5))],
        ['p99', p99],
        ['a whole plain turn of one that slept, p50', all.map(({ turns }) => percentile(turns, 0.5))],
        ['a whole plain turn of one that slept, p99', all.map(({ turns }) => percentile(turns, 0.99))],
      ],
      [goal('waking, p99', percentile(p99, 0.5), 'at most', 5, 'ms')],
    ),
  ]
  tables.forEach(show)
  return tables
}

/** Bytes that heap may grow per session ever touched and be called flat: less than the name of one. */
const flat = 16

const touched = async (): Promise<Table> => {
  const [sessions, samples] = quick ? [300, 3] : [100_000, 10]
  const { heaps, rss, seconds } = await measured<Touched>('touched', { sessions, samples })
  const { slope, each } = growthOf(heaps, sessions)
  const table = plainTable(
    `${sessions.toLocaleString('en')} sessions touched once, one plain turn each, in one process (${Math.round(sessions / seconds)} a second)`,
    'MiB of heap after so many, collected',
    heaps.map((heap, index) => [`${((index + 1) * each).toLocaleString('en')} sessions`, heap / 2 ** 20] as const),
    [goal('slope of the heap, least squares without the first sample', slope, 'at most', flat, 'bytes a session')],
  )
  table.note = `At most 2,000 live, idle ones leave after a second. RSS at the end: ${Math.round(rss / 2 ** 20)} MiB.`
  show(table)
  return table
}

/** The first sample still holds caches that fill up once. */
const growthOf = (heaps: number[], sessions: number): { slope: number; each: number } => {
  const each = sessions / heaps.length
  const points = heaps.map((heap, index) => [(index + 1) * each, heap] as const).slice(1)
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([count]) => count)), mean(points.map(([, heap]) => heap))]
  const over = points.reduce((sum, [count, heap]) => sum + (count - x) * (heap - y), 0)
  return { slope: over / points.reduce((sum, [count]) => sum + (count - x) ** 2, 0), each }
}

export const run = async (): Promise<Table[]> => [await awake(), ...(await asleep()), await touched()]

if (import.meta.main) await run()
