/** The token of a node: made at first start, kept beside its data, known to whoever may read that folder. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { RuntimeError } from '../contracts/errors.ts'

export const tokenFile = (folder: string): string => join(folder, 'token')

const shape = /^[A-Za-z0-9_-]{32,200}$/

/** The token of the folder, made with mode 0600 when there is none. @throws RuntimeError log_unavailable */
export const ensureToken = (folder: string): string => {
  const file = tokenFile(folder)
  try {
    const known = readToken(folder)
    if (known !== undefined) {
      // A copy or a backup may have widened it.
      if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
      return known
    }
    const token = randomBytes(32).toString('base64url')
    const handle = openSync(file, 'w', 0o600)
    try {
      chmodSync(file, 0o600)
      writeSync(handle, `${token}\n`)
    } finally {
      closeSync(handle)
    }
    return token
  } catch (cause) {
    throw new RuntimeError('log_unavailable', `the token file ${file} cannot be used`, { cause, hint: 'look at its permissions' })
  }
}

/** @returns undefined when there is none that could be ours */
export const readToken = (folder: string): string | undefined => {
  try {
    const text = readFileSync(tokenFile(folder), 'utf8').trim()
    return shape.test(text) ? text : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** In a time that does not depend on how much of it is right. */
export const sameToken = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
