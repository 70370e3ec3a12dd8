/** Canonical equivalence of file names (Unicode): `é` is one character, or an `e` and a combining accent. */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const ascii = /^[ -~]*$/

/** Finds the name under which a folder has a file: the exact name, else a canonically equivalent one, else the name unchanged. */
export const existingName = async (folder: string, name: string): Promise<string> => {
  if (ascii.test(name)) return name
  const isThere = await lstat(join(folder, name)).then(
    () => true,
    () => false,
  )
  if (isThere) return name
  const wanted = name.normalize('NFC')
  const names = await readdir(folder).catch((): string[] => [])
  return names.find((one) => one.normalize('NFC') === wanted) ?? name
}

/** {@link existingName} for each segment of a path below `root`. */
export const existingPath = async (root: string, path: string): Promise<string> => {
  if (ascii.test(path)) return path
  let found = ''
  for (const name of path.split(/[\\/]/)) found = join(found, await existingName(join(root, found), name))
  return found
}
