/** Values that never change again. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, fitsDigest } from '../../src/actors/replica/digest.ts'
import { fingerprintOf, streamedFingerprintOf } from '../../src/actors/replica/fingerprint.ts'
import { constant, constantAt, constants, constantWith } from '../../src/contracts/constant.ts'
import { detached } from '../../src/contracts/plain.ts'
import { casesOf } from '../support/property.ts'

test('plain data is frozen through and through, and handed out as it is; what holds more than that is copied as before', () => {
  const record = constant({ output: { list: [1, 'a', null, undefined, { deep: true }] } })
  const mixed = constant({ at: new Date(0), part: { a: 1 } })

  expect(detached({ record }).record).toBe(record)
  expect(() => Object.assign(record.output.list[4] as object, { deep: false })).toThrow(TypeError)
  expect(detached(mixed)).not.toBe(mixed)
  expect(detached(mixed).part).toBe(mixed.part)
  mixed.at = new Date(1)
})

test.each<[string, object]>([
  ['bytes', { a: new Uint8Array(2) }],
  ['a function', { a: () => 1 }],
  ['a symbol', { a: Symbol('a') }],
  ['a getter', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
  ['an instance', Object.assign(Object.create({ own: 1 }), { a: 1 })],
  ['what knows itself in two ways', ((knot: Record<string, unknown>) => Object.assign(knot, { left: knot, right: knot }))({})],
  ['a circle', ((circle: Record<string, unknown>) => Object.assign(circle, { circle }))({})],
])('%s is none', (_, value) => {
  expect(constant(value)).toBe(value)
  expect(constants.has(value)).toBe(false)
  expect(Object.isFrozen(value)).toBe(false)
})

test('a record with more in it is constant where it was, and becomes it where it was not', () => {
  const steps = constantWith<Record<string, object>>({ a: { b: 1 } }, { c: { d: 2 } })
  const more = constantWith(steps, { e: { f: 3 } })

  expect(more).toEqual({ a: { b: 1 }, c: { d: 2 }, e: { f: 3 } })
  expect([steps, steps.a, more, more.e].map((one) => constants.has(one as object))).toEqual([true, true, true, true])
  expect(more.a).toBe(steps.a)
  expect(constants.has(constantWith<Record<string, unknown>>(steps, { g: new Date(0) }))).toBe(false)
})

test('a list with another item in it, or one more, is constant where it was', () => {
  const list = constant([{ a: 1 }, { b: 2 }])
  const other = constantAt(list, 1, { b: 3 })
  const longer = constantAt<object>(list, 2, { c: 3 })

  expect([list, other, longer]).toEqual([
    [{ a: 1 }, { b: 2 }],
    [{ a: 1 }, { b: 3 }],
    [{ a: 1 }, { b: 2 }, { c: 3 }],
  ])
  expect([other, other[1], longer, longer[2]].map((one) => constants.has(one as object))).toEqual([true, true, true, true])
  expect(longer[0]).toBe(list[0])
  expect(constants.has(constantAt<unknown>(list, 0, new Date(0)))).toBe(false)
})

test('[INV-13] a value has the same fingerprint whether it is constant or not', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = structuredClone(value)
      const before = fingerprintOf([plain, plain])
      constant(value)
      expect(fingerprintOf([value, value])).toBe(before)
      expect(fingerprintOf([value, value])).toBe(before)
    }),
    casesOf(import.meta.url),
  )
})

test('a digest that was made before parts had fingerprints of their own still fits, and no other one does', () => {
  const timers = [{ n: 1, dueAt: 5, from: '/', to: '/', event: { type: 'x' }, id: 'a', delay: 5 }] as never
  const none = (): Iterable<never> => []
  const recorded = streamedFingerprintOf(timers)

  expect(recorded).not.toBe(digestOf(none(), timers, 0))
  expect(fitsDigest(recorded, none, timers, 0)).toBe(true)
  expect(fitsDigest(recorded + 1, none, timers, 0)).toBe(false)
})
