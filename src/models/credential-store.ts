/** Credentials kept in a file of their own, which nobody but its owner may read. */

import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { withoutMark } from '../contracts/byte-order-mark.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Credentials, checkCredentials } from './credentials.ts'

/** There is no such place: what is wrong with a data folder its store says. */
const nowhere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/**
 * @param from where a relative path starts
 * @returns an empty record when the file does not exist
 * @throws RuntimeError forbidden where others may read it, bad_request for what is in it
 */
export const readCredentialStore = (file: string | undefined, from: string = process.cwd()): Credentials => {
  if (file === undefined) return {}
  const refuse = (code: 'forbidden' | 'bad_request', why: string, hint: string): RuntimeError =>
    new RuntimeError(code, `the credential store ${file} ${why}`, { field: 'credentialStore', hint })
  const path = resolve(from, file)
  let text: string
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) throw refuse('forbidden', 'can be read by others', `chmod 600 ${file}`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && nowhere.has(String(error.code))) return {}
    throw error instanceof RuntimeError ? error : refuse('forbidden', 'cannot be read', 'look at its permissions')
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(withoutMark(text))
  } catch {
    // What the parser says repeats what it has read.
    throw refuse('bad_request', 'is not JSON', 'write { "anthropic": [{ "id": "work", "type": "key", "value": "…" }] }')
  }
  return checkCredentials(parsed as Credentials)
}
