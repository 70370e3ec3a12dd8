/**
 * `npm run bench`: all questions, one after the other. The answers go to `bench/results/`, and from there to `docs/performance.md`.
 *
 *     npm run bench -- --only turns --only deltas    some of them
 *     npm run bench -- --peers                       turns and steps beside other agent runtimes, installed into a scratch folder
 *     npm run bench -- --rounds 1                    to try something out; such figures are not kept, nor those of --no-keep
 */
import { parseArgs } from 'node:util'
import { inChild } from './child.ts'
import { commit, load, machine, versions } from './machine.ts'
import { goalLine, quick, type Table } from './measure.ts'
import { writePage } from './page.ts'
import { apart, questions } from './questions.ts'
import { type Answer, keep } from './results.ts'
import { sourcesOf } from './sources.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    peers: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    keep: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const all = Object.keys(questions).filter((name) => !apart.has(name))
const unknown = (values.only ?? []).filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`no question is named ${unknown.join(', ')}; there are: ${all.join(', ')}`)
  process.exit(1)
}
if (values.rounds !== undefined && !/^[1-9]\d?$/.test(values.rounds)) {
  console.error(`--rounds is a whole number from 1 to 99, not '${values.rounds}'`)
  process.exit(1)
}
// Fewer rounds, or more, are for trying something out: the page names the command that makes its figures.
const kept = values.keep && !quick && values.rounds === undefined
const chosen = values.only ? all.filter((name) => values.only?.includes(name)) : all

console.log(`${machine()}\n${versions()}\nstatecast at ${commit()}; load ${load().toFixed(1)}`)
const started = performance.now()
const answers: Record<string, Answer> = {}
let failures = 0
for (const name of chosen) {
  const withPeers = values.peers && (name.endsWith('turns') || name === 'ladder-steps')
  const about = { at: new Date().toISOString(), commit: commit(), sources: sourcesOf(), machine: machine(), versions: versions(), load: load() }
  const command = `npm run bench -- --only ${name}${withPeers ? ' --peers' : ''}`
  try {
    const program = new URL('question.ts', import.meta.url)
    const env = values.rounds === undefined ? {} : { BENCH_ROUNDS: values.rounds }
    const tables = await inChild<Table[]>(program, { name, withPeers }, { env, timeoutMs: 3_600_000, shown: true })
    answers[name] = { question: questions[name] ?? name, command, ...about, tables }
  } catch (error) {
    failures++
    console.log(`\n${name} could not be answered: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const goals = Object.values(answers).flatMap(({ tables }) => tables.flatMap(({ title, goals: own }) => own.map((one) => ({ title, ...one }))))
const missed = goals.filter(({ met }) => !met)
console.log(`\n${goals.length - missed.length} of ${goals.length} goals met, in ${Math.round((performance.now() - started) / 1000)} s`)
for (const one of missed) console.log(`  ${one.title}\n    ${goalLine(one)}`)
if (kept && Object.keys(answers).length > 0) {
  console.log(`kept in ${keep(answers)}`)
  console.log(`wrote ${await writePage()}`)
}
process.exitCode = failures > 0 ? 1 : 0
