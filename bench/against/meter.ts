/** The two meters of a slice. */

/** CPU time of the whole process in µs: the writer thread of the store, the thread pool and the collector's threads included. */
export const cpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Rises by every allocation, on the heap of the main thread and outside of it, and falls with every collection. */
export const allocatedBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
