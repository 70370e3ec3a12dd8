/**
 * Seeds of random tests, and how many cases each tier pays for.
 *
 * `npm test` plays fixed seeds, so its result depends on the code alone. The long tier draws its seed from the commit: a commit that fails today fails
 * tomorrow, and the next commit plays other cases. `STATECAST_SEED=7` plays those of that seed.
 */
import { inject } from 'vitest'
import { fileAt, isLong, repeatCommand } from './tier.ts'

type Budget = {
  /** Cases in `npm test`. */
  short?: number
  /** Cases in the long tier. */
  long?: number
  /** A seed that both tiers keep, since not every seed shows what the test looks for. */
  seed?: number
}

/** By test file or contract, below `test/`. A file whose random tests differ has the number that the dearest of them can pay for. */
export const budgets: Readonly<Record<string, Budget>> = {
  'actors/journal/codec': { short: 100 },
  'actors/native': { short: 1_000 },
  'actors/order': { short: 60 },
  'actors/property': { short: 60 },
  'actors/replica/difference': { short: 3_000 },
  'actors/replica/fingerprint': { short: 100 },
  'actors/replica/lean': { short: 100 },
  'actors/replica/step': { short: 200, long: 3_000 },
  'api/chat/patch.rules': { short: 100 },
  'api/ui-stream/answer-parts.rules': { short: 300 },
  'chaos/chaos': { short: 1, long: 1, seed: 11 },
  'client/socket/chat-view.property': { short: 100 },
  'contracts/constant': { short: 100 },
  'contracts/delta-cursor': { short: 500 },
  'contracts/exact-json': { short: 300 },
  'contracts/subjects': { short: 2_000 },
  'contracts/wildcard': { short: 100 },
  'crash/kill-points': { long: 1 },
  'crash/power-cut': { short: 15, long: 100 },
  'field/answers': { short: 15 },
  'ladder/agent/leaked-calls': { short: 400 },
  'ladder/kept': { short: 100 },
  'ladder/survival/processes.nats': { long: 5, seed: 17 },
  'ladder/survival/server-killed.nats': { long: 1, seed: 17 },
  'machines/loop/repetition.rules': { short: 100 },
  'machines/loop/tool-results.rules': { short: 100 },
  'machines/transcript/transcript': { short: 300 },
  'reply/random': { short: 20 },
  'runtime/random': { short: 25, long: 300 },
  'runtime/random.disk': { short: 4, long: 60 },
  'simulation/seeds': { short: 25, long: 400 },
  'tools/built-in/calculate': { short: 1_000 },
  'tools/files/files': { short: 500 },
  'tools/files/line-pattern.rules': { short: 1_500 },
  'tools/mcp/rules': { short: 100 },
  'tools/policy.rules': { short: 100 },
  'tools/provider-schema.rules': { short: 400 },
  'tools/registry': { short: 200 },
  'tools/tool-names.rules': { short: 100 },
  'transport/bus.contract': { short: 100 },
  'transport/embedded.places': { short: 300 },
  'transport/journal.contract': { short: 40 },
  'web/markdown': { short: 500 },
}

export type Seeds = {
  seed: number
  cases: number
  /** Repeats these cases. */
  repeat: string
}

type Draw = {
  /** The test file or contract, from the root of the repository. */
  file: string
  /** `STATECAST_SEED`; empty: not set. */
  given: string
  /** The id of the commit; empty outside of a Git checkout. */
  commit: string
}

/** fast-check has 32 bits for it. */
const seedMax = 2 ** 32 - 1

/** @throws Error for a file without a budget, and for a `STATECAST_SEED` that is not one */
export const drawSeeds = ({ file, given, commit }: Draw): Seeds => {
  const name = file.replace(/^test\//, '').replace(/(?:\.long)?(?:\.test)?\.ts$/, '')
  const budget = budgets[name]
  const cases = isLong(file) ? budget?.long : budget?.short
  if (cases === undefined) throw new Error(`no cases for ${file}: add '${name}' to the budgets in test/support/seeds.ts`)
  if (!/^\d*$/.test(given) || Number(given) > seedMax) throw new Error(`invalid STATECAST_SEED '${given}': use a whole number from 0 to ${seedMax}`)
  const seed = given === '' ? (budget?.seed ?? (isLong(file) && commit !== '' ? Number.parseInt(commit.slice(0, 6), 16) : 1)) : Number(given)
  return { seed, cases, repeat: repeatCommand(file, { STATECAST_SEED: seed }) }
}

/** Chooses the seeds that this run plays; the long tier prints the command that repeats them. @param url `import.meta.url` of the test file or contract */
export const chooseSeeds = (url: string): Seeds => {
  const file = fileAt(url)
  const seeds = drawSeeds({ file, given: inject('seed'), commit: inject('commit') })
  if (isLong(file)) console.log(`seed ${seeds.seed}, ${seeds.cases} ${seeds.cases === 1 ? 'case' : 'cases'}; repeat: ${seeds.repeat}`)
  return seeds
}
