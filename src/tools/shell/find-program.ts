/** Whether a program is there, before a shell that would only say so in words becomes it. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { notStarted } from './process.ts'

const problemOf = async (path: string): Promise<string | undefined> => {
  try {
    if ((await stat(path)).isDirectory()) return 'EACCES'
    await access(path, constants.X_OK)
    return undefined
  } catch (error) {
    const { code = 'ENOENT' } = error as NodeJS.ErrnoException
    return code === 'ENOTDIR' ? 'ENOENT' : code
  }
}

/** @returns its path @throws RuntimeError not_found, bad_request where it may not be run */
export const requireProgram = async (file: string, cwd: string, path: string): Promise<string> => {
  const places = file.includes('/') ? [resolve(cwd, file)] : path.split(delimiter).map((folder) => join(folder === '' ? cwd : folder, file))
  let found = 'ENOENT'
  for (const place of places) {
    const problem = await problemOf(place)
    if (problem === undefined) return place
    if (problem !== 'ENOENT') found = problem
  }
  throw notStarted(file, Object.assign(new Error(found), { code: found }))
}
