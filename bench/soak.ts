/**
 * Does memory grow while it works for a long time? `node bench/soak.ts --minutes 30` keeps sessions of all ages busy on disk: new ones, old ones that
 * have to wake, turns with tools and without. `--keep` puts the answer beside the others. Half an hour fills some GiB of the folder for temporary
 * files, and gives them back at the end.
 */
import { parseArgs } from 'node:util'
import { inChild } from './child.ts'
import { commit, load, machine, versions } from './machine.ts'
import { figure, goal, plainTable, show, type Table } from './measure.ts'
import { writePage } from './page.ts'
import { questions } from './questions.ts'
import { keep } from './results.ts'
import type { Soaked } from './soak/measured.ts'
import { withFolder } from './workload.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, keep: { type: 'boolean', default: false } } })
const minutes = Number(values.minutes)
/** Minutes below which a slope means nothing: caches and compiled code still fill up. */
const steadyAfter = 10
/** MiB an hour that RSS may rise in the second half and count as flat: the allocator moves by as much. */
const slopeMax = 30

const soaked = (folder: string): Promise<Soaked> =>
  inChild<Soaked>(
    new URL('soak/measured.ts', import.meta.url),
    { folder, minutes },
    { flags: ['--expose-gc'], timeoutMs: minutes * 60_000 + 120_000, shown: true },
  )

const tableOf = ({ samples, turns, sessions, rssSlope, heapSlope }: Soaked): Table => {
  const [first, last] = [samples[0], samples.at(-1)]
  const middle = samples[samples.length >> 1]
  const mib = (bytes = 0) => bytes / 2 ** 20
  const table = plainTable(
    `${minutes} minutes: ${turns.toLocaleString('en')} turns in ${sessions.toLocaleString('en')} sessions, half of the turns in old ones`,
    'MiB',
    [
      ['RSS, first sample', mib(first?.rss)],
      ['RSS, in the middle', mib(middle?.rss)],
      ['RSS, last sample', mib(last?.rss)],
      ['heap after collection, first sample', mib(first?.heap)],
      ['heap after collection, last sample', mib(last?.heap)],
    ],
    minutes < steadyAfter
      ? []
      : [
          goal('slope of RSS over the second half', rssSlope, 'at most', slopeMax, 'MiB an hour'),
          goal('slope of the heap over the second half', heapSlope, 'at most', slopeMax, 'MiB an hour'),
        ],
  )
  if (minutes < steadyAfter) table.note = `Too short for a slope: ${figure(rssSlope)} MiB of RSS an hour says nothing yet.`
  show(table)
  return table
}

const about = { at: new Date().toISOString(), commit: commit(), machine: machine(), versions: versions(), load: load() }
console.log(`${about.machine}\n${about.versions}\nstatecast at ${about.commit}; load ${about.load.toFixed(1)}`)
const table = tableOf(await withFolder(soaked))
if (values.keep) {
  const command = `node bench/soak.ts --minutes ${minutes}`
  console.log(`kept in ${keep({ soak: { question: questions.soak as string, command, ...about, tables: [table] } })}, wrote ${await writePage()}`)
}
