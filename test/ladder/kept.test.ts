/** What a run keeps by name, however much that comes to. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { constants } from '../../src/contracts/constant.ts'
import { entriesOf, type Kept, keep, kept, recordOf } from '../../src/ladder/kept.rules.ts'
import { casesOf } from '../support/property.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `step-${index}`)
const keepAll = (all: readonly string[]): Kept<object> => all.reduce<Kept<object>>((before, name) => keep(before, name, { name }), {})

const partsOf = (value: unknown, found = new Set<object>()): Set<object> => {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  for (const part of Object.values(value)) partsOf(part, found)
  return found
}

test('a few stand there as an author would write them', () => {
  expect(keepAll(['b', 'a'])).toEqual({ b: { name: 'b' }, a: { name: 'a' } })
})

test('one more costs as little beside thousands as beside a few: all else stays the same objects, which are constant', () => {
  const all = names(5_000)
  const before = keepAll(all)
  const known = partsOf(before)

  const after = keep(before, 'one more', { name: 'one more' })

  const made = [...partsOf(after)].filter((part) => !known.has(part))
  // Its own, its entry, the list of entries, and the parts that lead there.
  expect(made.length).toBeLessThanOrEqual(6)
  expect(made.reduce((sum, part) => sum + Object.keys(part).length, 0)).toBeLessThan(80)
  expect([...partsOf(after)].every((part) => constants.has(part))).toBe(true)
  expect(kept(before, 'one more')).toBe(undefined)
})

test('whatever is kept is found, the last of each name counts, and the same in the same order comes to the same', () => {
  const entry = fc.tuple(fc.oneof(fc.constantFrom(...names(60)), fc.string({ minLength: 1, maxLength: 3 })), fc.nat())
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 400 }), (entries) => {
      const told = entries.filter(([name]) => !(name in {}))
      const grow = () => told.reduce<Kept<number>>((before, [name, value]) => keep(before, name, value), {})
      const [all, expected] = [grow(), new Map(told)]

      expect(new Map(entriesOf(all))).toEqual(expected)
      expect([...expected.keys()].map((name) => kept(all, name))).toEqual([...expected.values()])
      expect(kept(all, 'nobody')).toBe(undefined)
      expect(grow()).toEqual(all)
    }),
    casesOf(import.meta.url),
  )
})

test('a record of them has the order that is asked for', () => {
  const all = names(100)

  expect(Object.keys(recordOf(keepAll(all), all.toReversed()))).toEqual(all.toReversed())
  expect(Object.keys(recordOf(keepAll(['b', 'a']), ['a', 'b', 'c']))).toEqual(['a', 'b'])
})

test('names of one hash stand side by side', () => {
  // FNV-1a of both is the same.
  const twins = ['costarring', 'liquid']
  const all = keepAll([...names(40), ...twins])

  expect(twins.map((name) => kept(all, name))).toEqual(twins.map((name) => ({ name })))
})
