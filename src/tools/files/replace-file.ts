/** Writing a file of the workspace: all of it or nothing, under its own name, and never through a link. */
import { createHash, randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open, realpath, rename, unlink } from 'node:fs/promises'
import { RuntimeError } from '../../contracts/errors.ts'
import { badPath, changed, hidden, linked, notFile, outside, shown, unreachable } from './refusals.ts'
import { existingName } from './spelling.ts'
import { checkPath, type Folder, hasOtherNames, openFolder, splitPath, type Workspace } from './workspace.ts'

/** A file that is there, as it was looked at: it is replaced only while it is the same. */
type Before = Pick<Stats, 'ino' | 'dev' | 'size' | 'mtimeMs' | 'mode' | 'uid' | 'gid'>

const specialModes = 0o7000

/** By file: two calls of one answer may run at the same time, and each reads what the one before has written. */
const queues = new Map<string, Promise<unknown>>()

/**
 * Opens the folder of a file that is to be written, and keeps others of this process from writing the file meanwhile.
 * @param make whether missing folders are made @throws RuntimeError bad_request, not_found, forbidden
 */
export const withFolderOf = async <Result>(
  { workspace, path, make = false }: { workspace: Workspace; path: string; make?: boolean },
  work: (folder: Folder, name: string) => Promise<Result>,
): Promise<Result> => {
  checkPath(path)
  const { folder: inside, name: given } = splitPath(path)
  if (given === '') throw badPath('the path must name a file')
  const folder = await openFolder(workspace, inside, make)
  try {
    const name = await existingName(folder.at('.'), given)
    if (folder.isClosed(name)) throw hidden(path)
    // Names that differ only in their case may be one file.
    const key = `${await realpath(folder.at('.'))}/${name}`.toLowerCase()
    const before = queues.get(key) ?? Promise.resolve()
    const mine = before.then(() => work(folder, name))
    const quiet = mine.catch(() => undefined)
    queues.set(key, quiet)
    try {
      return await mine
    } finally {
      if (queues.get(key) === quiet) queues.delete(key)
    }
  } finally {
    await folder.close()
  }
}

/** What stands where a file is to be written. @returns undefined where there is nothing @throws RuntimeError forbidden for what may not be replaced */
export const replaceable = async (folder: Folder, name: string, path: string): Promise<Before | undefined> => {
  let found: Stats
  try {
    found = await lstat(folder.at(name))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreachable(path, cause)
  }
  if (!found.isFile()) throw notFile(path, found.isDirectory())
  if (hasOtherNames(found)) throw linked(path)
  if ((found.mode & specialModes) !== 0)
    throw new RuntimeError('forbidden', `"${shown(path)}" has special rights (set-uid, set-gid or sticky)`, {
      field: 'path',
      hint: 'such a file is not for an agent to change',
    })
  // To put another file in its place needs no right to it, so its mode is asked here.
  if ((found.mode & 0o200) === 0)
    throw new RuntimeError('forbidden', `"${shown(path)}" is read-only`, { field: 'path', hint: 'if it may be changed, chmod u+w it' })
  return found
}

/**
 * Puts a new content in the place of a file, or where nothing is.
 * @param before what {@link replaceable} has found @throws RuntimeError conflict where somebody else has changed the file meanwhile
 */
export const replaceFile = async (folder: Folder, name: string, path: string, content: Buffer, before: Before | undefined): Promise<void> => {
  // A hidden name, which no tool shows or takes.
  const temporary = folder.at(`.${randomBytes(12).toString('hex')}.tmp`)
  if (!(await folder.isThere())) throw outside(path)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(temporary, flags, before === undefined ? 0o666 : 0o600).catch((cause: unknown) => {
    throw unreachable(path, cause)
  })
  try {
    try {
      await handle.writeFile(content)
      if (before !== undefined) {
        const made = await handle.stat()
        if (made.uid !== before.uid || made.gid !== before.gid) await handle.chown(before.uid, before.gid).catch(() => undefined)
        await handle.chmod(before.mode & 0o777)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    const now = await replaceable(folder, name, path)
    if (!isSame(now, before)) throw changed(path)
    // Somebody may have moved the folder itself to the outside while it was open.
    if (!(await folder.isThere())) throw outside(path)
    // A name is replaced, whatever it has become since: a rename follows no link.
    await rename(temporary, folder.at(name))
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined)
    throw thrown instanceof RuntimeError ? thrown : unreachable(path, thrown)
  }
}

const isSame = (now: Before | undefined, before: Before | undefined): boolean =>
  now === undefined || before === undefined
    ? now === before
    : now.ino === before.ino && now.dev === before.dev && now.size === before.size && now.mtimeMs === before.mtimeMs

export const hashOfBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
