/**
 * Notices a store that lost its end: an older copy of the file put back, or a write-ahead log that SQLite cut short at a damaged frame without a
 * word. The store counts its group commits; beside it, in a file of its own, stands how far the count was known to have come. The file is
 * written after the commit and about once a second, so it never runs ahead of a sound store, and costs nothing worth naming.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'

export type HighWater = {
  /** To be called inside each transaction. */
  count(): void
  /** To be called after its commit. */
  committed(): void
  /** Writes the mark now. */
  settle(): void
}

const pauseMs = 1000

/** @throws RuntimeError corrupt_at when the store is behind its mark */
export const highWater = (database: DatabaseSync, file: string): HighWater => {
  const mark = `${file}.mark`
  const add = database.prepare('UPDATE counter SET groups = groups + 1')
  let groups = Number(database.prepare('SELECT groups FROM counter').get()?.groups)
  const known = readMark(mark)
  if (known > groups)
    throw new RuntimeError('corrupt_at', `${file} has lost its newest entries: it is at group ${groups}, and was at ${known} before`, {
      hint: `restore a newer backup; if this older state is what you want, remove ${mark}`,
      data: { found: groups, known },
    })
  let markedAt = 0
  const write = (): void => {
    markedAt = performance.now()
    try {
      writeFileSync(mark, `${groups}\n`, { mode: 0o600 })
    } catch {
      // On a full disk the mark stays where it was, which is safe: it only may not run ahead.
    }
  }
  return {
    count: () => void add.run(),
    committed() {
      groups++
      if (performance.now() - markedAt > pauseMs) write()
    },
    settle: write,
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
