/**
 * 32 bits of a value, read off it as it stands: to write it down first, for a checksum of the bytes, took six times as long. Whoever comes back from a
 * journal or a snapshot as the same has the same; the order of keys counts, as it does for whatever walks over them.
 */
import { constants } from '../../contracts/constant.ts'
import { checksum, encode } from '../journal/codec.ts'

/** What a value is goes in before what it says: `1` is not `'1'`, and `[]` not `{}`. */
const tags = { text: 1, number: 2, true: 3, false: 4, null: 5, undefined: 6, list: 7, record: 8, end: 9, other: 10 } as const

/** The steps of MurmurHash3 (32 bits): one changed word always changes the result. */
const mix = (hash: number, word: number): number => {
  const part = Math.imul(word, 0xcc9e2d51)
  const mixed = hash ^ Math.imul((part << 15) | (part >>> 17), 0x1b873593)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}

const float = new Float64Array(1)
const words = new Uint32Array(float.buffer)

const ofNumber = (hash: number, value: number): number => {
  // Minus zero comes back from a journal as zero.
  if ((value | 0) === value) return mix(hash, value)
  float[0] = value
  return mix(mix(hash, words[0] as number), words[1] as number)
}

/** Two UTF-16 units at a time. */
const ofText = (before: number, text: string): number => {
  let hash = mix(before, (text.length << 4) | tags.text)
  const even = text.length & ~1
  for (let at = 0; at < even; at += 2) hash = mix(hash, text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16))
  return even < text.length ? mix(hash, text.charCodeAt(even)) : hash
}

/** Of what never changes again, once for ever. */
const known = new WeakMap<object, number>()

/**
 * A part that values may hold which come next, as effects do that are given the whole context of their machine: its bits are made once. Whoever names one takes it
 * back when all of these are done, since it may be changed in place.
 */
export const shared: { part: object | undefined; bits: number | undefined } = { part: undefined, bits: undefined }

/** A list or a record goes in as 32 bits of its own, so that those of one that is constant can be kept; `streamed`, they were not by themselves. */
const ofObject = (before: number, value: object, streamed: boolean): number => {
  const isShared = value === shared.part && !streamed
  if (isShared && shared.bits !== undefined) return mix(before, shared.bits)
  // Most are not frozen, and to ask that takes less than to look for them.
  const isKept = !streamed && Object.isFrozen(value)
  const kept = isKept ? known.get(value) : undefined
  if (kept !== undefined) return mix(before, kept)
  let hash = streamed ? before : 0
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(value)) {
    hash = mix(hash, (value.length << 4) | tags.list)
    for (let index = 0; index < value.length; index++) hash = of(hash, value[index], streamed)
  } else if (prototype !== Object.prototype && prototype !== null) {
    // Dates, bytes, errors, actors and whatever else an author may have are what the codec makes of them.
    hash = mix(mix(hash, tags.other), checksum(encode(value)))
  } else {
    hash = mix(hash, tags.record)
    for (const key in value) hash = of(ofText(hash, key), (value as Record<string, unknown>)[key], streamed)
    hash = mix(hash, tags.end)
  }
  if (streamed) return hash
  if (isKept && constants.has(value)) known.set(value, hash)
  if (isShared) shared.bits = hash
  return mix(before, hash)
}

const of = (hash: number, value: unknown, streamed: boolean): number => {
  switch (typeof value) {
    case 'string':
      return ofText(hash, value)
    case 'number':
      return ofNumber(mix(hash, tags.number), value)
    case 'boolean':
      return mix(hash, value ? tags.true : tags.false)
    case 'undefined':
      return mix(hash, tags.undefined)
    case 'object':
      return value === null ? mix(hash, tags.null) : ofObject(hash, value, streamed)
    default:
      return mix(mix(hash, tags.other), checksum(encode(value)))
  }
}

/** @throws for what has no end, and for what no bytes can hold, such as symbols */
export const fingerprintOf = (value: unknown): number => of(0, value, false) >>> 0

/** As it was made before parts had bits of their own: for journals of that time. */
export const streamedFingerprintOf = (value: unknown): number => of(0, value, true) >>> 0
