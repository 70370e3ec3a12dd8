/** The token of a node: made at first start, kept beside its data, known to every user who may read that folder. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { RuntimeError } from '../../contracts/errors.ts'

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

/** How a person gets one. */
export const newToken = 'openssl rand -hex 32 makes one'
const charsMin = 16
const distinctMin = 8

/** Refuses a token that somebody could guess. @throws RuntimeError bad_request, which does not repeat the token */
export const checkStrength = (token: string): void => {
  const refuse = (why: string): RuntimeError =>
    new RuntimeError('bad_request', `STATECAST_TOKEN ${why}`, { field: 'STATECAST_TOKEN', hint: `take one that nobody can guess: ${newToken}` })
  if (!/^[!-~]*$/.test(token)) throw refuse('has characters that no header can carry')
  if (token.length > 500) throw refuse('has more than 500 characters')
  if (token.length < charsMin) throw refuse(`has fewer than ${charsMin} characters`)
  if (new Set(token).size < distinctMin) throw refuse(`has fewer than ${distinctMin} different characters`)
  if (isRegular(token)) throw refuse('repeats or counts instead of being random')
}

/** More than half of it follows from what stands before: one up, one down, or the same as a few characters ago. */
const isRegular = (token: string): boolean => {
  const codes = [...Buffer.from(token)]
  const following = (step: (at: number) => boolean): boolean => codes.filter((_, at) => step(at)).length > codes.length / 2
  const counts = following((at) => at > 0 && Math.abs((codes[at] ?? 0) - (codes[at - 1] ?? 0)) <= 1)
  const repeats = Array.from({ length: Math.floor(token.length / 2) }, (_, index) => index + 1).some((period) =>
    codes.slice(period).every((code, at) => code === codes[at]),
  )
  return counts || repeats
}

/** In a time that does not depend on how much of it is right. */
export const sameToken = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
