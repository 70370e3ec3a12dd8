import { accessSync, closeSync, constants, openSync } from 'node:fs'

/**
 * Makes an empty file that only its owner may read, unless there is one. A file that exists is not even opened: closing any descriptor of a
 * file drops every POSIX lock that this process has on it, SQLite's own included.
 * @throws the error of the file system, also when the file is there and may not be written: SQLite would silently open it for reading only, and a
 * lock taken on that keeps nobody out.
 */
export const createPrivately = (file: string): void => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    accessSync(file, constants.R_OK | constants.W_OK)
  }
}
