/** Stops writes while there is still room to finish what was promised: SQLite needs space for its log and for the pages behind it. */
import { statfsSync } from 'node:fs'
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'

export const freeBytesMinimum = 64 * 1024 * 1024
const checkEveryMs = 1_000

/** @returns bytes that this process may still use on the disk of `folder` */
export type MeasureFreeBytes = (folder: string) => number

export const measureFreeBytes: MeasureFreeBytes = (folder) => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export type FreeSpace = {
  /** @throws RuntimeError log_full before anything is written */
  require(sizeBytes: number): void
  /** Measured now; undefined where the system does not tell. */
  freeBytes(): number | undefined
}

/** Looks at the disk once a second, at once for a write that could use up what is left, and every time while there is too little. */
export const freeSpace = (
  folder: string,
  freeBytesMin: number,
  clock: Pick<Clock, 'now'>,
  measure: MeasureFreeBytes = measureFreeBytes,
): FreeSpace => {
  let free = 0
  let measuredAt = Number.NEGATIVE_INFINITY
  const look = (): number => {
    measuredAt = clock.now()
    try {
      free = measure(folder)
    } catch {
      // A file system that cannot tell must not stop the work; SQLite itself still answers when it is full.
      free = Number.POSITIVE_INFINITY
    }
    return free
  }
  return {
    require(sizeBytes) {
      // Once into the log, once into the database.
      const spendBytes = 2 * sizeBytes
      const needed = freeBytesMin + spendBytes
      // The clock may jump either way.
      if (free < needed || Math.abs(clock.now() - measuredAt) >= checkEveryMs) look()
      if (free < needed)
        throw new RuntimeError('log_full', `the disk of ${folder} has ${free} bytes free, ${needed} are needed to promise durability`, {
          hint: `${free} bytes are free and ${needed} are needed: free some space; writing then resumes by itself, and nothing was lost`,
          retryable: true,
          data: { freeBytes: free, neededBytes: needed },
        })
      free -= spendBytes
    },
    freeBytes: () => (Number.isFinite(look()) ? free : undefined),
  }
}
