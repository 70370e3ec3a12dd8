/**
 * Reads MessagePack as the specification has it (github.com/msgpack/msgpack/blob/master/spec.md). Written anew rather than taken from the library
 * that wrote the journal: its extensions are registered for a whole process, so the judge would see errors through the eyes of the judged.
 */

const text = new TextDecoder()

/** @throws RangeError where the bytes end too early, Error for what a journal never holds */
export const unpack = (bytes: Uint8Array): unknown => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (length: number): number => {
    at += length
    if (at > bytes.length) throw new RangeError('the bytes end in the middle of a value')
    return at - length
  }
  const uint = (width: 1 | 2 | 4): number => {
    const from = take(width)
    return width === 1 ? view.getUint8(from) : width === 2 ? view.getUint16(from) : view.getUint32(from)
  }
  const string = (length: number): string => text.decode(bytes.subarray(take(length), at))
  const binary = (length: number): Uint8Array => bytes.slice(take(length), at)
  const array = (length: number): unknown[] => Array.from({ length }, () => value())
  const map = (length: number): object => Object.fromEntries(Array.from({ length }, () => [String(value()), value()] as const))
  /** What an extension holds: an error is its parts, a time is its bytes, undefined is nothing. */
  const extension = (length: number): unknown => {
    const type = uint(1)
    const inside = binary(length)
    return type === 0x45 ? unpack(inside) : type === 0 ? undefined : { type, inside }
  }
  const value = (): unknown => {
    const head = uint(1)
    if (head < 0x80) return head
    if (head < 0x90) return map(head & 0x0f)
    if (head < 0xa0) return array(head & 0x0f)
    if (head < 0xc0) return string(head & 0x1f)
    if (head >= 0xe0) return head - 0x100
    switch (head) {
      case 0xc0:
        return null
      case 0xc2:
      case 0xc3:
        return head === 0xc3
      case 0xc4:
        return binary(uint(1))
      case 0xc5:
        return binary(uint(2))
      case 0xc6:
        return binary(uint(4))
      case 0xc7:
        return extension(uint(1))
      case 0xc8:
        return extension(uint(2))
      case 0xc9:
        return extension(uint(4))
      case 0xca:
        return view.getFloat32(take(4))
      case 0xcb:
        return view.getFloat64(take(8))
      case 0xcc:
        return uint(1)
      case 0xcd:
        return uint(2)
      case 0xce:
        return uint(4)
      case 0xcf:
        return Number(view.getBigUint64(take(8)))
      case 0xd0:
        return view.getInt8(take(1))
      case 0xd1:
        return view.getInt16(take(2))
      case 0xd2:
        return view.getInt32(take(4))
      case 0xd3:
        return Number(view.getBigInt64(take(8)))
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return extension(1 << (head - 0xd4))
      case 0xd9:
        return string(uint(1))
      case 0xda:
        return string(uint(2))
      case 0xdb:
        return string(uint(4))
      case 0xdc:
        return array(uint(2))
      case 0xdd:
        return array(uint(4))
      case 0xde:
        return map(uint(2))
      case 0xdf:
        return map(uint(4))
      default:
        throw new Error(`0x${head.toString(16)} begins no value`)
    }
  }
  const whole = value()
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes are left over`)
  return whole
}
