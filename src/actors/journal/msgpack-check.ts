/** Looks through msgpack before anything is made of it: a decoder makes records, expressions and sets of whatever asks for them. */
import { RuntimeError } from '../../contracts/errors.ts'

/** `undefined`, a time, and the error of src/actors/journal/codec.ts; its content is msgpack again. */
const nothing = 0x00
const time = 0xff
export const errorType = 0x45

/** Bytes of the value that follows a head from 0xc0 to 0xdf, where they do not depend on it. */
const fixed: Readonly<Record<number, number>> = {
  192: 0,
  194: 0,
  195: 0,
  202: 4,
  203: 8,
  204: 1,
  205: 2,
  206: 4,
  207: 8,
  208: 1,
  209: 2,
  210: 4,
  211: 8,
}

/** @throws RuntimeError corrupt_at for what is no msgpack, or holds anything but plain data, times and errors */
export const requirePlainBytes = (bytes: Uint8Array, depth = 0): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const size = (width: number): number => {
    at += width
    if (at > bytes.length) throw broken('it breaks off')
    return width === 1 ? view.getUint8(at - 1) : width === 2 ? view.getUint16(at - 2) : view.getUint32(at - 4)
  }
  const skip = (length: number): void => {
    at += length
  }
  const extension = (length: number): void => {
    const type = size(1)
    if (type === errorType) {
      if (depth >= depthMax) throw broken('errors are nested too deeply')
      if (at + length > bytes.length) throw broken('it breaks off')
      requirePlainBytes(bytes.subarray(at, at + length), depth + 1)
    } else if (type !== time && !(type === nothing && length === 1))
      throw broken(`extension 0x${type.toString(16)} at byte ${at - 1} is neither plain data nor a time nor an error`)
    skip(length)
  }
  for (let left = 1; left > 0; left--) {
    const head = size(1)
    if (head < 0x80 || head >= 0xe0) continue
    if (head < 0x90) left += 2 * (head & 0x0f)
    else if (head < 0xa0) left += head & 0x0f
    else if (head < 0xc0) skip(head & 0x1f)
    else if (head in fixed) skip(fixed[head] as number)
    else if (head >= 0xc4 && head <= 0xc6) skip(size(2 ** (head - 0xc4)))
    else if (head >= 0xc7 && head <= 0xc9) extension(size(2 ** (head - 0xc7)))
    else if (head >= 0xd4 && head <= 0xd8) extension(2 ** (head - 0xd4))
    else if (head >= 0xd9 && head <= 0xdb) skip(size(2 ** (head - 0xd9)))
    else if (head === 0xdc || head === 0xdd) left += size(2 ** (head - 0xdb))
    else if (head === 0xde || head === 0xdf) left += 2 * size(2 ** (head - 0xdd))
    else throw broken(`0x${head.toString(16)} at byte ${at - 1} begins no value`)
  }
  if (at !== bytes.length) throw broken(at > bytes.length ? 'it breaks off' : 'something follows its end')
}

const depthMax = 100

const broken = (why: string): RuntimeError =>
  new RuntimeError('corrupt_at', `these bytes are no value of ours: ${why}`, { hint: 'they were written by something else, or are damaged' })
