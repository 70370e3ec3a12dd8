import { expect, test } from 'vitest'
import { ShownText } from '../../../src/api/ui-stream/shown-text.rules.ts'

/** What a reader has in the end, a text for each beginning. */
const read = (...steps: ((text: ShownText) => { text: string; anew: boolean })[]): string[] => {
  const shown = new ShownText()
  const parts = ['']
  for (const step of steps) {
    const { text, anew } = step(shown)
    if (anew) parts.push('')
    parts[parts.length - 1] += text
  }
  return parts
}
const say = (text: string) => (shown: ShownText) => shown.say(text)
const settle = (truth: string) => (shown: ShownText) => shown.settle(truth)
const again = (shown: ShownText) => {
  shown.begin()
  return { text: '', anew: false }
}

test('what was heard whole is not said again, wherever its spaces were cut', () => {
  expect(read(say('one '), say('two '), settle('one two'))).toEqual(['one two '])
})

test('what was not heard comes with the end, behind what was', () => {
  expect(read(settle('one two'))).toEqual(['one two'])
  expect(read(say('one '), settle('one two'))).toEqual(['one two'])
})

test('what was said otherwise is said anew: the journal is the truth', () => {
  expect(read(say('one '), settle('two'))).toEqual(['one ', 'two'])
})

test('another attempt that repeats the first goes on behind it', () => {
  expect(read(say('one two'), again, say('one'), say(' two'), say(' three'), say('!'), settle('one two three!'))).toEqual(['one two three!'])
})

test('another attempt that says something else is a text of its own', () => {
  expect(read(say('one two'), again, say('one '), say('more'), settle('one more'))).toEqual(['one two', 'one more'])
  expect(read(say('one two'), again, say('one'), settle('one'))).toEqual(['one two', 'one'])
  expect(read(say('one two'), again, settle('three'))).toEqual(['one two', 'three'])
})

test('a call that was stopped keeps what was shown of it', () => {
  expect(read(say('one '), say('two'), settle('one '))).toEqual(['one two'])
  expect(read(say('one '), settle(''))).toEqual(['one '])
})

test('the next call begins anew', () => {
  expect(read(say('one'), settle('one'), say('one'), settle('one'))).toEqual(['oneone'])
})
