/** Names of files that are the same letters in another encoding: `é` is one character, or an `e` with an accent (Unicode, canonical equivalence). */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const ascii = /^[ -~]*$/

/** The name as the folder has it: the same where it is there, one that is canonically equivalent otherwise, itself where there is none. */
export const spelledIn = async (folder: string, name: string): Promise<string> => {
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

/** The same for each name of a path below `root`. */
export const spelledBelow = async (root: string, path: string): Promise<string> => {
  if (ascii.test(path)) return path
  let found = ''
  for (const name of path.split(/[\\/]/)) found = join(found, await spelledIn(join(root, found), name))
  return found
}
