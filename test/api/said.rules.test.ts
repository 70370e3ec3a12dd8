import { expect, test } from 'vitest'
import { cleanMessage } from '../../src/api/said.rules.ts'

test('[CH-09] a message is composed, and loses what no screen shows', () => {
  expect(cleanMessage('cafe\u0301')).toBe('caf\u00e9')
  expect(cleanMessage('a\u0007b\u001bc\u007fd')).toBe('abcd')
  expect(cleanMessage('a\tb\r\nc\n')).toBe('a\tb\r\nc\n')
  expect(cleanMessage('👩‍👩‍👧 ‮x')).toBe('👩‍👩‍👧 ‮x')
})

test.each([['a\0b'], ['\0'], [''], ['  \n'], ['\u0007\u0007']])('[CH-09] %j is refused, with its field', (text) => {
  expect(() => cleanMessage(text)).toThrow(expect.objectContaining({ code: 'bad_request', field: 'message' }))
})
