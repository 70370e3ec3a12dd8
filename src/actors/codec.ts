/** How commits and snapshots become bytes: msgpack that any reader understands, with one extension: errors stay errors. */
import { crc32 } from 'node:zlib'
import { addExtension, Packr } from 'msgpackr'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { Commit } from '../contracts/journal.ts'

const packr = new Packr({ useRecords: false })

// Error objects keep their class only where it is ours; any other comes back as an Error with the same name, message and code.
addExtension({
  Class: Error,
  type: 0x45,
  pack: (error: Error) => {
    const { code, data } = error as Error & { code?: unknown; data?: unknown }
    const known = isRuntimeError(error) ? error.toJSON() : undefined
    return packr.pack({ name: error.name, message: error.message, code, data, known })
  },
  unpack: (bytes: Uint8Array) => {
    const { name, message, code, data, known } = packr.unpack(bytes)
    if (known) return RuntimeError.from(known)
    const error = new Error(message)
    if (name !== 'Error') Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
    return Object.assign(error, code === undefined ? {} : { code }, data === undefined ? {} : { data })
  },
} as Parameters<typeof addExtension>[0])

export const encode = (value: unknown): Uint8Array => packr.pack(value)
export const decode = (bytes: Uint8Array): unknown => packr.unpack(bytes)
export const checksum = (bytes: Uint8Array): number => crc32(bytes)

/** @throws RuntimeError corrupt_at when the bytes are no commit, or not the one that belongs there */
export const decodeCommit = (bytes: Uint8Array, expected: { address: string; seq: number }): Commit => {
  const bad = (why: string, cause?: unknown) =>
    new RuntimeError('corrupt_at', `commit ${expected.seq} of ${expected.address} ${why}`, {
      cause,
      data: { seq: expected.seq },
      hint: 'restore the data folder from a backup; the entries before this one are still readable',
    })
  let value: unknown
  try {
    value = decode(bytes)
  } catch (cause) {
    throw bad('is unreadable', cause)
  }
  const commit = value as Commit
  if (typeof commit !== 'object' || commit === null || commit.v !== 1 || !Array.isArray(commit.inputs)) {
    const parsed = Commit.safeParse(value)
    throw bad(parsed.success ? 'has no inputs' : `has a wrong form: ${parsed.error.issues[0]?.message}`)
  }
  if (commit.address !== expected.address || commit.seq !== expected.seq) throw bad(`says that it is ${commit.seq} of ${commit.address}`)
  return commit
}
