/** What counts as the same state after a replay. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstDifference } from '../../../src/actors/replica/difference.ts'
import { casesOf } from '../../support/property.ts'

const isSame = (a: unknown, b: unknown): boolean => firstDifference(a, b, '') === undefined

/** Anything that a context may hold; without `undefined` and minus zero, of which the comparison says more below. */
const values = fc
  .anything({ withMap: true, withSet: true, withDate: true, withBigInt: true, withTypedArray: true, withNullPrototype: false, maxDepth: 4 })
  .filter((value) => !holds(value, (part) => part === undefined || Object.is(part, -0)))

const holds = (value: unknown, what: (part: unknown) => boolean): boolean => {
  if (what(value)) return true
  if (typeof value !== 'object' || value === null) return false
  const parts = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value)
  return parts.some((part) => holds(part, what))
}

/** Two values that are like each other in all but a part, as often as not. */
const pairs = fc
  .tuple(fc.array(values, { maxLength: 4 }), fc.array(values, { maxLength: 4 }), fc.boolean())
  .map(([a, b, alike]): [unknown, unknown] => {
    const [left, right] = [{ a, b }, alike ? { b, a } : { b, a: [...a, 1] }]
    return [left, structuredClone(right)]
  })

test('it says the same as Node, whatever a context holds', () => {
  const verdicts = new Set<boolean>()
  fc.assert(
    fc.property(fc.oneof(pairs, fc.tuple(values, values)), ([a, b]) => {
      verdicts.add(isSame(a, b))
      expect(isSame(a, b)).toBe(isDeepStrictEqual(a, b))
    }),
    casesOf(import.meta.url),
  )
  expect(verdicts).toEqual(new Set([true, false]))
})

test.each<[string, unknown, unknown]>([
  ['of one class', new RangeError('no'), new RangeError('no')],
  ['patterns', /a(b)/g, /a(b)/g],
  ['what a pattern has matched', /(?<no>\d+)/.exec('order 17'), /(?<no>\d+)/.exec('order 17')],
  ['buffers of bytes', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2]).buffer],
  ['functions of one text', [() => 1], [() => 1]],
  ['zero and minus zero', { n: 0 }, { n: -0 }],
  ['a property that is undefined and none', { a: 1, b: undefined }, { a: 1 }],
  ['an object without a prototype and a plain one', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
])('the same: %s', (_, a, b) => {
  expect(firstDifference(a, b, '')).toBeUndefined()
})

test.each<[string, unknown, unknown]>([
  ['two classes', new RangeError('no'), new TypeError('no')],
  ['two messages', new Error('yes'), new Error('no')],
  ['two flags', /a/g, /a/],
  ['two dates', new Date(1), new Date(2)],
  ['bytes', new Uint8Array([1, 2]), new Uint8Array([1, 3])],
  ['as many bytes of another kind', new Uint8Array([1, 0]), new Uint16Array([1])],
  ['a list and an object', [], {}],
  ['lengths', [undefined], []],
  ['two promises, of which nothing can be seen', Promise.resolve(1), Promise.resolve(1)],
  ['the order of a Map', new Map([['a', 1]].concat([['b', 2]]) as never), new Map([['b', 2]].concat([['a', 1]]) as never)],
])('not the same: %s', (_, a, b) => {
  expect(firstDifference({ at: [a] }, { at: [b] }, '')).toMatchObject({ place: 'at.0', values: [a, b] })
})

test('the place is where the two part, and what contains itself comes to an end', () => {
  const circle = (n: number) => {
    const made: { self?: unknown; deep: unknown } = { deep: { list: [{ n: 1 }, { n }] } }
    made.self = made
    return made
  }
  expect(firstDifference(circle(2), circle(2), 'context')).toBeUndefined()
  expect(firstDifference(circle(2), circle(3), 'context')).toEqual({ place: 'context.deep.list.1.n', values: [2, 3] })
})
