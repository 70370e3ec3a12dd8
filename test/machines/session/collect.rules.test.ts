import { expect, test } from 'vitest'
import { collectText, overflowText, summaryLine } from '../../../src/machines/session/collect.rules.ts'

test('a dropped message leaves one line of at most 160 characters [OC-16]', () => {
  expect(summaryLine('  first\n\n\tsecond   third ')).toBe('first second third')
  expect(summaryLine('a'.repeat(160))).toBe('a'.repeat(160))
  expect(summaryLine('a'.repeat(161))).toBe(`${'a'.repeat(159)}…`)
  expect(summaryLine(`${'a'.repeat(158)} bcd`)).toBe(`${'a'.repeat(158)}…`)
  expect(summaryLine(' \n ')).toBe('')
})

test('the cut goes through no character that has two halves', () => {
  const line = summaryLine(`${'a'.repeat(158)}😀😀`)

  expect(line).toBe(`${'a'.repeat(158)}…`)
  expect([summaryLine('a\uD800'), summaryLine(`\uDC00${'a'.repeat(200)}`)].every((text) => text.isWellFormed())).toBe(true)
})

test('what was left out is counted in the right number, with what is left of it [OC-17]', () => {
  expect(overflowText(3, ['one', '', 'two'])).toBe('The queue was full: 3 messages were left out. In short:\n- one\n- two')
  expect(overflowText(1, [])).toBe('The queue was full: 1 message was left out.')
  expect(overflowText(2, [''])).toBe('The queue was full: 2 messages were left out.')
  expect(overflowText(0, ['stale'])).toBe('')
})

test('what waits becomes one prompt: heading, what was dropped, and the messages by number [OC-19]', () => {
  const text = collectText({ items: ['first', 'second\nline', 'third'], dropped: { count: 3, lines: ['gone'] } })

  expect(text.split('\n\n')).toEqual([
    'These messages came in while you were busy, oldest first.',
    'The queue was full: 3 messages were left out. In short:\n- gone',
    'Message 1:\nfirst',
    'Message 2:\nsecond\nline',
    'Message 3:\nthird',
  ])
})

test('without dropped messages nothing is said about them, and without others only about them', () => {
  expect(collectText({ items: ['a'] })).not.toContain('full')
  expect(collectText({ items: ['a'], dropped: { count: 0, lines: [] } })).toBe(collectText({ items: ['a'] }))
  expect(collectText({ items: [], dropped: { count: 1, lines: [] } })).toBe(overflowText(1, []))
  expect(collectText({ items: [] })).toBe('')
})
