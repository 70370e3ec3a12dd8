/** How commits and snapshots become bytes: msgpack that any reader understands, with one extension: errors stay errors. */
import { addExtension, Packr } from 'msgpackr'
import { Actor } from 'xstate'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { Commit } from '../../contracts/journal.ts'
import { type Address, formatAddress, parseAddress, shownAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { crc32 } from '../native.ts'
import { type ErrorParts, errorFrom, errorParts } from './journal-value.ts'
import { errorType, requirePlainBytes } from './msgpack-check.ts'

const packr = new Packr({ useRecords: false, copyBuffers: true })

// Errors keep their class only where it is ours; any other comes back as an Error with the same name, message, cause and properties.
addExtension({
  Class: Error,
  type: errorType,
  // Packed on its own, so that a reader who does not know the extension can step over it.
  pack: (error: Error) => packr.pack(isRuntimeError(error) ? { known: error.toJSON() } : errorParts(error)),
  unpack: (bytes: Uint8Array) => {
    const parts = packr.unpack(bytes.slice()) as { known: ErrorBody } | ErrorParts
    return 'known' in parts ? RuntimeError.from(parts.known) : errorFrom(parts)
  },
})

// Only in digests: nothing else that is written holds a living actor.
addExtension({
  Class: Actor,
  type: 0x41,
  pack: (ref: { id: string }) => packr.pack(ref.id),
  unpack: (bytes: Uint8Array) => packr.unpack(bytes.slice()) as string,
})

// In digests as well. Of numbers of more than a byte msgpackr packs as many bytes as there are numbers, and then whatever stood there before.
const views = [Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]
for (const Class of views)
  addExtension({
    Class,
    type: 0x42,
    pack: ({ buffer, byteOffset, byteLength }: ArrayBufferView) => new Uint8Array(buffer, byteOffset, byteLength),
    unpack: (bytes: Uint8Array) => bytes.slice(),
  })

export const encode = (value: unknown): Uint8Array => packr.pack(value)
/** @throws RuntimeError corrupt_at for anything but what {@link encode} writes */
// Of a Buffer, msgpackr would make Buffers out of what went in as plain bytes.
export const decode = (bytes: Uint8Array): unknown => {
  requirePlainBytes(bytes)
  try {
    return packr.unpack(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch (cause) {
    // Keys that are no text, an error without its parts, or deeper than the stack.
    throw new RuntimeError('corrupt_at', 'these bytes are no value of ours: they cannot be put together', {
      cause,
      hint: 'they were written by something else, or are damaged',
    })
  }
}
export const checksum = (bytes: Uint8Array): number => crc32(bytes)

/** The commit in a frame of a journal, also where it was written by another root, of which this one is a fork. @throws RuntimeError corrupt_at */
export const commitOf = ({ seq, bytes, of }: Frame, address: Address): Commit => decodeCommit(bytes, { address: formatAddress(of ?? address), seq })

/** @throws RuntimeError corrupt_at when the bytes are no commit, or not the one that belongs there */
export const decodeCommit = (bytes: Uint8Array, expected: { address: string; seq: number }): Commit => {
  const bad = (why: string, cause?: unknown) =>
    new RuntimeError('corrupt_at', `commit ${expected.seq} of ${shownAddress(parseAddress(expected.address))} ${why}`, {
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
