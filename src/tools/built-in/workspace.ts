/** One folder that tools may look into, and no way out of it. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { RuntimeError } from '../../contracts/errors.ts'

const pathCharsMax = 1024

type Place = {
  /** The real path, all links resolved. */
  real: string
  /** Relative to the workspace, with `/`; empty for the workspace itself. */
  path: string
}

/**
 * Finds a path inside the workspace. The text is checked first, then what it leads to: a link that points outside, or into a hidden folder,
 * is refused although its own path looks harmless.
 * @param path relative, with `/` @throws RuntimeError bad_request, not_found, forbidden
 */
export const resolveInside = async (workspace: string, path: string): Promise<Place> => {
  refusePath(path)
  let root: string
  try {
    root = await realpath(workspace)
  } catch (cause) {
    throw new RuntimeError('not_found', 'the workspace folder does not exist', { cause, hint: 'create it, or start with another workspace' })
  }
  let real: string
  try {
    real = await realpath(join(root, path))
  } catch (cause) {
    throw unreachable(path, cause)
  }
  const inside = relative(root, real)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw outside(path)
  if (inside.split(sep).some(isHidden)) throw hidden(path)
  return { real, path: inside.split(sep).join('/') }
}

/**
 * Opens a regular file for reading. Devices, sockets and pipes are refused without being waited for.
 * @throws RuntimeError bad_request, not_found, forbidden
 */
export const openInside = async (workspace: string, path: string): Promise<{ place: Place; handle: FileHandle; sizeBytes: number }> => {
  const place = await resolveInside(workspace, path)
  const before = await stat(place.real).catch((cause: unknown) => {
    throw unreachable(path, cause)
  })
  // Opening a device or a pipe may already do something, so this is asked before and, against a swap in between, again after.
  if (!before.isFile()) throw notFile(path, before.isDirectory())
  let handle: FileHandle
  try {
    handle = await open(place.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    throw unreachable(path, cause)
  }
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) throw notFile(path, opened.isDirectory())
    if (hasOtherNames(opened)) throw linked(path)
    // A folder on the way may have been replaced by a link since: what was opened must still be what the checked path leads to.
    const again = await lstat((await resolveInside(workspace, path)).real)
    if (again.ino !== opened.ino || again.dev !== opened.dev) throw outside(path)
    return { place, handle, sizeBytes: opened.size }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** A hard link: its other name may lie anywhere, and nothing says where. A folder has one name for each folder in it. */
export const hasOtherNames = (found: Stats): boolean => found.isFile() && found.nlink > 1

/** Names that begin with a dot: settings, keys (`.env`), version control, and Statecast's own journals in `.statecast`. */
export const isHidden = (name: string): boolean => name.startsWith('.')

const refusePath = (path: string): void => {
  if (path.length > pathCharsMax) throw badPath(`the path has ${path.length} characters; at most ${pathCharsMax} are allowed`)
  if (path.includes('\0')) throw badPath('the path contains a NUL character')
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path) || path.startsWith('~')) throw badPath('the path is absolute')
  const segments = path.split(/[\\/]/)
  if (segments.includes('..')) throw outside(path)
  if (segments.some((segment) => segment !== '.' && isHidden(segment))) throw hidden(path)
}

const badPath = (message: string): RuntimeError =>
  new RuntimeError('bad_request', message, { field: 'path', hint: 'give a path relative to the workspace, such as notes/today.md' })

const outside = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is outside the workspace`, { field: 'path', hint: 'only files inside the workspace can be read' })

const hidden = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is hidden`, { field: 'path', hint: 'names that begin with a dot cannot be read' })

const linked = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is a hard link: its other name may be outside the workspace`, {
    field: 'path',
    hint: 'if it may be read, put a copy in its place (cp FILE COPY && mv COPY FILE)',
  })

const notFile = (path: string, isFolder: boolean): RuntimeError =>
  isFolder
    ? new RuntimeError('bad_request', `"${shown(path)}" is a folder`, { field: 'path', hint: 'use list_files to see what is in it' })
    : new RuntimeError('forbidden', `"${shown(path)}" is not a regular file`, { field: 'path', hint: 'devices, sockets and pipes cannot be read' })

/** What the file system answered, without the real path in it. */
export const unreachable = (path: string, cause: unknown): RuntimeError => {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new RuntimeError('not_found', `there is no "${shown(path)}" in the workspace`, {
      field: 'path',
      cause,
      hint: 'use list_files to see what there is',
    })
  if (code === 'ELOOP')
    return new RuntimeError('forbidden', `"${shown(path)}" is a link that leads nowhere`, {
      field: 'path',
      cause,
      hint: 'mend the link, or name the file itself',
    })
  if (code === 'EACCES' || code === 'EPERM')
    return new RuntimeError('forbidden', `"${shown(path)}" may not be read`, { field: 'path', cause, hint: 'give the process the right to read it' })
  return new RuntimeError('bad_request', `"${shown(path)}" cannot be read (${code || 'unknown error'})`, {
    field: 'path',
    cause,
    hint: 'check the file and its disk',
  })
}

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)
