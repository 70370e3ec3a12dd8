/** What does a workflow cost while it sleeps: in memory, on disk, and to wake? */
import { inChild } from './child.ts'
import type { Sleeping } from './ladder/asleep.ts'
import { amount, goal, percentile, plainTable, rounds, show, type Table } from './measure.ts'
import { withFolder } from './workload.ts'

const program = new URL('ladder/asleep.ts', import.meta.url)

export const run = async (): Promise<Table[]> => {
  const runs = amount(5_000)
  const all: Sleeping[] = []
  for (let round = 0; round < rounds(3); round++)
    all.push(await withFolder((folder) => inChild<Sleeping>(program, { folder, runs }, { flags: ['--expose-gc'], timeoutMs: 600_000 })))
  const heap = all.map((one) => one.heap)
  const wakes = all.map((one) => percentile(one.wakes, 0.99))
  const count = runs.toLocaleString('en')
  const tables = [
    plainTable(
      `a workflow that sleeps for two days after its first step, of ${count}`,
      'bytes',
      [
        ['heap, when it has left memory', heap],
        ['files, its journal and its head', all.map(({ disk }) => disk)],
      ],
      [goal('heap of a workflow that sleeps', percentile(heap, 0.5), 'at most', 1024, 'bytes')],
    ),
    plainTable('waking one that is asked, from disk', 'ms', [
      ['p50', all.map((one) => percentile(one.wakes, 0.5))],
      ['p99', wakes],
    ]),
  ]
  tables.forEach(show)
  return tables
}

if (import.meta.main) await run()
