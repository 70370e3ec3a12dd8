/** `npm run bench`: all questions one after the other; the answers, with machine and date, go to `bench/results/`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run as durableTurn } from './durable-turn.bench.ts'
import { machine, type Result } from './measure.ts'
import { run as recovery } from './recovery.bench.ts'
import { run as rootEvent } from './root-event.bench.ts'

const commit = (): string => {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}

console.log(machine())
const results: Result[] = [await rootEvent(), await recovery(), ...(await durableTurn())]
const date = new Date().toISOString().slice(0, 10)
const folder = join(import.meta.dirname, 'results')
mkdirSync(folder, { recursive: true })
const file = join(folder, `${date}.json`)
writeFileSync(file, `${JSON.stringify({ date, commit: commit(), machine: machine(), results }, null, 2)}\n`)
console.log(`\nkept in ${file}`)
