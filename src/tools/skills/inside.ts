/** Files inside of one folder, and no way out of it. */
import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { RuntimeError } from '../../contracts/errors.ts'

/** Bytes of one file. */
export const fileBytesMax = 256 * 1024

/** Whether one real path is in another one, or the same. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/**
 * The text of a file. What its path leads to is looked at, not only how it looks.
 * @param folder a real path @param path relative, with `/` @throws RuntimeError bad_request, not_found, forbidden, too_large
 */
export const readInside = async (folder: string, path: string): Promise<string> => {
  const shown = path.slice(0, 200)
  const outside = () =>
    new RuntimeError('forbidden', `'${shown}' is outside the folder of the skill`, {
      field: 'file',
      hint: 'name a file of the skill, such as references/api.md',
    })
  if (path.length > 1000 || path.includes('\0') || isAbsolute(path) || /^[A-Za-z]:|^~/.test(path)) throw outside()
  const parts = path.split(/[\\/]/)
  if (parts.includes('..')) throw outside()
  if (parts.some((part) => part !== '.' && part.startsWith('.')))
    throw new RuntimeError('forbidden', `'${shown}' is hidden`, { field: 'file', hint: 'names that begin with a dot cannot be read' })
  const real = await realpath(join(folder, ...parts)).catch(() => {
    throw new RuntimeError('not_found', `the skill has no file '${shown}'`, {
      field: 'file',
      hint: 'read the skill without file: it lists those that there are',
    })
  })
  if (!isInside(folder, real)) throw outside()
  // A pipe or a device would wait for somebody; what it is shows only when it is open.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new RuntimeError('forbidden', `'${shown}' cannot be read`, { field: 'file', cause, hint: 'give the process the right to read it' })
  })
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new RuntimeError('bad_request', `'${shown}' is not a file`, { field: 'file', hint: 'name a file of the skill' })
    if (found.size > fileBytesMax)
      throw new RuntimeError('too_large', `'${shown}' has ${found.size} bytes; at most ${fileBytesMax} can be read`, {
        field: 'file',
        hint: 'split it',
      })
    const bytes = await handle.readFile()
    if (bytes.length > fileBytesMax || bytes.includes(0))
      throw new RuntimeError('bad_request', `'${shown}' is not a text file`, { field: 'file', hint: 'only text can be read' })
    return new TextDecoder('utf-8').decode(bytes)
  } finally {
    await handle.close()
  }
}

const listedMax = 100
const depthMax = 3

/** Paths of the files in a folder, in order; hidden ones and links are left out. */
export const filesInside = async (folder: string, below = '', depth = 1): Promise<string[]> => {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
  const files: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || files.length >= listedMax) continue
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isFile()) files.push(path)
    else if (entry.isDirectory() && depth < depthMax) files.push(...(await filesInside(folder, path, depth + 1)))
  }
  return files.slice(0, listedMax)
}
