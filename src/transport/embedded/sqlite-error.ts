/** SQLite's result codes in the runtime's words. Numbers are primary codes of https://sqlite.org/rescode.html */
import { type ErrorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { whatToDo } from './file-error.ts'

const primary = { error: 1, busy: 5, locked: 6, full: 13, corrupt: 11, tooBig: 18, notADatabase: 26 } as const
/** An extended code: the shared-memory file of the write-ahead log could not grow, which in practice means no space. */
const noSpaceForSharedMemory = 4874

export const salvageHint = (file: string): string =>
  `stop the runtime, keep a copy of the folder, then restore ${file} from a backup or salvage it with 'sqlite3 statecast.db .recover'`

/** @returns RuntimeError log_full, corrupt_at, too_large or log_unavailable; a RuntimeError stays what it is */
export const fromSqlite = (thrown: unknown, file: string): RuntimeError => {
  if (isRuntimeError(thrown)) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = typeof thrown === 'object' && thrown !== null && 'errcode' in thrown ? Number(thrown.errcode) : 0
  const details = { cause: thrown, data: { sqlite: code } }
  if ((code & 0xff) === primary.full || code === noSpaceForSharedMemory)
    return new RuntimeError('log_full', `no space is left for ${file}`, { ...details, retryable: true, hint: 'free some space; nothing was written' })
  if ((code & 0xff) === primary.corrupt || (code & 0xff) === primary.notADatabase || tellsOfDamage(thrown, code, message))
    return new RuntimeError('corrupt_at', `${file} is damaged or no SQLite file: ${message}`, {
      ...details,
      hint: salvageHint(file),
    })
  if ((code & 0xff) === primary.tooBig) return new RuntimeError('too_large', `SQLite refused the size: ${message}`, details)
  return new RuntimeError('log_unavailable', `${file} did not answer: ${message}`, {
    ...details,
    retryable: true,
    hint: (code & 0xff) === primary.busy || (code & 0xff) === primary.locked ? 'another program holds the database; close it' : whatToDo(thrown),
  })
}

/** Whether SQLite itself found the file broken: then it is broken for everything in it, whatever part of it can still be read. */
export const tellsOfBrokenFile = (thrown: unknown): boolean => {
  const code = typeof thrown === 'object' && thrown !== null && 'errcode' in thrown ? Number(thrown.errcode) : 0
  return (code & 0xff) === primary.corrupt || (code & 0xff) === primary.notADatabase
}

/** Whether it was refused only since somebody else has the file. */
export const tellsOfBusyFile = ({ data }: ErrorBody): boolean => {
  const code = typeof data === 'object' && data !== null && 'sqlite' in data ? Number(data.sqlite) : 0
  return (code & 0xff) === primary.busy
}

/** Our statements fit our schema, and our numbers fit a JavaScript number, unless a byte of them has changed. */
const tellsOfDamage = (thrown: unknown, code: number, message: string): boolean =>
  (code === primary.error && /no such|has no column|syntax error|unrecognized token|ON CONFLICT clause does not match/.test(message)) ||
  (thrown instanceof RangeError && 'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE')
