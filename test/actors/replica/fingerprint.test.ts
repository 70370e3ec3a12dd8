/** 32 bits by which a state is known again: the same for what is the same, another one for whatever could drift. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode, encode } from '../../../src/actors/journal/codec.ts'
import { plainCopy } from '../../../src/actors/journal/journal-value.ts'
import { fingerprintOf, shared } from '../../../src/actors/replica/fingerprint.ts'
import { casesOf } from '../../support/property.ts'

const leaf = fc.oneof(
  fc.string({ maxLength: 600 }),
  fc.string({ unit: 'grapheme', maxLength: 9 }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 9 }),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.string({ maxLength: 12 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 6 },
    ),
  ),
}))

test('[INV-13] what comes back from a journal has the fingerprint of what went in', () => {
  fc.assert(
    fc.property(value, (one) => {
      const kept = plainCopy(one)
      expect(fingerprintOf(decode(encode(kept)))).toBe(fingerprintOf(kept))
      expect(fingerprintOf(kept)).toBe(fingerprintOf(one))
    }),
    casesOf(import.meta.url),
  )
})

test('[INV-13] a part that is named beforehand is gone through once, and nothing else has other bits for that', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const part = { one }
      const [context, effect] = [['/', part], { input: { run: part, other } }]
      const apart = [context, effect].map(fingerprintOf)
      Object.assign(shared, { part, bits: undefined })
      expect([context, effect, context].map(fingerprintOf)).toEqual([...apart, apart[0]])
      shared.part = undefined
      part.one = [one]
      expect(fingerprintOf(context)).not.toBe(apart[0])
    }),
    casesOf(import.meta.url),
  )
})

test('any two values of many have fingerprints of their own, also where they differ in one place, in their kind or in their order alone', () => {
  const now = 1_795_000_000_000
  const pairs: [unknown, unknown][] = [
    [1, '1'],
    [0, null],
    [null, undefined],
    [false, 0],
    [true, 1],
    ['', []],
    [[], {}],
    [[[], []], [[[]]]],
    [
      ['ab', 'c'],
      ['a', 'bc'],
    ],
    [{ a: 'bc' }, { ab: 'c' }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
    [{ a: undefined }, {}],
    [
      { from: now, to: now },
      { from: now + 1, to: now + 1 },
    ],
    [0.1, 0.2],
    [2 ** 31, -(2 ** 31)],
    [Number.NaN, Number.POSITIVE_INFINITY],
    [new Date(now), now],
    [new Uint8Array([1]), [1]],
    [new Error('a'), new Error('b')],
    ['x'.repeat(1001), `${'x'.repeat(1000)}y`],
  ]
  for (const [one, other] of pairs) expect(fingerprintOf(one), JSON.stringify([one, other])).not.toBe(fingerprintOf(other))

  const seen = new Set<number>()
  for (let n = 1; n <= 20_000; n++)
    for (const one of [{ n, text: 'hi', now }, { n: 0, text: `hi ${n}`, now }, { n: 0, text: 'hi', now: now + n }, [n, n]])
      seen.add(fingerprintOf(one))
  // Among so many, 32 bits of anything meet once by chance.
  expect(80_000 - seen.size).toBeLessThan(10)
})

test('what has no end, or is nothing that can be kept, throws instead of hanging', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle

  expect(() => fingerprintOf(circle)).toThrow(RangeError)
  expect(() => fingerprintOf({ key: Symbol('x') })).toThrow('symbol')
})
