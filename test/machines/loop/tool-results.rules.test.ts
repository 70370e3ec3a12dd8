import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../../src/contracts/message.ts'
import {
  boundedResults,
  estimatedTokens,
  isTooFull,
  resultCharsMax,
  resultIn,
  shortenedResult,
} from '../../../src/machines/loop/tool-results.rules.ts'
import { casesOf } from '../../support/property.ts'

const lines = (chars: number) => 'a line of the log that says nothing\n'.repeat(Math.ceil(chars / 36)).slice(0, chars)

test.each([
  [undefined, 16_000],
  [200_000, 16_000],
  [10_000, 10_000],
  [5000, 5000],
  [13_000, 13_000],
  [4000, 4000],
])('a model that reads %s tokens is shown %i characters of one result', (window, chars) => {
  expect(resultCharsMax(window)).toBe(chars)
})

test('of 100,000 characters that end in an error at most 16,000 remain, with head, error, size and reference', () => {
  const text = `begin\n${lines(100_000)}\nError: the disk is full\n    at write (disk.ts:1)`
  const short = shortenedResult(text, 16_000, 'r:1:2')

  expect(short.length).toBeLessThanOrEqual(16_000)
  expect(short.length).toBeGreaterThan(15_000)
  expect(short).toMatch(/^begin\n/)
  expect(short).toContain('Error: the disk is full\n    at write (disk.ts:1)')
  expect(short).toContain(` of ${text.length} characters are left out here; read_output with ref "r:1:2"`)
})

test.each([
  ['a summary', 'Total: 12 tests, 3 failed'],
  ['the end of JSON', '"name": "last" } ] }'],
])('an end that is %s is kept', (_, end) => {
  expect(shortenedResult(`${lines(50_000)}\n${end}`, 16_000, 'x').endsWith(end)).toBe(true)
})

test('where the end says nothing more the head is all, up to the end of a line', () => {
  const short = shortenedResult(lines(50_000), 16_000, 'x')
  const head = short.slice(0, short.indexOf('\n[…'))

  expect(head.endsWith('a line of the log that says nothing')).toBe(true)
  expect(short.endsWith('…]')).toBe(true)
})

test('whatever the text, what is shown is bounded and whole Unicode', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 200 }), (piece, times) => {
      const text = piece.repeat(times)
      const short = shortenedResult(text, 2000, 'r:1:1')
      expect(short.length).toBeLessThanOrEqual(2000)
      expect(short.isWellFormed()).toBe(true)
      if (text.length <= 2000) expect(short).toBe(text)
    }),
    casesOf(import.meta.url),
  )
})

const answer = (id: string, ...callIds: string[]): Message => ({
  role: 'assistant',
  id,
  text: '',
  calls: callIds.map((callId) => ({ callId, name: 'read', input: {} })),
})
const result = (callId: string, output: unknown): Message => ({ role: 'tool', callId, name: 'read', output, isError: false })

test('a result is found by what its cut names, also where a provider uses the same id again', () => {
  const messages = [answer('r:1', 'a', 'b'), result('a', 1), result('b', lines(20_000)), answer('r:2', 'b'), result('b', lines(30_000))]
  const { messages: shown, cut } = boundedResults(messages, undefined)
  const references = shown.flatMap((message) => (message.role === 'tool' ? (/ref "([^"]+)"/.exec(String(message.output))?.[1] ?? []) : []))

  expect(cut).toBe(true)
  expect(shown[1]).toBe(messages[1])
  expect(references).toEqual(['r:1:2', 'r:2:1'])
  expect(references.map((reference) => resultIn(messages, reference))).toEqual([messages[2], messages[4]])
  expect(['r:1:3', 'r:9:1', 'r:1:', '', 'r:1:x'].map((reference) => resultIn(messages, reference))).toEqual(Array(5).fill(undefined))
})

test('a request is too full from nine tenths of the window on, and a picture counts as 8,000 characters', () => {
  const asked = (chars: number) => ({ instructions: 'x'.repeat(chars), messages: [], tools: [] })

  expect([35_000, 37_000].map((chars) => isTooFull(asked(chars), 10_000))).toEqual([false, true])
  expect(isTooFull(asked(1e6), undefined)).toBe(false)
  const picture = [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(1e6) }]
  expect(estimatedTokens({ instructions: '', messages: [result('a', picture)], tools: [] })).toBeLessThan(2100)
})
