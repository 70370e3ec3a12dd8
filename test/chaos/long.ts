/**
 * Many faults on real nodes under load: `node test/chaos/long.ts --kills 500 --lost-acks 200 [--seed 7] [--servers 3] …`.
 * With `--rolling 2` nodes are restarted one after the other, each twice, and nothing else is done to them. Prints what was done, what came of it, and every violation; what a violation is about stays in the folder that is named.
 */
import { parseArgs } from 'node:util'
import { seeded } from '../crash/runs.ts'
import { wholeNumber } from '../support/arguments.ts'
import { aPlan, rolling } from './plan.ts'
import { play } from './play.ts'
import { report } from './report.ts'

const text = (fallback: number | string) => ({ type: 'string', default: String(fallback) }) as const
const { values } = parseArgs({
  options: {
    kills: text(500),
    'lost-acks': text(200),
    freezes: text(60),
    others: text(40),
    'server-restarts': text(20),
    'longest-freeze-s': text(60),
    'pause-ms': text(4_000),
    sessions: text(200),
    'think-ms': text(8_000),
    servers: text(1),
    seed: text(Date.now() % 100_000),
    rolling: text(0),
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
})
const number = (name: Exclude<keyof typeof values, 'quiet' | 'keep'>, least = 0): number => wholeNumber(name, values[name], least)
const seed = number('seed')
const servers = number('servers', 1)
if (servers !== 1 && servers !== 3) {
  console.error(`--servers is 1 or 3, not '${servers}'`)
  process.exit(2)
}
const rounds = number('rolling')
const harmful = aPlan({
  seed,
  random: seeded(seed),
  nodes: 3,
  kills: number('kills'),
  lostAcks: number('lost-acks'),
  freezes: number('freezes'),
  others: number('others'),
  serverRestarts: number('server-restarts'),
  longestFreezeMs: number('longest-freeze-s', 4) * 1_000,
  pauseMs: number('pause-ms', 300),
})
const plan = rounds > 0 ? rolling(3, rounds) : harmful
console.log(`seed ${seed}`)
const say = values.quiet ? () => undefined : (line: string) => console.log(line)
const played = await play(plan, { sessions: number('sessions', 1), servers, thinkMs: number('think-ms', 1), say, keep: values.keep })
for (const line of report(played)) console.log(line)
process.exitCode = played.violations.length > 0 ? 1 : 0
