/** The line that says what an answer used (OC-86, 93). */
import { expect, test } from 'vitest'
import { usageLine, withLine } from '../../../src/chat/delivery/usage-line.rules.ts'

const used = { input: 12_400, output: 1500, costUsd: 0.004 }
const options = { mode: 'full', apiKey: true, sessionKey: 'agent:main' } as const

test('it says as much as its mode allows', () => {
  expect(usageLine(used, { ...options, mode: 'off' })).toBe(undefined)
  expect(usageLine(used, { ...options, mode: 'tokens' })).toBe('Usage: 12k in / 1.5k out · est $0.0040')
  expect(usageLine(used, options)).toBe('Usage: 12k in / 1.5k out · est $0.0040 · session agent:main')
})

test('a cost needs a key that is paid for and a known price', () => {
  expect(usageLine(used, { ...options, apiKey: false })).toBe('Usage: 12k in / 1.5k out · session agent:main')
  expect(usageLine({ input: 1, output: 2 }, { mode: 'full', apiKey: true })).toBe('Usage: 1 in / 2 out')
  expect(usageLine({ ...used, costUsd: Number.NaN }, { mode: 'tokens', apiKey: true })).toBe('Usage: 12k in / 1.5k out')
})

test('a side that is missing is a question mark, and where both are missing or zero there is no line', () => {
  expect(usageLine({ input: 5 }, options)).toMatch(/^Usage: 5 in \/ \? out/)
  expect(usageLine({ output: 5, input: Number.NaN }, options)).toMatch(/^Usage: \? in \/ 5 out/)
  expect(usageLine({ input: 0, output: 5 }, options)).toMatch(/^Usage: 0 in \/ 5 out/)
  for (const none of [{}, { input: 0, output: 0 }, { input: 0 }, { output: Number.POSITIVE_INFINITY }, { input: -1 }])
    expect(usageLine({ ...none, costUsd: 1 }, options)).toBe(undefined)
})

test('it stands below the last payload that has text, with one newline, or alone', () => {
  const image = { media: ['a.png'] }
  expect(withLine([{ text: 'Hi' }, image], 'Usage')).toEqual([{ text: 'Hi\nUsage' }, image])
  expect(withLine([{ text: 'a' }, { text: 'b\n', replyTo: 'm' }], 'Usage')).toEqual([{ text: 'a' }, { text: 'b\nUsage', replyTo: 'm' }])
  expect(withLine([image, { text: ' ' }], 'Usage')).toEqual([image, { text: ' ' }, { text: 'Usage' }])
  expect(withLine([], 'Usage')).toEqual([{ text: 'Usage' }])
})
