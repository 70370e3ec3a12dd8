/** Makes the data folder and says what is in the way, before SQLite can only say that it could not open a file. */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { whatToDo } from './file-error.ts'

/** SQLite takes no path of more than 512 bytes; its side files have the longest names. */
const pathBytesMax = 512 - Buffer.byteLength(join('/', 'statecast.db-journal'))

/** Conversations are private: nobody else on the machine may look in. @throws RuntimeError bad_request, log_unavailable */
export const makeDataFolder = (folder: string): void => {
  checkPath(folder)
  try {
    makeWithParents(folder)
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error('it is a file'), { code: 'ENOTDIR' })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    closeToOthers(folder)
  } catch (error) {
    if (isRuntimeError(error)) throw error
    throw new RuntimeError('log_unavailable', `the data folder ${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
      hint: whatToDo(error),
    })
  }
}

/**
 * Other users with write access could replace the token or a journal; with read access they see names and sizes of files. Group access stays while others have
 * none: containers rely on it.
 */
const closeToOthers = (folder: string): void => {
  const { mode, uid } = statSync(folder)
  if (process.platform === 'win32' || (mode & 0o007) === 0) return
  // As /tmp is: others have their own things in it.
  if ((mode & 0o1000) !== 0 && (mode & 0o002) !== 0)
    throw new RuntimeError('forbidden', `${folder} is a folder that all users share, and not one for data`, {
      hint: `give one of its own below it, such as ${join(folder, 'statecast')}`,
    })
  const isOurs = uid === process.getuid?.()
  if (!isOurs && (mode & 0o002) === 0) return
  if (!isOurs)
    throw new RuntimeError('forbidden', `every user may write to the data folder ${folder}, and it belongs to another one`, {
      hint: `have its owner close it (chmod go-w ${folder}), or give another folder`,
    })
  chmodSync(folder, 0o700)
}

const checkPath = (folder: string): void => {
  if (folder.includes('\0'))
    throw new RuntimeError('bad_request', `the data folder ${JSON.stringify(folder.slice(0, 200))} has a NUL character in its path`, {
      field: 'transport',
      hint: 'remove it from the path',
    })
  const sizeBytes = Buffer.byteLength(folder)
  if (sizeBytes > pathBytesMax)
    throw new RuntimeError('bad_request', `the data folder ${folder.slice(0, 80)}… has a path of ${sizeBytes} bytes, ${pathBytesMax} are possible`, {
      field: 'transport',
      hint: 'give a folder with a shorter path',
    })
}

/** One level at a time: Node's own recursive way never ends below a file system that takes no folders, such as /proc. */
const makeWithParents = (folder: string): void => {
  if (existsSync(folder)) return
  makeWithParents(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
  chmodSync(folder, 0o700)
}
