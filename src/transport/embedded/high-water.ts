/**
 * Notices a store that lost its end: an older copy of the file put back, or a write-ahead log that SQLite cut short at a damaged frame without a
 * word. The store counts its group commits; beside it, in a file of its own, stands how far the count was known to have come. The file is
 * written after each commit, so it never runs ahead of a sound store, and without a sync, which only a power cut could tell: a mark that is behind
 * is no harm.
 */
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import { schemaOf, schemaVersion } from './database.ts'

export type HighWater = {
  /** The number of the group that is being written: each frame carries it. */
  next(): number
  /** To be called inside the transaction of a group from which no frame is left that says so. */
  count(): void
  /** To be called after its commit. */
  committed(): void
  /** How far the count has come. */
  groups(): number
  /** Another connection has come as far as this. */
  follow(groups: number): void
  /** Notes the count for good. From here on the newest frame may be deleted with its root by hand, and that is not a store that went back. */
  settle(): void
  close(): void
}

/** @throws RuntimeError corrupt_at when the store is behind its mark */
export const highWater = (database: DatabaseSync, file: string): HighWater => {
  const note = database.prepare('UPDATE counter SET groups = ? WHERE groups < ?')
  let groups = groupsOf(database)
  requireMark(file, groups)
  // Kept open: written in some microseconds, and never into a folder that was put in place of this one.
  const mark = openMark(markOf(file))
  mark?.write(groups)
  return {
    next: () => groups + 1,
    count: () => void note.run(groups + 1, groups + 1),
    committed() {
      groups++
      mark?.write(groups)
    },
    groups: () => groups,
    follow(others) {
      groups = Math.max(groups, others)
    },
    settle: () => void note.run(groups, groups),
    close: () => mark?.close(),
  }
}

/**
 * The same with a connection that changes nothing, to be called before any other is open: what is refused is left as it is, where closing the
 * other would throw the rest of a damaged write-ahead log away. @throws RuntimeError corrupt_at
 */
export const checkHighWater = (file: string): void => {
  if (readMark(markOf(file)) === 0) return
  const groups = existsSync(file) ? groupsOnDisk(file) : 0
  if (groups !== undefined) requireMark(file, groups)
}

const requireMark = (file: string, groups: number): void => {
  const known = readMark(markOf(file))
  if (known > groups)
    throw new RuntimeError('corrupt_at', `${file} has lost its newest entries: it is at group ${groups}, and was at ${known} before`, {
      hint: `restore a newer backup; if this older state is what you want, remove ${markOf(file)}`,
      data: { found: groups, known },
    })
}

const markOf = (file: string): string => `${file}.mark`

/** The last frame was written by the last group, unless that wrote none or removed some: then the counter says so. */
const groupsOf = (database: DatabaseSync): number => {
  const [counted, written] = ['SELECT groups FROM counter', 'SELECT groups FROM frames ORDER BY place DESC LIMIT 1'].map((question) =>
    Number(database.prepare(question).get()?.groups ?? 0),
  )
  return Math.max(counted ?? 0, written ?? 0)
}

/** @returns undefined where the schema is not ours: is the file empty, newer, older, or something else? Opening it for writing says it. */
const groupsOnDisk = (file: string): number | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    return schemaOf(database) === schemaVersion ? groupsOf(database) : undefined
  } finally {
    database?.close()
  }
}

/** Wide enough for every number, so that a write covers the one before. */
const markCharacters = 20

/** On a full or protected disk the mark stays where it was, which is safe: it only may not run ahead. */
const openMark = (path: string): { write(groups: number): void; close(): void } | undefined => {
  try {
    const mark = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    const write = (groups: number): void => {
      try {
        writeSync(mark, `${String(groups).padStart(markCharacters, '0')}\n`, 0)
      } catch {
        // As above.
      }
    }
    return { write, close: () => closeSync(mark) }
  } catch {
    return undefined
  }
}

/** A mark that cannot be read says nothing. */
const readMark = (mark: string): number => {
  try {
    const text = readFileSync(mark, 'utf8').trim()
    return /^\d+$/.test(text) ? Number(text) : 0
  } catch {
    return 0
  }
}
