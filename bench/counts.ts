/**
 * What does a turn in memory need, counted and not timed? `node bench/counts.ts` prints it; `test/bench/counts.test.ts` lets it only fall.
 *
 * These are the same on every machine, busy or not, which no time is. Not one of the questions of `npm run bench`: its answer is a test.
 */
import { inChild } from './child.ts'
import type { AllocatedCounts, CountsInput, EnteredCounts } from './counts/measured.ts'

export type Counts = { entered: EnteredCounts; allocated: AllocatedCounts }

const program = new URL('./counts/measured.ts', import.meta.url)
// Room for all that some hundred turns allocate: what no collection has touched can be counted.
const flags = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256']
const turns = 100

/** Of code that was compiled by another process V8 may count a function that is none, at a place behind the end of its file. */
const env = { NODE_DISABLE_COMPILE_CACHE: '1' }

export const count = async (): Promise<Counts> => ({
  entered: await inChild<EnteredCounts>(program, { what: 'entered' } satisfies CountsInput, { env }),
  allocated: await inChild<AllocatedCounts>(program, { what: 'allocated', turns } satisfies CountsInput, { flags }),
})

if (import.meta.main) {
  const { entered, allocated } = await count()
  const row = (name: string, of: (message: 'plain' | 'tool') => number, delta?: number) =>
    console.log(`${name.padEnd(44)}${[of('plain'), of('tool'), delta].map((figure) => (figure?.toLocaleString('en') ?? '').padStart(12)).join('')}`)
  console.log(`${'the first turn of a session, in memory'.padEnd(44)}${['plain', 'tool', 'one delta'].map((name) => name.padStart(12)).join('')}`)
  row('KB allocated', (message) => Math.round(allocated[message].bytes / 1000))
  row('promises', (message) => allocated[message].promises)
  row('  of these of the model and of the reader', (message) => allocated[message].without)
  row('machine snapshots built', (message) => entered[message].snapshots)
  row('actors created', (message) => entered[message].actors)
  row('actions', (message) => entered[message].actions)
  row('guards', (message) => entered[message].guards)
  row('files of ours entered', (message) => entered[message].files, entered.delta.files)
  row('functions of ours entered', (message) => entered[message].functions, entered.delta.functions)
}
