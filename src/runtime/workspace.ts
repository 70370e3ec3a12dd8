/** The folder that built-in tools look into: it has to be there before anybody asks. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RuntimeError } from '../contracts/errors.ts'

/** @param from where a relative path starts @returns its absolute path, `from` where none was given @throws RuntimeError bad_request */
export const checkWorkspace = (named: string | undefined, from: string = process.cwd()): string => {
  if (named === undefined) return from
  const folder = resolve(from, named)
  const refused = (why: string, cause?: unknown): RuntimeError =>
    new RuntimeError('bad_request', `the workspace ${folder.slice(0, 200)} ${why}`, {
      cause,
      field: 'workspace',
      hint: `make it (mkdir -p), or give the path of a folder that is there; relative ones begin at ${from}`,
    })
  try {
    if (statSync(folder).isDirectory()) return folder
  } catch (cause) {
    throw refused(`cannot be used: ${messageOf(cause)}`, cause)
  }
  throw refused('is not a folder')
}
