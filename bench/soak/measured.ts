/** The work of the soak, in a process with nothing else in it. Started by `bench/soak.ts` with `--expose-gc`. */
import { partsOf } from '../../src/runtime/index.ts'
import { serve, settledBytes } from '../child.ts'
import { benchRuntime, turn } from '../workload.ts'

/** `heap` after a collection, in bytes like `rss`. */
export type Sample = { minute: number; rss: number; heap: number; turns: number; live: number }
/** Slopes in MiB an hour, least squares over the second half of the samples. */
export type Soaked = { samples: Sample[]; turns: number; sessions: number; rssSlope: number; heapSlope: number }

const lanes = 50
/** Old sessions are taken from among so many of the newest, so that journals stay short and the file grows with the work. */
const recent = 20_000

const slopeOf = (samples: Sample[], of: 'rss' | 'heap'): number => {
  const half = samples.slice(samples.length >> 1)
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(half.map(({ minute }) => minute)), mean(half.map((sample) => sample[of]))]
  const over = half.reduce((sum, sample) => sum + (sample.minute - x) * (sample[of] - y), 0)
  const under = half.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0)
  return under === 0 ? 0 : ((over / under) * 60) / 2 ** 20
}

serve(async ({ folder, minutes }: { folder: string; minutes: number }): Promise<Soaked> => {
  const runtime = await benchRuntime({ transport: `embedded:${folder}`, limits: { liveMax: 2_000, idleMs: 2_000 } })
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 60_000
  const sampleEvery = Math.min(0.5, minutes / 20)
  const samples: Sample[] = []
  let turns = 0
  let sessions = 0
  let random = 1
  /** The same sessions in the same order every time. */
  const chance = (): number => {
    random = (random * 48_271) % 2_147_483_647
    return random / 2_147_483_647
  }
  const lane = async (until: number): Promise<void> => {
    while (elapsed() < until) {
      const old = sessions > lanes && chance() < 0.5
      // Two lanes in one session at once would have the second message steer the turn of the first.
      const number = old ? Math.max(0, sessions - lanes - 1 - Math.floor(chance() * Math.min(recent, sessions - lanes))) : sessions++
      if (busy.has(number)) continue
      busy.add(number)
      await turn(runtime, `session-${number}`, chance() < 0.5 ? 'plain' : 'tool')
      busy.delete(number)
      turns++
    }
  }
  const busy = new Set<number>()
  for (let next = sampleEvery; next <= minutes + sampleEvery / 2; next += sampleEvery) {
    await Promise.all(Array.from({ length: lanes }, () => lane(next)))
    const heap = await settledBytes()
    const { rss } = process.memoryUsage()
    samples.push({ minute: elapsed(), rss, heap, turns, live: partsOf(runtime).host.liveCount })
    const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
    console.log(
      `${elapsed().toFixed(1)} min: ${turns} turns, ${sessions} sessions, ${partsOf(runtime).host.liveCount} live, RSS ${mib(rss)}, heap ${mib(heap)}`,
    )
  }
  await runtime.close()
  return { samples, turns, sessions, rssSlope: slopeOf(samples, 'rss'), heapSlope: slopeOf(samples, 'heap') }
})
