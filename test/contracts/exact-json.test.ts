/** JSON keeps the digits of its numbers, or is refused (FC-08). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isExact, parseExact, withDigitsAsText } from '../../src/contracts/exact-json.ts'
import { growth, growthMax } from '../support/growth.ts'
import { casesOf } from '../support/property.ts'

test.each([
  '0',
  '-0',
  '0.0',
  '1',
  '-15.50',
  '9007199254740991',
  '9007199254740992',
  '-9007199254740994',
  '1e3',
  '1E+3',
  '1e23',
  '1e-7',
  '5e-324',
  '1.7976931348623157e308',
  '0.1',
  '0.30000000000000004',
  '52.520008',
  '1000000000000000000000',
  '123456789012345680000',
  '0.1000000000000000056',
  '12345678.90',
])('%s is kept', (literal) => {
  expect(isExact(literal)).toBe(true)
  expect(parseExact(`{"a":[${literal}]}`, 'body')).toEqual({ a: [Number(literal)] })
  expect(withDigitsAsText(`[${literal}]`)).toBe(`[${literal}]`)
})

test.each([
  '1497549923779084388',
  '-1497549923779084388',
  '9007199254740993',
  '9007199254740993.0',
  '18446744073709551615',
  '18446744073709551616',
  '12345678901234567890.5',
  '1e400',
  '-1e400',
  '1e-400',
  '90071992547409930e-1',
  '9.007199254740993e15',
  '1234567890.123456789',
  '3.14159265358979323846',
  `1${'0'.repeat(400)}`,
])('%s would become another number: it is refused, or its digits are text', (literal) => {
  expect(isExact(literal)).toBe(false)
  const json = `{ "a": [1, {"b c": ${literal} }], "d": 2}`
  expect(() => parseExact(json, 'body')).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      field: 'a.1.b c',
      message: expect.stringContaining(literal.slice(0, 80)),
      hint: expect.stringContaining('in quotes'),
    }),
  )
  expect(withDigitsAsText(json)).toBe(json.replace(literal, `"${literal}"`))
})

describe('digits elsewhere are no numbers', () => {
  test.each([
    '{"text":"1497549923779084388"}',
    '{"text":"say \\"1497549923779084388\\", 1497549923779084388"}',
    '{"1497549923779084388":1}',
    '["\\\\","1497549923779084388"]',
    '"1e400"',
    `{"data":"${'e400'.repeat(1000)}"}`,
  ])('%s', (json) => {
    expect(parseExact(json, 'body')).toEqual(JSON.parse(json))
    expect(withDigitsAsText(json)).toBe(json)
  })

  test('a bound of a schema may move, whoever wrote it', () => {
    const bound = '{"clientTools":[{"name":"a","parameters":{"properties":{"id":{"type":"integer","maximum":18446744073709551615}}}}]}'
    expect(parseExact(bound, 'body')).toEqual(JSON.parse(bound))
    expect(() => parseExact('{"event":{"maximum":18446744073709551615}}', 'body')).toThrow('event.maximum')
  })
})

test('what is not JSON throws as JSON.parse does, and is left alone', () => {
  for (const text of ['', '{', '1497549923779084388 x', '{"a":01497549923779084388}']) expect(() => parseExact(text, 'body')).toThrow(SyntaxError)
  expect(withDigitsAsText('no JSON')).toBe('no JSON')
})

test('whatever is written by JSON.stringify is read, and whatever is read is written again', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value)
      expect(JSON.stringify(parseExact(text, 'body'))).toBe(text)
      expect(withDigitsAsText(text)).toBe(text)
    }),
    casesOf(import.meta.url),
  )
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (number) => {
      const back = withDigitsAsText(`[${number}]`)
      expect(BigInt((JSON.parse(back) as [string | number])[0])).toBe(number)
    }),
    casesOf(import.meta.url),
  )
})

test('takes time in proportion to its length', () => {
  const reading = (size: number) => {
    const json = `[${'{"a\\\\":"\\"\\\\","b":[1234567890123456,2.5]},'.repeat(size)}1497549923779084388]`
    return () => void withDigitsAsText(json)
  }
  expect(growth(4_000, reading)).toBeLessThan(growthMax)
})
