/**
 * What do turns cost beside those of another revision of this repository? `node bench/against.ts <revision> [--rounds 5] [--channel]`
 *
 * With `--channel` the messages of this tree come from a channel that shows typing and gets answers in blocks, with everything that a person meets
 * there; the other revision, which may know no channels, does the same turns without one.
 *
 * The other revision is checked out into a folder for temporary files, with the packages of this tree; both do the same turns in processes of their
 * own, in turn, round by round. Not one of the questions of `npm run bench`: what there was before is of interest once.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { inChild } from './child.ts'
import { rowOf } from './measure.ts'

export type AgainstInput = { root: string; where: 'memory' | 'disk'; turns: number; channel: boolean }
/** µs for a turn: one after the other, and 50 at once. */
export type AgainstOutput = { alone: number; together: number }

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, channel: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [revision] = positionals
const rounds = Number(values.rounds)
if (revision === undefined || !Number.isInteger(rounds) || rounds < 1) {
  console.error('usage: node bench/against.ts <revision> [--rounds 5] [--channel]      such as: node bench/against.ts HEAD~20')
  process.exit(2)
}

const here = fileURLToPath(new URL('..', import.meta.url))
const git = (...words: string[]) => execFileSync('git', ['-C', here, ...words], { encoding: 'utf8' })
const folder = mkdtempSync(join(tmpdir(), 'statecast-against-'))
const there = join(folder, 'tree')
git('worktree', 'add', '--detach', there, revision)
try {
  if (!existsSync(join(there, 'node_modules'))) symlinkSync(join(here, 'node_modules'), join(there, 'node_modules'))
  const program = new URL('./turns/against.ts', import.meta.url)
  for (const where of ['memory', 'disk'] as const) {
    const took = { here: [] as AgainstOutput[], there: [] as AgainstOutput[] }
    for (let round = 0; round < rounds; round++) {
      // Neither is always the first.
      for (const side of round % 2 === 0 ? (['there', 'here'] as const) : (['here', 'there'] as const)) {
        const input: AgainstInput = { root: side === 'here' ? here : there, where, turns: 2000, channel: values.channel && side === 'here' }
        took[side].push(await inChild<AgainstOutput>(program, input))
      }
      console.error(`${where}: round ${round + 1} of ${rounds}`)
    }
    for (const how of ['alone', 'together'] as const) {
      const [now, then] = [took.here.map((one) => one[how]), took.there.map((one) => one[how])]
      const row = rowOf(how, now, [[now, then]])
      if ('median' in row) console.log(`${where}, ${how}: ${row.median.toFixed(0)} µs a turn, × ${row.ratios[0]?.toFixed(2)} of ${revision}`)
    }
  }
} finally {
  git('worktree', 'remove', '--force', there)
  rmSync(folder, { recursive: true, force: true })
}
