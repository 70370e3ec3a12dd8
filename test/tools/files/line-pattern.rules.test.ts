import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linePattern } from '../../../src/tools/files/line-pattern.rules.ts'
import { casesOf } from '../../support/property.ts'

test.each([
  ['abc', 'xxabcxx', true],
  ['^abc$', 'abcd', false],
  ['a|b|', '', true],
  ['(foo|bar)+baz', 'a foobarbaz', true],
  ['colou?r', 'color', true],
  ['[a-c]{2,3}x', 'abcx', true],
  ['[^a-c]', 'abc', false],
  ['\\d+\\.\\d', 'v1.2', true],
  ['\\bfoo', 'foo', 'is not known'],
  ['(?=a)b', 'b', 'no look-around'],
  ['a{2}{3}', 'a', 'repeats a repetition'],
  ['(a', 'a', 'parenthesis is missing'],
  ['a)', 'a', ') too many'],
  ['[a', 'a', '] is missing'],
  ['*a', 'a', 'nothing before it'],
  ['((a{100}){100}){100}', 'a', 'too long'],
  [`${'('.repeat(100)}a${')'.repeat(100)}`, 'a', 'nested'],
  ['a\\', 'a', 'ends with'],
  ['[]]', ']', true],
  ['[-a]', '-', true],
  ['x{', 'x{', true],
])('%s on %j: %s', (pattern, line, expected) => {
  if (typeof expected === 'string') expect(() => linePattern(pattern, false)).toThrow(expected)
  else expect(linePattern(pattern, false)(line)).toBe(expected)
})

test('it agrees with the engine of JavaScript wherever both have a pattern', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '\\s', '^', '$', '(a|b)', '(?:ab)', '(a*b)', 'B', '\\.')
  const piece = fc
    .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,1}', '{2,}'))
    .map(([text, times]) => text + (/[\^$]/.test(text[0] ?? '') ? '' : times))
  const pattern = fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.array(piece, { maxLength: 3 }))
    .map(([a, b]) => (b.length > 0 ? `${a.join('')}|${b.join('')}` : a.join('')))
  const line = fc.array(fc.constantFrom('a', 'b', 'A', 'c', '1', ' ', '.'), { maxLength: 12 }).map((units) => units.join(''))
  fc.assert(
    fc.property(pattern, line, fc.boolean(), (text, against, ignoreCase) => {
      expect(linePattern(text, ignoreCase)(against)).toBe(new RegExp(text, ignoreCase ? 'is' : 's').test(against))
    }),
    casesOf(import.meta.url),
  )
})

test('a pattern over which backtracking takes for ever takes the time of the line', () => {
  const fits = linePattern('^(a+)+$|(a|a)*b|(.*a){20}x', false)

  const begun = performance.now()
  expect(fits(`${'a'.repeat(300_000)}c`)).toBe(false)
  expect(performance.now() - begun).toBeLessThan(2_000)
})

test('a line of many different characters costs no memory that stays', () => {
  const fits = linePattern('a.{30}z', false)
  const line = Array.from({ length: 200_000 }, (_, index) => String.fromCharCode(97 + ((index * 7919) % 5000))).join('')

  expect(fits(line)).toBe(/a.{30}z/s.test(line))
})
