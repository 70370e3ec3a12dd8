/** Every size and count that the in-process backends bound, with the checks that enforce them. */
import { RuntimeError } from '../contracts/errors.ts'

const mebibyte = 1024 * 1024

export const frameBytesMax = 16 * mebibyte
/** Frames of one root: the store keeps the sequence in 24 bits. */
export const framesMax = 2 ** 24 - 1
export const snapshotBytesMax = 64 * mebibyte
export const blobBytesMax = 256 * mebibyte
/** One message of the durable inbox; larger content goes through blobs. */
export const inboxBytesMax = 16 * mebibyte
export const registryValueCharactersMax = mebibyte
export const nameCharactersMax = 1024
/** The limit of a NATS server for one protocol line, so that a subject which works here works there. */
export const subjectCharactersMax = 4096
/** Undelivered inbox messages, unless the options say otherwise. */
export const inboxMessagesMax = 100_000
/** How long an inbox remembers the id of an acknowledged message. */
export const duplicateWindowMs = 3 * 60_000

/** @throws RuntimeError too_large; TypeError for what is not bytes */
export const checkBytes = (bytes: Uint8Array, max: number, noun: string): Uint8Array => {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`a ${noun} must be a Uint8Array`)
  if (bytes.length <= max) return bytes
  throw new RuntimeError('too_large', `a ${noun} may have at most ${max} bytes, this one has ${bytes.length}`, {
    field: noun,
    hint: 'put large content into blobs and keep its hash',
    data: { sizeBytes: bytes.length, sizeBytesMax: max },
  })
}

/** Names from outside that become keys: printable, bounded, no wildcard. @throws RuntimeError bad_request */
export const checkName = (name: string, field: string): string => {
  if (typeof name === 'string' && name.length > 0 && name.length <= nameCharactersMax && name.isWellFormed() && !/[\s\p{C}*>]/u.test(name))
    return name
  throw new RuntimeError('bad_request', `'${String(name).slice(0, 80)}' is no ${field}`, {
    field,
    hint: `use 1 to ${nameCharactersMax} printable characters without spaces, '*' and '>'`,
  })
}
