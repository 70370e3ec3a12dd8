/**
 * Has a turn become dearer? `npm run gate` compares the working tree with the baseline that `bench/baseline.md` names, and fails above the limits of
 * `bench/against/rules.ts`. `node bench/against.ts <revision>` compares it with any other revision.
 *
 *     --rounds 3              at most so many rounds; by default as many as a doubtful figure needs
 *     --channel               messages of the working tree come from a chat channel that shows typing and gets answers in blocks
 *     --plant cpu             adds a cost on purpose, which must be caught; also allocation and commit, and several of them; --share 0.15 is the default
 *     --report <file>         writes the verdicts as a test report in JSON, for `.ci/run`
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checkOut, committedBaseline } from './against/baseline.ts'
import { type Count, countsOf } from './against/counts.ts'
import { type Plant, type PlantKind, plants } from './against/plant.ts'
import { reportOf, summaryOf, tableOf } from './against/report.ts'
import { storesParent, takeRound } from './against/rounds.ts'
import {
  countedFigures,
  type Figure,
  mostCounts,
  mostRounds,
  passes,
  type Rounds,
  type Side,
  sides,
  timedFigures,
  wantsMore,
} from './against/rules.ts'
import { everyWork } from './against/works.ts'
import { withFolder } from './workload.ts'

function usage(problem: string): never {
  console.error(
    `${problem}\nusage: node bench/against.ts [<revision>] [--rounds 3] [--channel] [--plant ${plants.join('|')} [--share 0.15]] [--report <file>]`,
  )
  process.exit(2)
}
const parse = () => {
  try {
    return parseArgs({
      options: {
        channel: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        plant: { type: 'string', multiple: true, default: [] },
        share: { type: 'string', default: '0.15' },
        report: { type: 'string' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    return usage((error as Error).message)
  }
}
const { values, positionals } = parse()
const isPlant = (kind: string): kind is PlantKind => (plants as readonly string[]).includes(kind)
const plantOf = (kinds: readonly string[], share: number): Plant | undefined => {
  if (!(share > 0 && share <= 10)) return usage(`invalid --share '${values.share}': use a number such as 0.15`)
  const wrong = kinds.find((kind) => !isPlant(kind))
  if (wrong !== undefined) return usage(`invalid --plant '${wrong}': use ${plants.join(', ')}`)
  return kinds.length === 0 ? undefined : { kinds: kinds.filter(isPlant), share }
}
const roundsOf = (text: string | undefined): number => {
  if (text === undefined) return mostRounds
  return /^[1-9]\d?$/.test(text) ? Number(text) : usage(`invalid --rounds '${text}': use a whole number from 1 to 99`)
}
if (positionals.length > 1) usage(`more than one revision: ${positionals.join(' ')}`)
const plant = plantOf(values.plant, Number(values.share))
const roundsMax = roundsOf(values.rounds)

/** All of CI's three minutes but what a last round and the report may take. */
const budgetMs = 165_000
const started = performance.now()
const leftMs = (): number => budgetMs - (performance.now() - started)
const note = (line: string): void => console.error(`gate: ${line}`)

const measureCounts = async (roots: Record<Side, string>, folder: string): Promise<Figure[]> => {
  const attempts: Record<Side, Count[][]> = { baseline: [], now: [] }
  for (let attempt = 0; ; attempt++) {
    for (const side of sides) attempts[side].push(await countsOf(roots[side], join(folder, `${side}-${attempt}`), side === 'now' ? plant : undefined))
    const figures = countedFigures(attempts)
    if (attempt + 1 === mostCounts || figures.every(passes)) return figures
    note('a count rose: counting again')
  }
}

const measureTimes = async (roots: Record<Side, string>, folder: string): Promise<Figure[]> => {
  const rounds: Rounds = { baseline: [], now: [] }
  for (let round = 0; ; round++) {
    const began = performance.now()
    const stores = join(folder, `round-${round}`)
    mkdirSync(stores)
    const taken = await takeRound({ roots, folder: stores, channel: values.channel, plant, isOdd: round % 2 === 1 })
    rmSync(stores, { recursive: true, force: true })
    for (const side of sides) rounds[side].push(taken[side])
    const figures = timedFigures(rounds, everyWork)
    const roundMs = performance.now() - began
    note(`round ${round + 1} took ${Math.round(roundMs / 1000)} s`)
    if (!wantsMore(round + 1, figures, { leftMs: leftMs(), roundMs, roundsMax })) return figures
  }
}

// Ctrl-C removes the stores, which lie in memory.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

const revision = positionals[0] ?? committedBaseline().revision
const baseline = () => {
  try {
    return checkOut(revision, note)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}
const roots = { baseline: baseline(), now: fileURLToPath(new URL('..', import.meta.url)) }
// Neither side compiles twice what it has compiled before.
process.env.NODE_COMPILE_CACHE ??= join(roots.baseline, '..', 'compiled')
const figures = await withFolder(async (folder) => [...(await measureCounts(roots, folder)), ...(await measureTimes(roots, folder))], storesParent())

console.log(tableOf(figures, revision))
console.log(summaryOf(figures, { revision, isBaseline: positionals.length === 0, seconds: (performance.now() - started) / 1000 }))
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(reportOf(figures, revision)))
process.exitCode = figures.every(passes) ? 0 : 1
