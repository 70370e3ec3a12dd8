/** How the work of a function grows with its input, by the processor time of this thread alone: it does not see what else the machine is doing. */

/** Between linear and quadratic, a factor of four from either: caches that others fill, and a collector of garbage, cost less than that. */
export const growthMax = 64

/** The system counts the time of a thread at its ticks, some ms apart: only over many of them is it exact. */
const measuredMicros = 25_000
/** Where it is quadratic all of them say so. */
const attemptMax = 12
/** What takes no longer than that can keep nobody waiting, however it grows. */
const quickMs = 1

/**
 * @param prepare makes what is measured, for a size
 * @returns how many times longer 4 × `size` takes than `size` / 4: 16 where it is linear, 256 where it is quadratic; 0 where even the larger one is quick.
 * The least of several where it looks slow: others may fill the caches for a while.
 */
export const growth = (size: number, prepare: (size: number) => () => void): number => {
  const [small, large] = [prepare(size / 4), prepare(4 * size)]
  if (isQuick(large)) return 0
  let ratio = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attemptMax && ratio > growthMax; attempt++) {
    const [short, long] = [micros(small), micros(large)]
    ratio = Math.min(ratio, long / Math.max(short, (1000 * quickMs) / 16))
  }
  return ratio
}

/** One of several runs is enough: the others may have been interrupted, or have run before the code was compiled. */
const isQuick = (work: () => void): boolean => {
  for (let run = 0; run < 5; run++) {
    const before = performance.now()
    work()
    if (performance.now() - before < quickMs) return true
  }
  return false
}

/** Of one run, on average. */
const micros = (work: () => void): number => {
  const before = process.threadCpuUsage()
  for (let runs = 1; ; runs++) {
    work()
    const { user, system } = process.threadCpuUsage(before)
    if (user + system >= measuredMicros) return (user + system) / runs
  }
}
