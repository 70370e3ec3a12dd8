import { expect, test } from 'vitest'
import { answerText, TurnText } from '../../src/runtime/turn-text.ts'

const delta = (attempt: number, index: number, text: string, kind: 'text' | 'reasoning' = 'text') => ({ attempt, index, text, kind })

test('what comes in order goes out as it comes, reasoning left out, and nothing is left at the end', () => {
  const answer = answerText()

  expect([answer.delta(delta(1, 0, 'hm', 'reasoning')), answer.delta(delta(1, 1, 'a')), answer.delta(delta(1, 2, 'b'))]).toEqual(['', 'a', 'b'])
  expect(answer.rest(['ab'])).toBe('')
})

test('deltas that were put together on their way count as many', () => {
  const answer = answerText()

  expect([answer.delta({ ...delta(1, 0, 'abc'), count: 3 }), answer.delta(delta(1, 3, 'd'))]).toEqual(['abc', 'd'])
})

test('after a gap the rest comes at the end, and nothing twice', () => {
  const answer = answerText()

  expect([0, 2, 0, 3].map((index) => answer.delta(delta(1, index, String(index))))).toEqual(['0', '', '', ''])
  expect(answer.rest(['0123'])).toBe('123')
})

test('who joins in the middle hears the whole at the end', () => {
  const answer = answerText()

  expect(answer.delta(delta(1, 7, 'x'))).toBe('')
  expect(answer.rest(['the whole'])).toBe('the whole')
})

test('another attempt begins a paragraph, and an answer that differs from what was said is given whole', () => {
  const answer = answerText()
  answer.delta(delta(1, 0, 'one'))

  expect(answer.delta(delta(2, 0, 'two'))).toBe('\n\ntwo')
  expect(answer.rest(['other'])).toBe('\n\nother')
})

const heardOf = (...calls: string[]): TurnText => {
  const heard = new TurnText()
  for (const [index, text] of calls.entries()) heard.take(delta(index + 1, 0, text))
  return heard
}

test('what was said twice is told twice, though it was heard once', () => {
  expect(heardOf('Ok.').missing(['Ok.', 'Ok.'])).toEqual([{ text: 'Ok.', continues: false }])
})

test('where texts belong together, all from the first missing one on are told in their order; else only those that are missing', () => {
  const calls = ['one', 'two', 'three']

  expect(
    heardOf('one', 'three')
      .missing(calls, { inOrder: true })
      .map(({ text }) => text),
  ).toEqual(['two', 'three'])
  expect(
    heardOf('one', 'three')
      .missing(calls)
      .map(({ text }) => text),
  ).toEqual(['two'])
})

test('only the end is told of what was cut off, and spaces make no other text of it', () => {
  expect(heardOf('one', 'tw').missing(['one ', 'two'])).toEqual([{ text: 'o', continues: true }])
})

test('what was shown before a reader came is not told again', () => {
  expect(new TurnText({}, ['one']).missing(['one', 'two'])).toEqual([{ text: 'two', continues: false }])
})
