/** Content-addressed files. A blob appears under its name only when all of it is on the disk. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Blobs } from '../../contracts/transport.ts'
import { blobNotFound, checkHash, hashOf } from '../blob-hash.ts'
import { blobBytesMax, checkBytes } from '../limits.ts'
import type { FreeSpace } from './free-space.ts'

/** @param folder the data folder; blobs go into `blobs/ab/abcdef…` below it */
export const fileBlobs = (folder: string, space: Pick<FreeSpace, 'require'>): Blobs => {
  const root = join(folder, 'blobs')
  const partial = join(root, 'partial')
  // What a killed process left half written belongs to nobody.
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true, mode: 0o700 })
  const fileOf = (hash: string): string => join(root, hash.slice(0, 2), hash)

  return {
    async put(bytes) {
      checkBytes(bytes, blobBytesMax, 'blob')
      const hash = hashOf(bytes)
      const file = fileOf(hash)
      const present = await readFile(file).catch(() => undefined)
      // A damaged one is replaced.
      if (present !== undefined && hashOf(present) === hash) return hash
      space.require(bytes.length)
      const temporary = join(partial, randomUUID())
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        await writeDurably(temporary, bytes)
        await rename(temporary, file)
        await syncFolder(dirname(file))
        await syncFolder(root)
      } catch (error) {
        await rm(temporary, { force: true })
        throw fromFileSystem(error, file)
      }
      return hash
    },
    async get(hash) {
      checkHash(hash)
      const file = fileOf(hash)
      const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? blobNotFound(hash) : fromFileSystem(error, file)
      })
      if (hashOf(bytes) === hash) return bytes
      throw new RuntimeError('corrupt_at', `the content of blob ${hash} does not fit its name`, {
        hint: `restore ${file} from a backup, or put the same content again`,
        data: { hash },
      })
    },
    async has(hash) {
      const file = fileOf(checkHash(hash))
      return stat(file).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false
          throw fromFileSystem(error, file)
        },
      )
    },
    async delete(hash) {
      const file = fileOf(checkHash(hash))
      await rm(file, { force: true }).catch((error: unknown) => {
        throw fromFileSystem(error, file)
      })
    },
  }
}

const writeDurably = async (file: string, bytes: Uint8Array): Promise<void> => {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A rename is durable when the folder is. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const fromFileSystem = (error: unknown, file: string): RuntimeError => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new RuntimeError('log_full', `no space is left for ${file}`, { cause: error, retryable: true, hint: 'free some space' })
    : new RuntimeError('log_unavailable', `${file} could not be used`, {
        cause: error,
        retryable: true,
        hint: 'look at the disk and the permissions',
      })
}
