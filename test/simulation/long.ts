/**
 * Many seeds, on all cores: `node test/simulation/long.ts --seeds 100000 [--from 1] [--jobs 2]`. One seed with its story: `--seed 42`.
 * `--first` ends with the first seed that finds something, and tells its story as long as it is.
 * Every seed that finds something is printed with a story as short as it gets; the exit code says whether there was one.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { shrink, simulate } from '../../src/testing/index.ts'
import { wholeNumber } from '../support/arguments.ts'
import { shop } from './shop.ts'

type Found = { seed: number; violations: string[]; plan: object; story: string[] }
type Report = { seeds: number; steps: number; struck: number; found: Found[] }

const add = (a: Report, b: Report): Report => ({
  seeds: a.seeds + b.seeds,
  steps: a.steps + b.steps,
  struck: a.struck + b.struck,
  found: [...a.found, ...b.found],
})
const nothing: Report = { seeds: 0, steps: 0, struck: 0, found: [] }

/** At most this many seeds that found something are made small; the rest is likely to be the same. */
const shrunkMax = 3

const play = async (from: number, to: number, report: (part: Report) => void): Promise<void> => {
  let shrunk = 0
  for (let seed = from; seed < to; seed++) {
    const { violations, plan, story, steps, struck } = await simulate(shop, seed)
    if (violations.length === 0) {
      report({ seeds: 1, steps, struck, found: [] })
      continue
    }
    const told = !values.first && shrunk++ < shrunkMax ? await smallest(plan) : { plan, violations, story }
    report({ seeds: 1, steps, struck, found: [{ seed, ...told }] })
  }
}

const smallest = async (plan: Parameters<typeof shrink>[0]) => {
  const small = await shrink(plan as never, async (candidate) => (await simulate(shop, candidate as never)).violations.length > 0)
  const { violations, story } = await simulate(shop, small as never)
  return { plan: small, violations, story }
}

const running = new Set<ChildProcess>()

const job = (from: number, to: number, report: (part: Report) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const args = [fileURLToPath(import.meta.url), '--from', String(from), '--seeds', String(to - from), '--report']
    const child = spawn(process.execPath, [...args, ...(values.first ? ['--first'] : [])], { stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    createInterface({ input: child.stdout }).on('line', (line) => report(JSON.parse(line) as Report))
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`a job ended with ${code}`))))
  })

const tell = ({ seed, violations, plan, story }: Found): void => {
  console.log(`\nseed ${seed} finds:\n${violations.map((line) => `  ${line}`).join('\n')}`)
  console.log(`plan ${JSON.stringify(plan)}\n${story.slice(-80).join('\n')}`)
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    seed: { type: 'string' },
    first: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})
const [from, seeds, most] = [wholeNumber('from', values.from, 0), wholeNumber('seeds', values.seeds), wholeNumber('jobs', values.jobs)]
const slice = Math.ceil(seeds / most)
const jobs = Math.ceil(seeds / slice)

if (values.seed !== undefined) {
  const seed = wholeNumber('seed', values.seed, 0)
  const { violations, plan, story } = await simulate(shop, seed)
  if (violations.length === 0) console.log(`${story.join('\n')}\n\nseed ${seed} finds nothing`)
  else tell({ seed, violations, plan, story })
  process.exit(violations.length === 0 ? 0 : 1)
}
if (values.report) {
  let sum = nothing
  await play(from, from + seeds, (part) => {
    sum = add(sum, part)
    if (sum.seeds < 50 && part.found.length === 0) return
    console.log(JSON.stringify(sum))
    sum = nothing
  })
  console.log(JSON.stringify(sum))
  process.exit(0)
}

const began = performance.now()
let total = nothing
await Promise.all(
  Array.from({ length: jobs }, (_, index) =>
    job(from + index * slice, Math.min(from + (index + 1) * slice, from + seeds), (part) => {
      total = add(total, part)
      for (const found of part.found) tell(found)
      if (values.first && part.found.length > 0) {
        // They would go on with their seeds.
        for (const child of running) child.kill('SIGKILL')
        process.exit(1)
      }
      if (process.stderr.isTTY) process.stderr.write(`\r${total.seeds} of ${seeds} seeds, ${total.found.length} found something `)
    }),
  ),
)
const seconds = (performance.now() - began) / 1000
console.log(
  `${total.seeds} seeds in ${seconds.toFixed(0)} s: ${total.struck} faults at ${total.steps} steps, ${total.found.length} seeds with violations`,
)
process.exit(total.found.length === 0 ? 0 : 1)
