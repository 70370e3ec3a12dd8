/**
 * Notices that files which this process has open are no longer the ones at their paths: deleted, moved away, or replaced. SQLite goes on writing
 * to what nobody can open again, so that without a look at the paths it would all be acknowledged and lost.
 */
import { existsSync, statSync } from 'node:fs'
import { RuntimeError } from '../../contracts/errors.ts'

export type OpenFiles = {
  /** Looks at everything. What was lost once stays lost: nobody knows what happened to the path meanwhile. */
  lost(): RuntimeError | undefined
  /** What was found before, without a look. */
  known(): RuntimeError | undefined
  /** Looks at the first file, whether the others exist, and once a second at everything. @throws RuntimeError log_unavailable */
  require(): void
}

type Found = { dev: bigint; ino: bigint } | 'gone' | 'unseen'

/**
 * For each group commit only the first file is asked who it is: to ask that of a file just written makes its next write dearer (on Linux since
 * 6.13 about 40 µs, as its times become exact for whoever has looked), while whether a path exists costs 1 µs.
 */
const lookEveryMs = 1_000

/** Of one SQLite database: the file, its side files, and the lock of its folder, for without any of them two writers could meet. */
export const filesOfStore = (file: string, lock: string): string[] => [file, `${file}-wal`, `${file}-shm`, lock]

/** To be called when the files are open. */
export const openFiles = (paths: string[]): OpenFiles => {
  const known = paths.flatMap((path) => {
    const found = look(path)
    return typeof found === 'object' ? [{ path, ...found }] : []
  })
  let lost: RuntimeError | undefined
  let lookedAt = performance.now()

  const check = (all: boolean): RuntimeError | undefined => {
    if (lost !== undefined) return lost
    for (const [index, { path, dev, ino }] of known.entries()) {
      const found = !all && index > 0 && existsSync(path) ? 'unseen' : look(path)
      if (found === 'gone') lost = lostError(path, 'is gone')
      else if (found !== 'unseen' && (found.ino !== ino || found.dev !== dev)) lost = lostError(path, 'was replaced')
      if (lost !== undefined) return lost
    }
    return undefined
  }

  return {
    lost: () => check(true),
    known: () => lost,
    require() {
      const now = performance.now()
      const due = now - lookedAt >= lookEveryMs
      if (due) lookedAt = now
      const found = check(due)
      if (found !== undefined) throw found
    },
  }
}

/** An inode is not given out again while somebody has it open, so two files never look like one. */
const look = (path: string): Found => {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? 'gone'
  } catch (error) {
    // A folder that may not be looked into for a while is no loss: what is open goes on working.
    return error instanceof Error && 'code' in error && gone.has(error.code) ? 'gone' : 'unseen'
  }
}

const gone: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ESTALE'])

const lostError = (path: string, what: string): RuntimeError =>
  new RuntimeError('log_unavailable', `${path} ${what} while it was in use`, {
    hint: 'stop this process, restore the data folder, then start again; nothing is accepted until then',
    retryable: true,
    data: { file: path },
  })
