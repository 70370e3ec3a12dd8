/** Keys that are compared and set: what drivers without tables of their own are made of. */
import { createHash } from 'node:crypto'
import { isRuntimeError } from '../../index.ts'
import { LadderError, wordsOf } from '../errors.ts'

/** The registry of a runtime is one. */
export interface Keys {
  get(key: string): Promise<{ value: string; revision: number } | undefined>
  /** `expected` 0 means: must not exist. Resolves to the new revision, or undefined when somebody else was first. */
  put(key: string, value: string, options?: { expected?: number }): Promise<number | undefined>
  delete(key: string, options?: { expected?: number }): Promise<boolean>
  list(prefix: string): Promise<{ key: string; value: string; revision: number }[]>
}

/** @throws LadderError LADDER_CONFIG */
export const checkedRegistry = <Registry extends Keys>(registry: Registry, maker: string): Registry => {
  const methods = ['get', 'put', 'delete', 'list'] as const
  if (methods.every((method) => typeof (registry as Keys | null | undefined)?.[method] === 'function')) return registry
  throw new LadderError('LADDER_CONFIG', `${maker}() has no registry`, { hint: 'give the registry of a transport: openTransport(url) has one' })
}

/** Whatever they throw comes as STORE_FAILED. */
export const guarded = (keys: Keys): Keys => ({
  get: (key) => keys.get(key).catch(failed),
  put: (key, value, options) => keys.put(key, value, options).catch(failed),
  delete: (key, options) => keys.delete(key, options).catch(failed),
  list: (prefix) => keys.list(prefix).catch(failed),
})

/** What is a LadderError already stays as it is. @throws LadderError STORE_FAILED */
export const failed = (cause: unknown): never => {
  if (cause instanceof LadderError) throw cause
  const isTooLarge = isRuntimeError(cause) && cause.code === 'too_large'
  throw new LadderError('STORE_FAILED', `the store failed: ${wordsOf(cause)}`, {
    cause,
    hint: isTooLarge ? 'keep large content elsewhere, and its name in the state' : 'see whether the store can be reached; nothing was lost',
    context: isRuntimeError(cause) ? { code: cause.code, retryable: cause.retryable } : {},
  })
}

const plain = /^[A-Za-z0-9-]$/
const encoder = new TextEncoder()

/** Any well-formed text as a part of a key. What begins with a text begins, escaped, with the escaped one. */
export const escaped = (text: string): string => {
  let token = ''
  for (const byte of encoder.encode(text)) {
    const character = String.fromCharCode(byte)
    token += plain.test(character) ? character : `_${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return token
}

/** Characters of one part; keys have at most 1,024. */
const partMax = 700

/** Such a part that is not too long either: the rest of a long one counts by its hash. */
export const part = (text: string, charactersMax = partMax): string => {
  const token = escaped(text)
  if (token.length <= charactersMax) return token
  return `${token.slice(0, charactersMax)}__${hashOf(text)}`
}

/** What all parts begin with whose text begins with this one. Others may do so too: the text decides. */
export const beginningOf = (text: string): string => escaped(text).slice(0, partMax)

/** SHA-256, in hex. Texts are short: another thread, as that of `crypto.subtle`, would take longer. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Asks for so many keys at once. */
const atOnce = 32

export const inPortions = async <One, Result>(all: readonly One[], ask: (one: One) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = []
  for (let from = 0; from < all.length; from += atOnce) results.push(...(await Promise.all(all.slice(from, from + atOnce).map(ask))))
  return results
}
