/** How the work of a function grows with its input, by the processor time of this thread alone: it does not see what else the machine is doing. */

const repeats = 7
/** Below it, µs are noise. */
const floorMicros = 1000

/** Between linear and quadratic. */
export const growthMax = 9

/**
 * @param prepare makes what is measured, for a size @returns how many times longer four times the size takes: 4 where it is linear, 16 where it is
 * quadratic. The least of three where it looks slow: a collector of garbage may come in between, but not each time.
 */
export const growth = (size: number, prepare: (size: number) => () => void): number => {
  let ratio = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && ratio > growthMax; attempt++) {
    const [small, large] = [prepare(size), prepare(4 * size)].map(leastMicros) as [number, number]
    ratio = Math.min(ratio, large / Math.max(small, floorMicros / 4))
  }
  return ratio
}

const micros = (work: () => void): number => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

const leastMicros = (work: () => void): number => {
  let least = Number.POSITIVE_INFINITY
  // What is quick enough can keep nobody waiting, however it grows.
  for (let repeat = 0; repeat < repeats && least > floorMicros; repeat++) least = Math.min(least, micros(work))
  return least
}
