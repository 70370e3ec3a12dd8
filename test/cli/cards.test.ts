/** What a person is shown of a tool: before deciding, and of what it did. */
import { expect, test } from 'vitest'
import { approvalQuestion, progressText, resultText, shortText } from '../../src/cli/cards.ts'
import type { RunEvent } from '../../src/runtime/run.ts'

test.each(['\u202e', '\u2066', '\u001b[2K'])('what a tool is asked to do is shown in the order in which it stands, with %j in it', (mark) => {
  const question = approvalQuestion({ name: 'run', input: `ls${mark}/ fr- mr`, why: 'approval' })

  expect(question).not.toContain(mark)
  expect(question).toMatch(/^may run run with ls.+\/ fr- mr\?$/)
})

test('a tool that failed says why in words, with the code', () => {
  const output = { error: { code: 'tool_failed', message: 'nobody answers for tool "weather"', retryable: true } }
  const event = { type: 'tool', runId: 'r', callId: 'c', name: 'weather', phase: 'failed', output } as RunEvent

  expect(progressText(event)).toBe('  ✗ weather failed: nobody answers for tool "weather" [tool_failed]')
})

test.each([{ error: 'no such city' }, { error: { code: 7 } }, { error: null }, null, undefined, 'text'])(
  'other results are shown as they are: %j',
  (output) => expect(resultText(output)).toBe(shortText(output)),
)

test('what a tool writes into its error moves no cursor', () => {
  expect(resultText({ error: { code: 'tool_failed', message: 'a\u001b[2Jb' } })).not.toContain('\u001b')
})

test('a text is cut only where that makes it shorter', () => {
  expect(shortText('x'.repeat(130), 120)).toBe('x'.repeat(130))
  expect(shortText('x'.repeat(200), 120)).toBe(`${'x'.repeat(120)}… (80 characters more)`)
})
