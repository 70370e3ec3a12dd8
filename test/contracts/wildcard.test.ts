import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wildcard } from '../../src/contracts/wildcard.ts'
import { casesOf } from '../support/property.ts'

test.each<[string, string[], string[]]>([
  ['crm', ['crm'], ['', 'crm_', 'CRM']],
  ['crm_*', ['crm_', 'crm_find'], ['crm', 'my_crm_find']],
  ['*_read', ['_read', 'file_read'], ['file_read_all', 'read']],
  ['a*b*c', ['abc', 'a-b-c', 'abbcc'], ['ab', 'acb', 'a-c']],
  ['a*a', ['aa', 'aba'], ['a']],
  ['**', ['', 'anything'], []],
  ['a.c', ['a.c'], ['abc']],
])('%s stands for %j, and not for %j', (pattern, fitting, others) => {
  const fits = wildcard(pattern)

  expect(fitting.filter(fits)).toEqual(fitting)
  expect(others.filter(fits)).toEqual([])
})

test('it says what the regular expression with the same meaning says', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), (pattern, text) => {
      expect(wildcard(pattern)(text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
    }),
    casesOf(import.meta.url),
  )
})
