/** A map of an actor at rest. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LeanMap } from '../../../src/actors/replica/lean.ts'
import { casesOf } from '../../support/property.ts'

test('whatever is put in and taken out, it holds what a Map would, in its order', () => {
  const step = fc.record({ kind: fc.constantFrom('set', 'set', 'delete', 'clear'), key: fc.nat({ max: 4 }), value: fc.nat() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [lean, map] = [new LeanMap<number, number>(), new Map<number, number>()]
      for (const { kind, key, value } of steps) {
        if (kind === 'set') {
          lean.set(key, value)
          map.set(key, value)
        } else if (kind === 'clear') {
          lean.clear()
          map.clear()
        } else expect(lean.delete(key)).toBe(map.delete(key))
        expect([lean.size, lean.has(key), lean.get(key)]).toEqual([map.size, map.has(key), map.get(key)])
        expect([...lean]).toEqual([...map])
        expect([[...lean.keys()], [...lean.values()]]).toEqual([[...map.keys()], [...map.values()]])
      }
    }),
    casesOf(import.meta.url),
  )
})

test('it can be emptied while it is walked through', () => {
  const lean = new LeanMap<string, number>()
  for (const [value, key] of ['a', 'b', 'c'].entries()) lean.set(key, value)

  for (const [key] of lean) lean.delete(key)
  lean.set('d', 4)

  expect([...lean]).toEqual([['d', 4]])
})
