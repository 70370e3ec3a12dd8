/**
 * One runtime per data folder. The lock is an open exclusive transaction on a file of its own: the operating system releases it with the
 * process, also after kill -9, so there is nothing stale to clean up. Who holds it is written beside, for people and for the CLI.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RuntimeError } from '../../contracts/errors.ts'
import { openFiles } from './open-files.ts'
import { createPrivately } from './private-file.ts'
import { fromSqlite } from './sqlite-error.ts'

/** Who uses a folder: the process, and whatever it wants others to know, such as `url`. */
export type Owner = { pid: number } & Record<string, string | number>

type FolderLock = { release(): void }

const lockFile = (folder: string) => join(folder, 'lock.db')
/** The lock of the folder that a database is in. */
export const lockFileBeside = (file: string) => lockFile(dirname(file))
const ownerFile = (folder: string) => join(folder, 'owner.json')

/** Long enough to outlast somebody's {@link readOwner}, which looks for some microseconds. */
const patienceMs = 50

/** @throws RuntimeError locked, naming the holder */
export const lockFolder = (folder: string, fields: Record<string, string> = {}): FolderLock => {
  const file = lockFile(folder)
  let lock: DatabaseSync | undefined
  try {
    createPrivately(file)
    lock = new DatabaseSync(file, { timeout: patienceMs })
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (isBusy(error)) throw locked(folder)
    throw fromSqlite(error, file)
  }
  const held = lock
  const files = openFiles([file])
  try {
    writeOwner(folder, fields)
  } catch (error) {
    held.close()
    throw error
  }
  return {
    release: () => {
      if (!held.isOpen) return
      // Removed while the lock is still ours, or we could remove the next holder's.
      // In a folder that was put in place of ours the note is somebody else's.
      if (files.lost() === undefined) rmSync(ownerFile(folder), { force: true })
      held.close()
    },
  }
}

/** Replaces what {@link readOwner} tells of this process. Only for the holder of the folder, such as a node that has learnt its own URL. */
export const writeOwner = (folder: string, fields: Record<string, string>): void => {
  const file = ownerFile(folder)
  const partial = `${file}.${process.pid}`
  try {
    writeFileSync(partial, `${JSON.stringify({ ...fields, pid: process.pid })}\n`, { mode: 0o600 })
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw fromSqlite(error, file)
  }
}

/** @returns the live holder of the folder; undefined when nobody uses it, whatever a dead one left behind */
export const readOwner = (folder: string): Owner | undefined => (isHeld(folder) ? ownerNote(folder) : undefined)

const ownerNote = (folder: string): Owner | undefined => {
  try {
    const note: unknown = JSON.parse(readFileSync(ownerFile(folder), 'utf8'))
    return typeof note === 'object' && note !== null && 'pid' in note && typeof note.pid === 'number' ? (note as Owner) : undefined
  } catch {
    return undefined
  }
}

const isHeld = (folder: string): boolean => {
  let probe: DatabaseSync | undefined
  try {
    probe = new DatabaseSync(lockFile(folder), { readOnly: true, timeout: 0 })
    probe.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    probe?.close()
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5

const locked = (folder: string): RuntimeError => {
  const owner = ownerNote(folder)
  const who = owner === undefined ? 'another process' : `process ${owner.pid}${owner.url === undefined ? '' : ` at ${owner.url}`}`
  return new RuntimeError('locked', `the data folder ${folder} is in use by ${who}`, {
    hint: owner === undefined ? 'stop it, or give another folder' : `stop it (kill ${owner.pid}), talk to it instead, or give another folder`,
    data: owner && { owner },
  })
}
