/** Memory of sessions, in a process that has done nothing else. Started by `bench/memory.bench.ts` with `--expose-gc`. */

import { createActor } from 'xstate'
import type { Runtime } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { serve, settledBytes } from '../child.ts'
import { quick } from '../measure.ts'
import { benchRuntime, delta, deltas, light, turn } from '../workload.ts'

/** Bytes per session. */
export type Awake = { bytes: number; floor: number }
/** Bytes per session; ms of each waking, and of each turn of one that slept. */
export type Asleep = { bytes: number; wakes: number[]; turns: number[] }
export type Touched = { heaps: number[]; rss: number; seconds: number }

type Input = { folder: string; sessions: number }

/** In flight at the same time. */
const lanes = 100

/** One plain turn in each of the sessions `from` to `to`. */
const touch = async (runtime: Runtime, from: number, to: number): Promise<void> => {
  let next = from
  const lane = async (): Promise<void> => {
    while (next < to) await turn(runtime, `session-${next++}`, 'plain')
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const until = async (met: () => boolean): Promise<void> => {
  while (!met()) await new Promise((resolve) => setTimeout(resolve, 50))
}

const floorOf = async (sessions: number): Promise<number> => {
  const before = await settledBytes()
  const kept: unknown[] = []
  for (let index = 0; index < sessions; index++) {
    const actor = createActor(light).start()
    actor.send({ type: 'next', text: `message ${index}` })
    // Flat, as a text that came over a wire would be.
    kept.push([actor, Buffer.from(`${index} ${delta.repeat(deltas)}`).toString()])
  }
  const bytes = ((await settledBytes()) - before) / sessions
  if (kept.length !== sessions) throw new Error('not everything was kept')
  return bytes
}

const awake = async ({ folder, sessions }: Input): Promise<Awake> => {
  const floor = await floorOf(sessions)
  const limits = { liveMax: 1_000_000, idleMs: 3_600_000 }
  const runtime = await benchRuntime({ transport: `embedded:${folder}`, limits })
  await touch(runtime, 0, lanes)
  const before = await settledBytes()
  await touch(runtime, lanes, lanes + sessions)
  const bytes = ((await settledBytes()) - before) / sessions
  if (partsOf(runtime).host.liveCount !== lanes + sessions) throw new Error(`${partsOf(runtime).host.liveCount} sessions are live`)
  await runtime.close()
  return { bytes, floor }
}

const asleep = async ({ folder, sessions }: Input): Promise<Asleep> => {
  const runtime = await benchRuntime({ transport: `embedded:${folder}`, limits: { idleMs: 200 } })
  const { host } = partsOf(runtime)
  const sleep = () => until(() => host.liveCount === 0)
  const timed = async (work: (key: string) => Promise<unknown>): Promise<number[]> => {
    const took: number[] = []
    for (let index = 0; index < sessions; index++) {
      const start = performance.now()
      await work(`session-${index}`)
      took.push(performance.now() - start)
    }
    await sleep()
    return took
  }
  await touch(runtime, sessions, sessions + lanes)
  await sleep()
  const before = await settledBytes()
  await touch(runtime, 0, sessions)
  await sleep()
  const bytes = ((await settledBytes()) - before) / sessions
  const wakes = await timed((key) => runtime.session(key).view())
  const turns = await timed((key) => turn(runtime, key, 'plain'))
  await runtime.close()
  return { bytes, wakes, turns }
}

const touched = async ({ folder, sessions, samples }: Input & { samples: number }): Promise<Touched> => {
  const runtime = await benchRuntime({ transport: `embedded:${folder}`, limits: { liveMax: 2_000, idleMs: quick ? 100 : 1_000 } })
  const heaps: number[] = []
  let busyMs = 0
  for (let sample = 0; sample < samples; sample++) {
    const start = performance.now()
    await touch(runtime, (sample * sessions) / samples, ((sample + 1) * sessions) / samples)
    busyMs += performance.now() - start
    // Like with like: nobody is live at any of the samples.
    await until(() => partsOf(runtime).host.liveCount === 0)
    heaps.push(await settledBytes())
  }
  const { rss } = process.memoryUsage()
  await runtime.close()
  return { heaps, rss, seconds: busyMs / 1000 }
}

const questions = { awake, asleep, touched }

serve(({ question, ...input }: Input & { question: keyof typeof questions; samples: number }) => questions[question](input))
