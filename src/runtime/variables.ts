/** The variables of this process, secrets from files included: what stands in a variable is shown by `docker inspect`, crash reports and children. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Variables } from '../models/index.ts'

/** Each may be given as a file instead, by its name and `_FILE`. */
export const fromFiles = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'STATECAST_TOKEN', 'STATECAST_URL'] as const

/**
 * A value is used without the white space around it; an empty file counts as none, like an empty variable.
 * @param from where a relative path of a file starts
 * @throws RuntimeError bad_request for a file that cannot be read, or one beside the variable itself
 */
export const variables = (env: Variables = process.env, from: string = process.cwd()): Variables => {
  const read = fromFiles.flatMap((name): [string, string][] => {
    const file = env[`${name}_FILE`]?.trim()
    if (!file) return []
    if (env[name]?.trim())
      throw new RuntimeError('bad_request', `${name} and ${name}_FILE contradict each other`, {
        field: name,
        hint: `leave one of them out: ${name}, or ${name}_FILE`,
      })
    return [[name, textOf(resolve(from, file), `${name}_FILE`)]]
  })
  return read.length === 0 ? env : { ...env, ...Object.fromEntries(read) }
}

/** Long enough for any key. */
const bytesMax = 64 * 1024

const textOf = (file: string, name: string): string => {
  const refused = (why: string, cause?: unknown) =>
    new RuntimeError('bad_request', `${name} ${why}`, {
      cause,
      field: name,
      hint: 'name a regular file that the user of this process may read, and that holds nothing but the value',
    })
  try {
    const found = statSync(file)
    // A pipe gives what it has only once, and a device perhaps for ever.
    if (!found.isFile()) throw refused('names no regular file')
    if (found.size > bytesMax) throw refused('is longer than any such value')
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw isRuntimeError(cause) ? cause : refused(`cannot be read: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}`, cause)
  }
}
