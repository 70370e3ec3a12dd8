/**
 * One folder that tools may look into, and no way out of it. A path is checked as text, then by what it leads to, and then it is walked folder by folder
 * from a handle on the workspace, none of which may be a link by then: whoever swaps a folder for a link in between makes the call fail, not escape.
 */
import { constants, existsSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { badPath, changed, hidden, linked, notFile, outside, unreachable, workspaceGone } from './refusals.ts'
import { existingPath } from './spelling.ts'

const pathCharsMax = 1024

/** @property closed absolute paths that no tool may use, wherever they lie: data of the node, with its token, and keys */
export type Workspace = { folder: string; closed: readonly string[] }

type Place = {
  /** The real path, all links resolved. */
  real: string
  /** Relative to the workspace, with `/`; empty for the workspace itself. */
  path: string
}

/** A folder that was checked. `at(name)` is a path that leads into this very folder, wherever it is by now. */
export type Folder = {
  path: string
  at(name: string): string
  /** What has this name in it is nobody's business. */
  isClosed(name: string): boolean
  /** Whether it is still where it was found. */
  isThere(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Finds a path inside the workspace. The text is checked first, then what it leads to: a link that points outside, or into a hidden folder,
 * is refused although its own path looks harmless.
 * @param path relative, with `/` @throws RuntimeError bad_request, not_found, forbidden
 */
export const resolveInside = async (workspace: Workspace, path: string): Promise<Place> => {
  checkPath(path)
  const root = await rootOf(workspace)
  let real: string
  try {
    real = await realpath(join(root, await existingPath(root, path)))
  } catch (cause) {
    throw unreachable(path, cause)
  }
  return { real, path: insideOf(root, real, path, await closedOf(workspace)) }
}

const rootOf = async ({ folder }: Workspace): Promise<string> => {
  try {
    return await realpath(folder)
  } catch (cause) {
    throw workspaceGone(cause)
  }
}

/** Real paths of what is closed, as far as it is there: a link may lead to it under any name. */
export const closedOf = async ({ closed }: Workspace): Promise<string[]> =>
  Promise.all(closed.map((path) => realpath(path).catch(() => resolve(path))))

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

const insideOf = (root: string, real: string, path: string, closed: readonly string[]): string => {
  const inside = relative(root, real)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw outside(path)
  const names = inside.split(sep)
  if (names.some(isHidden) || closed.some((one) => isWithin(one, real))) throw hidden(path)
  // Where it is no separator it would be taken for one.
  if (names.some((name) => name.includes('\\'))) throw badPath('the path has a backslash in a name')
  return names.join('/')
}

/** Only Linux reaches what lies in an open folder by the handle alone; elsewhere what was opened is compared with what the path leads to afterwards. */
const byHandle = process.platform === 'linux' && existsSync('/proc/self/fd')
const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)

const folderOf = (handle: FileHandle, real: string, path: string, closed: readonly string[]): Folder => ({
  path,
  isClosed: (name) => isHidden(name) || closed.some((one) => isWithin(one, join(real, name))),
  at: (name) => (byHandle ? `/proc/self/fd/${handle.fd}/${name}` : join(real, name)),
  isThere: async () => {
    if (byHandle) return (await readlink(`/proc/self/fd/${handle.fd}`)) === real
    const [opened, there] = await Promise.all([handle.stat(), lstat(real).catch(() => undefined)])
    return opened.ino === there?.ino && opened.dev === there.dev
  },
  close: () => handle.close(),
})

/**
 * Opens a folder, so that it stays the same whatever becomes of its path.
 * @param make whether folders that are not there are made @throws RuntimeError bad_request, not_found, forbidden
 */
export const openFolder = async (workspace: Workspace, path: string, make = false): Promise<Folder> => {
  checkPath(path)
  const root = await rootOf(workspace)
  const closed = await closedOf(workspace)
  const there = make ? await nearestFolder(root, path, closed) : { ...(await resolveInside(workspace, path)), missing: [] as string[] }
  const wanted = [...there.path.split('/').filter((name) => name !== ''), ...there.missing]
  let handle = await openOr(root, folderFlags, path)
  let folder = folderOf(handle, root, '', closed)
  try {
    for (const [index, name] of wanted.entries()) {
      if (index >= wanted.length - there.missing.length) await makeFolder(folder, name, path)
      const next = await openOr(folder.at(name), folderFlags, path)
      await handle.close()
      handle = next
      const inside = wanted.slice(0, index + 1)
      folder = folderOf(next, join(root, ...inside), inside.join('/'), closed)
    }
    if (!byHandle) await sameAs(handle, join(root, ...wanted), path)
    return folder
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** The folder that is there, as far as a path leads, and the names that are not. */
const nearestFolder = async (root: string, path: string, closed: readonly string[]): Promise<Place & { missing: string[] }> => {
  const names = (await existingPath(root, path)).split(/[\\/]/).filter((name) => name !== '' && name !== '.')
  for (let count = names.length; ; count--) {
    let real: string
    try {
      real = await realpath(join(root, ...names.slice(0, count)))
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT' || count === 0) throw unreachable(path, cause)
      // A link that leads to nothing is there: what is made behind it would be made where it leads.
      const found = await lstat(join(root, ...names.slice(0, count))).catch(() => undefined)
      if (found?.isSymbolicLink()) throw outside(path)
      continue
    }
    const missing = names.slice(count)
    // What would be made there is closed before it is there.
    insideOf(root, join(real, ...missing), path, closed)
    return { real, path: insideOf(root, real, path, closed), missing }
  }
}

const makeFolder = async (folder: Folder, name: string, path: string): Promise<void> => {
  try {
    await mkdir(folder.at(name))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unreachable(path, cause)
  }
}

const openOr = async (real: string, flags: number, path: string): Promise<FileHandle> => {
  try {
    return await open(real, flags)
  } catch (cause) {
    throw unreachable(path, cause)
  }
}

const sameAs = async (handle: FileHandle, real: string, path: string): Promise<void> => {
  const [opened, there] = await Promise.all([handle.stat(), lstat(real)])
  if (!isSameFile(opened, there)) throw outside(path)
}

const isSameFile = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.dev === other.dev

type OpenFile = { handle: FileHandle; found: Stats }

/** Opens a regular file of a folder for reading. Devices, sockets and pipes are refused without being waited for. @throws RuntimeError as {@link openInside} */
export const openIn = async (folder: Folder, name: string, path: string): Promise<OpenFile> => {
  if (folder.isClosed(name)) throw hidden(path)
  const before = await lstat(folder.at(name)).catch((cause: unknown) => {
    throw unreachable(path, cause)
  })
  if (before.isSymbolicLink()) throw outside(path)
  // Opening a device or a pipe may already do something, so this is asked before and, against a swap in between, again after.
  if (!before.isFile()) throw notFile(path, before.isDirectory())
  const handle = await openOr(folder.at(name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), path)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw notFile(path, found.isDirectory())
    if (hasOtherNames(found)) throw linked(path)
    // A name that was taken away after it was opened does not count any more, and the one that is left may lie outside.
    const there = await lstat(folder.at(name)).catch((cause: unknown) => {
      throw unreachable(path, cause)
    })
    if (hasOtherNames(there)) throw linked(path)
    if (!isSameFile(found, there)) throw changed(path)
    return { handle, found }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** Opens a regular file for reading. @throws RuntimeError bad_request, not_found, forbidden */
export const openInside = async (workspace: Workspace, path: string): Promise<OpenFile & { place: Place }> => {
  const place = await resolveInside(workspace, path)
  const kind = await stat(place.real).catch((cause: unknown) => {
    throw unreachable(path, cause)
  })
  if (!kind.isFile()) throw notFile(path, kind.isDirectory())
  const { folder, name } = splitPath(place.path)
  const parent = await openFolder(workspace, folder)
  try {
    const opened = await openIn(parent, name, path)
    if (!byHandle) await sameAs(opened.handle, place.real, path)
    return { ...opened, place }
  } finally {
    await parent.close()
  }
}

/** Whether {@link openInside} would open the path, without opening it. */
export const isFileInside = async (workspace: Workspace, path: string): Promise<boolean> => {
  try {
    const found = await stat((await resolveInside(workspace, path)).real)
    return found.isFile() && !hasOtherNames(found)
  } catch {
    return false
  }
}

/** The folder of a path, and the name in it. */
export const splitPath = (path: string): { folder: string; name: string } => {
  const names = path.split(/[\\/]/).filter((name) => name !== '' && name !== '.')
  const name = names.pop() ?? ''
  return { folder: names.join('/') || '.', name }
}

/** A hard link: its other name may lie anywhere, and nothing says where. A folder has one name for each folder in it. */
export const hasOtherNames = (found: Pick<Stats, 'isFile' | 'nlink'>): boolean => found.isFile() && found.nlink > 1

/** Names that begin with a dot: settings, keys (`.env`), version control, and Statecast's own journals in `.statecast`. */
export const isHidden = (name: string): boolean => name.startsWith('.')

/** What a path may not say, wherever it leads. @throws RuntimeError bad_request, forbidden */
export const checkPath = (path: string): void => {
  if (path.length > pathCharsMax) throw badPath(`the path has ${path.length} characters; at most ${pathCharsMax} are allowed`)
  if (path.includes('\0')) throw badPath('the path contains a NUL character')
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path) || path.startsWith('~')) throw badPath('the path is absolute')
  const segments = path.split(/[\\/]/)
  if (segments.includes('..')) throw outside(path)
  if (segments.some((segment) => segment !== '.' && isHidden(segment))) throw hidden(path)
}
