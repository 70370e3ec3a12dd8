/** The folder that built-in tools look into: it has to be there before anybody asks. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RuntimeError } from '../contracts/errors.ts'

/** @returns the folder, the working directory where none was given @throws RuntimeError bad_request */
export const checkWorkspace = (folder: string | undefined): string => {
  if (folder === undefined) return process.cwd()
  const refused = (why: string, cause?: unknown): RuntimeError =>
    new RuntimeError('bad_request', `the workspace ${resolve(folder).slice(0, 200)} ${why}`, {
      cause,
      field: 'workspace',
      hint: `make it (mkdir -p), or give the path of a folder that is there; relative ones begin at ${process.cwd()}`,
    })
  try {
    if (statSync(folder).isDirectory()) return folder
  } catch (cause) {
    throw refused(`cannot be used: ${messageOf(cause)}`, cause)
  }
  throw refused('is not a folder')
}
