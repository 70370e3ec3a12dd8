/** Files inside of one folder, and no way out of it. They are small, and read at once: nobody else gets in between what is looked at and what is read. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
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
export const readInside = (folder: string, path: string): string => {
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
  const real = tried(
    () => realpathSync(join(folder, ...parts)),
    (cause) => {
      const hint = 'read the skill without file: it lists those that there are'
      return new RuntimeError('not_found', `the skill has no file '${shown}'`, { field: 'file', cause, hint })
    },
  )
  if (!isInside(folder, real)) throw outside()
  // A pipe or a device would wait for somebody; what it is shows only when it is open.
  const opened = tried(
    () => openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
    (cause) => {
      const hint = 'give the process the right to read it'
      return new RuntimeError('forbidden', `'${shown}' cannot be read`, { field: 'file', cause, hint })
    },
  )
  try {
    const found = fstatSync(opened)
    if (!found.isFile()) throw new RuntimeError('bad_request', `'${shown}' is not a file`, { field: 'file', hint: 'name a file of the skill' })
    if (found.size > fileBytesMax)
      throw new RuntimeError('too_large', `'${shown}' has ${found.size} bytes; at most ${fileBytesMax} can be read`, {
        field: 'file',
        hint: 'split it',
      })
    const bytes = readFileSync(opened)
    if (bytes.length > fileBytesMax || bytes.includes(0))
      throw new RuntimeError('bad_request', `'${shown}' is not a text file`, { field: 'file', hint: 'only text can be read' })
    return new TextDecoder('utf-8').decode(bytes)
  } finally {
    closeSync(opened)
  }
}

const tried = <Result>(work: () => Result, refusal: (cause: unknown) => RuntimeError): Result => {
  try {
    return work()
  } catch (cause) {
    throw refusal(cause)
  }
}

const listedMax = 100
const depthMax = 3

/** Paths of the files in a folder, in order; hidden ones and links are left out. */
export const filesInside = (folder: string, below = '', depth = 1): string[] => {
  const entries = namesOf(join(folder, below))
  const files: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || files.length >= listedMax) continue
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isFile()) files.push(path)
    else if (entry.isDirectory() && depth < depthMax) files.push(...filesInside(folder, path, depth + 1))
  }
  return files.slice(0, listedMax)
}

/** What is in a folder; nothing where it cannot be read. */
export const namesOf = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
