/**
 * The process that is killed: a runtime on a folder with the client that uses it.
 * `node worker.ts FOLDER [approve|cancel] [approve|deny]`; STATECAST_FAILPOINTS says where it dies, CRASH_DRAIN that it gets a SIGTERM in mid-turn.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FailPoint } from '../../src/contracts/environment.ts'
import { createRuntime, isRuntimeError } from '../../src/index.ts'
import { failPointsFrom } from '../../src/runtime/fail-points.ts'
import { systemClock } from '../../src/runtime/system-environment.ts'
import { type ClientOptions, runClient, type Scenario } from './client.ts'
import { type EffectLine, effectsFile, readLines } from './lines.ts'
import { subjectOf } from './subject.ts'

const [folder = '', scenario = 'approve', inDoubt = 'deny'] = process.argv.slice(2)
const planned = failPointsFrom(process.env.STATECAST_FAILPOINTS, systemClock)
const hits: Partial<Record<FailPoint, number>> = {}
const counted = {
  hit(name: FailPoint) {
    hits[name] = (hits[name] ?? 0) + 1
    return planned.hit(name)
  },
}
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const runtime = await createRuntime({
  ...subjectOf(folder),
  transport: `embedded:${folder}/data`,
  environment: { failPoints: counted },
  limits: { snapshotEvery: 3 },
})
say({ ready: true })

let draining = false
process.once('SIGTERM', () => {
  draining = true
  void runtime.drain(5_000).then(() => {
    say({ drained: true })
    process.exit(0)
  })
})
if (process.env.CRASH_DRAIN)
  void (async () => {
    while (!readLines<EffectLine>(effectsFile(folder)).some(({ tool }) => tool === 'lookup')) await sleep(1)
    process.kill(process.pid, 'SIGTERM')
  })()

const session = runtime.session('shop')
try {
  await runClient({ runtime, session, folder, scenario: scenario as Scenario, inDoubt: inDoubt as ClientOptions['inDoubt'] })
} catch (error) {
  // A client whose server has gone goes on with the next one; `drain` ends the process.
  if (!draining || !isRuntimeError(error) || error.code !== 'closed') throw error
  await new Promise(() => undefined)
}
const { verdict, difference } = await runtime.replay(session.address)
await runtime.close()
say({ done: true, replay: verdict, ...(difference ? { difference } : {}), hits })
