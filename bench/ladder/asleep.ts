/** Workflows that sleep, in a process that has done nothing else. Started by `bench/ladder-sleeping.bench.ts` with `--expose-gc`. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from '../../src/index.ts'
import { ladder, workflow } from '../../src/ladder.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { serve, settledBytes } from '../child.ts'

/** Bytes for each run that sleeps: of heap, and of files. @property wakes ms until one of them has been woken, by asking it */
export type Sleeping = { heap: number; disk: number; wakes: number[] }
type Input = { folder: string; runs: number }

const day = 86_400_000
/** Begun at the same time. */
const lanes = 100
/** Begun before it is measured: what is compiled and kept once is there by then. */
const first = 1_000
const waked = 200

const until = async (met: () => boolean): Promise<void> => {
  while (!met()) await new Promise((resolve) => setTimeout(resolve, 50))
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  )

const sleeping = async ({ folder, runs }: Input): Promise<Sleeping> => {
  const flow = workflow({
    name: 'reminder',
    state: { sent: 0 },
    steps: [
      { name: 'order', run: ({ input, state }) => ((state.sent = 1), input) },
      { name: 'pause', sleep: 2 * day },
      { name: 'remind', run: ({ state }) => state.sent },
    ],
  })
  const open = () => createRuntime({ transport: `embedded:${folder}`, extensions: [ladder({ executables: [flow] })], limits: { idleMs: 200 } })
  const runtime = await open()
  const { host } = partsOf(runtime)
  const begin = async (from: number, to: number): Promise<void> => {
    let next = from
    const lane = async (): Promise<void> => {
      while (next < to) {
        const id = `run-${next++}`
        await runtime.actor('reminder', id, await flow.runInput(id, { item: `lamp ${id}` })).send({ type: 'execute' })
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    await until(() => host.liveCount === 0)
  }
  await begin(0, first)
  const before = await settledBytes()
  await begin(first, first + runs)
  const heap = ((await settledBytes()) - before) / runs
  const wakes: number[] = []
  for (let index = 0; index < Math.min(waked, runs); index++) {
    const start = performance.now()
    if ((await flow.look(`run-${index + first}`)) !== undefined) throw new Error('it does not sleep')
    wakes.push(performance.now() - start)
  }
  await runtime.close()
  return { heap, disk: sizeOf(folder) / (first + runs), wakes }
}

serve(sleeping)
