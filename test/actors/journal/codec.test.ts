/** What is read as a journal, a snapshot or a message of another node is plain data, whoever wrote it. */
import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { expect, test } from 'vitest'
import { decode, decodeCommit, encode } from '../../../src/actors/journal/codec.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { casesOf } from '../../support/property.ts'

const rich = new Packr({ structuredClone: true })
const refused = { code: 'corrupt_at', message: expect.stringContaining('extension 0x'), hint: expect.any(String) }

test.each<[string, Uint8Array]>([
  ['a set', rich.pack({ a: new Set([1]) })],
  ['an expression', rich.pack([/(a+)+$/])],
  ['a typed array', rich.pack(new Float64Array(2))],
  ['a circle', rich.pack(((circle: { self?: unknown }) => (circle.self = circle))({}))],
  ['records', new Packr().pack([{ admin: true }, { admin: false }])],
  ['an extension that nobody knows', new Uint8Array([0xd4, 0x17, 0])],
  ['a living actor', new Uint8Array([0xd4, 0x41, 0])],
  ['a set within an error', new Uint8Array([0xc7, 4, 0x45, 0xd4, 0x73, 0, 0x90])],
])('%s is refused before anything is made of it', (_, bytes) => {
  expect(() => decode(bytes)).toThrow(expect.objectContaining(refused))
  expect(() => decodeCommit(bytes, { address: 'session/a', seq: 1 })).toThrow(expect.objectContaining({ code: 'corrupt_at' }))
})

test.each<[string, number[]]>([
  ['nothing', []],
  ['what breaks off', [0x92, 1]],
  ['a text that breaks off', [0xa5, 0x61]],
  ['a list of four billion', [0xdd, 0xff, 0xff, 0xff, 0xff]],
  ['what goes on behind its end', [1, 2]],
  ['a byte that begins nothing', [0xc1]],
  ['a key that is a map', [0x81, 0x80, 0x05]],
  ['an error that is a number', [0xd4, 0x45, 0x72]],
  ['an error that is nothing', [0xc7, 8, 0x45, 0x81, 0xa5, 0x6b, 0x6e, 0x6f, 0x77, 0x6e, 0xc0]],
  ['more levels than a stack has', [...Array.from({ length: 200_000 }, (_, at) => (at % 2 === 0 ? 0x81 : 1)), 0xc0]],
])('%s is no value', (_, bytes) => {
  expect(() => decode(new Uint8Array(bytes))).toThrow(expect.objectContaining({ code: 'corrupt_at' }))
})

test('whatever is written comes back', () => {
  const error = new RuntimeError('not_found', 'gone', { data: { of: new Date(5) } })
  const plain = {
    at: new Date(1.5e12 + 3),
    bytes: new Uint8Array([1, 2]),
    none: undefined,
    numbers: [0, -1, 2 ** 40, 1.5, 2 ** 63],
    error,
    cause: new TypeError('no'),
  }
  expect(decode(encode(plain))).toEqual(plain)

  const value = fc.anything({ maxDepth: 4, withDate: true, key: fc.string().filter((key) => key !== '__proto__') })
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => void decode(encode(values))),
    casesOf(import.meta.url),
  )
})

test.each([new Float64Array([0.5, 2]), new Float32Array([1, 2, 3]), new Int16Array([7, 8]), new BigUint64Array([9n])])(
  '%o has the same bytes every time: what stood in memory before is no part of it',
  (numbers) => {
    const bytes = encode([numbers])
    for (const before of ['a', 'bb']) {
      encode(before.repeat(100))
      expect(encode([numbers])).toEqual(bytes)
    }
    expect(encode([numbers.map((n: any) => n + n)] as any)).not.toEqual(bytes)
  },
)
