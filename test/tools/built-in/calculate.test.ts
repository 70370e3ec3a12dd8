import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { calculate } from '../../../src/tools/built-in/calculate.ts'
import { casesOf } from '../../support/property.ts'

test.each([
  ['17*23', 391],
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 / 4', 2.5],
  ['-7 % 3', -1],
  ['2 ^ 3 ^ 2', 512],
  ['2 ** 10', 1024],
  ['-2 ^ 2', -4],
  ['2 ^ -1', 0.5],
  ['(-2) ^ 2', 4],
  ['--3', 3],
  ['2 - -3', 5],
  ['+5', 5],
  ['.5 + 5.', 5.5],
  ['1e3 + 2.5E-1', 1000.25],
  ['6 ÷ 2 × 3 − 1', 8],
  ['0 * -1', 0],
  ['  (  4 )  ', 4],
])('%s is %d', (expression, value) => {
  expect(calculate(expression)).toBe(value)
})

test.each<[string, RegExp]>([
  ['1/0', /division by zero/],
  ['1 % 0', /division by zero/],
  ['1 / (2 - 2)', /division by zero/],
  ['0 ^ -1', /division by zero/],
  ['(0 - 8) ^ 0.5', /not a real number/],
  ['9 ^ 9 ^ 9', /too large/],
  ['', /ends too early/],
  ['1 +', /ends too early/],
  ['(1', /parenthesis is missing/],
  ['1)', /"\)" is not expected at character 2/],
  ['1 2', /"2" is not expected at character 3/],
  ['1..2', /not expected/],
  ['0x10', /"x" is not expected/],
  ['process.exit(1)', /"p" is not expected at character 1/],
  ['constructor', /not expected/],
  ['1; 2', /";" is not expected/],
  ['1'.repeat(1001), /1001 characters/],
  ['('.repeat(500), /50 levels/],
  ['-'.repeat(500), /50 levels/],
  ['2^'.repeat(400), /50 levels/],
])('%s is refused by name', (expression, message) => {
  expect(() => calculate(expression)).toThrow(expect.objectContaining({ code: 'bad_request', message: expect.stringMatching(message) }))
})

/** Expressions that mean the same here and in JavaScript: powers and signs in parentheses. */
const { expression } = fc.letrec<{ expression: string; atom: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    tie('atom'),
    fc.tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/', '%', ' - ', ' * '), tie('atom')).map((parts) => parts.join('')),
    fc.tuple(tie('atom'), tie('atom')).map(([base, exponent]) => `(${base})**(${exponent})`),
  ),
  atom: fc.oneof(
    { maxDepth: 5 },
    fc.double({ min: 0, max: 1e6, noNaN: true }).map(String),
    fc.nat(100).map(String),
    tie('expression').map((inner) => `(${inner})`),
    tie('expression').map((inner) => `(-(${inner}))`),
  ),
}))

test('it agrees with JavaScript on every expression that has a value', () => {
  fc.assert(
    fc.property(expression, (text) => {
      // Only what this test has made itself is evaluated, digits and operators.
      const expected: unknown = runInNewContext(text)
      let value: unknown
      try {
        value = calculate(text)
      } catch (thrown) {
        expect(thrown).toMatchObject({
          code: 'bad_request',
          message: expect.stringMatching(/division by zero|not a real number|too large|levels|characters/),
        })
        return
      }
      expect(value).toBe(expected === 0 ? 0 : expected)
    }),
    casesOf(import.meta.url),
  )
})

test('whatever the text, there is a finite number or a typed error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789.+-*/%^() eE'.split('')) })), (text) => {
      try {
        expect(calculate(text)).toSatisfy(Number.isFinite)
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'bad_request' })
      }
    }),
    casesOf(import.meta.url),
  )
})
