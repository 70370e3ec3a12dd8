/** What a terminal and a pipe are shown of an answer in several steps. */
import { expect, test } from 'vitest'
import { Words } from '../../src/cli/words.ts'

const aScreen = (isTTY = true) => {
  let shown = ''
  const words = new Words({ isTTY, write: (text: string) => void (shown += text) })
  const delta = (attempt: number, index: number, text: string, count?: number) =>
    words.hear({ type: 'delta', runId: 'r', answerId: `r:${attempt}`, attempt, index, kind: 'text', text, ...(count ? { count } : {}) })
  const tool = () => words.hear({ type: 'tool', runId: 'r', callId: 'c', name: 'now', phase: 'requested' })
  return { words, delta, tool, shown: () => shown }
}

test('a terminal gets each word as it comes, and each step as a paragraph', () => {
  const { words, delta, tool, shown } = aScreen()

  delta(1, 0, 'one ')
  delta(1, 1, 'two', 2)
  delta(1, 3, ' three')
  expect(shown()).toBe('one two three')
  tool()
  delta(2, 0, 'four')
  words.finish({ text: 'four' }, ['one two three', 'four'])

  // The line of the tool stands between the two.
  expect(shown()).toBe('one two three\n\nfour\n')
})

test('a step without a tool behind it, as where somebody spoke up, is a paragraph too', () => {
  const { words, delta, shown } = aScreen()

  delta(1, 0, 'one')
  delta(2, 0, 'two')
  words.finish({ text: 'two' }, ['one', 'two'])

  expect(shown()).toBe('one\n\ntwo\n')
})

test.each([
  [
    'the end of the last step',
    [
      [1, 0, 'one'],
      [2, 0, 'tw'],
    ],
    'one\n\ntwo\n',
  ],
  [
    'the beginning of the last step',
    [
      [1, 0, 'one'],
      [2, 1, 'o'],
    ],
    'one\n\ntwo\n',
  ],
  [
    'the end of an earlier one',
    [
      [1, 0, 'o'],
      [2, 0, 'two'],
    ],
    'o\n\ntwo\n\none\n\ntwo\n',
  ],
  ['all of it', [], 'one\n\ntwo\n'],
] as const)('what was lost on the way is said in the end: %s', (_, deltas, expected) => {
  const { words, delta, shown } = aScreen()

  for (const [attempt, index, text] of deltas) delta(attempt, index, text)
  words.finish({ text: 'two' }, ['one', 'two'])

  expect(shown()).toBe(expected)
})

test('a pipe gets the whole answer at once: as the conversation has it, else as it was heard', () => {
  const [known, heard] = [aScreen(false), aScreen(false)]

  for (const { delta } of [known, heard]) {
    delta(1, 0, 'on')
    delta(2, 0, 't')
  }
  expect(known.shown()).toBe('')
  known.words.finish({ text: 'two' }, ['one', 'two'])
  heard.words.finish({ text: 'two' })

  expect([known.shown(), heard.shown()]).toEqual(['one\n\ntwo\n', 'on\n\ntwo\n'])
})

test('an answer without words is an empty line', () => {
  for (const isTTY of [true, false]) {
    const { words, shown } = aScreen(isTTY)
    words.finish({ text: '' })
    expect(shown()).toBe('\n')
  }
})
