/**
 * Many kills, at fail points and at random instants, several in one life: `node test/crash/long.ts --kills 300 [--seed 7]`.
 * Prints what was struck how often, and every violation with the seed and the plan that lead to it again.
 */
import { parseArgs } from 'node:util'
import { failPoints } from '../../src/contracts/environment.ts'
import { wholeNumber } from '../support/arguments.ts'
import { diedAt, type Kill, type Plan, play, seeded } from './runs.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '300' }, seed: { type: 'string', default: `${Date.now() % 100_000}` } } })
const kills = wholeNumber('kills', values.kills)
const random = seeded(wholeNumber('seed', values.seed, 0))
const upTo = (n: number): number => 1 + Math.floor(random() * n)
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

const points = Object.keys(failPoints).filter((name) => name !== 'K21')
const tally = new Map<string, { planned: number; killed: number; wrong: number }>()
const rowOf = (name: string) => tally.get(name) ?? tally.set(name, { planned: 0, killed: 0, wrong: 0 }).get(name)!

/** At a point, in a tool, or at any instant from the first line of the program to its last. */
const aKill = (_: unknown, index: number): Kill => {
  const kind = random()
  if (kind < 0.6) {
    // A takeover needs somebody who died before.
    const at = oneOf(points.filter((name) => index > 0 || name !== 'K17'))
    const rare = ['K17', 'K18', 'K19', 'K20'].includes(at)
    return { at: `${at}:${upTo(at === 'K17' ? 2 : rare ? 1 : 3)}:kill`, drain: at === 'K20' }
  }
  if (kind < 0.7) return { inTool: oneOf(['charge', 'lookup', 'ship']) }
  return { afterMs: 100 + Math.floor(random() * 500), drain: random() < 0.2 }
}
const nameOf = ({ at, inTool }: Kill): string => at?.slice(0, 3) ?? (inTool ? 'in a tool' : 'any instant')

console.log(`seed ${values.seed}`)
const plans: Plan[] = []
for (let left = kills; left > 0; ) {
  const kills = Array.from({ length: Math.min(left, upTo(4)) }, aKill)
  plans.push({
    kills,
    scenario: random() < 0.2 || kills.some(({ at }) => at?.startsWith('K19')) ? 'cancel' : 'approve',
    inDoubt: oneOf(['approve', 'deny'] as const),
  })
  left -= kills.length
}
let wrong = 0
const oneLife = async (plan: Plan): Promise<void> => {
  const story = await play(plan)
  for (const [index, kill] of plan.kills.entries()) {
    const row = rowOf(nameOf(kill))
    const death = story.deaths[index]
    row.planned++
    if (death?.signal === 'SIGKILL') row.killed++
    if (kill.at && death?.signal === 'SIGKILL' && !diedAt(death, kill.at.slice(0, 3), Number(kill.at.split(':')[1]))) row.wrong++
    if (story.violations.length > 0) row.wrong++
  }
  if (story.violations.length === 0) return
  wrong++
  console.log(`\nVIOLATION with ${JSON.stringify(plan)}, kept in ${story.folder}`)
  for (const violation of story.violations) console.log(`  ${violation}`)
}
const left = plans.values()
const oneByOne = async (): Promise<void> => {
  for (const plan of left) await oneLife(plan)
}
// At most two at a time, as the machine that checks everything has two cores.
await Promise.all([oneByOne(), oneByOne()])
console.log('\npoint         planned  killed  in a life with violations')
for (const [name, { planned, killed, wrong: bad }] of [...tally].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${name.padEnd(12)} ${String(planned).padStart(8)} ${String(killed).padStart(7)} ${String(bad).padStart(6)}`)
console.log(`${plans.length} lives, ${wrong} with violations`)
process.exitCode = wrong > 0 ? 1 : 0
