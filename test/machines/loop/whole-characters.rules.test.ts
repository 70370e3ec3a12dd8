import { expect, test } from 'vitest'
import { wholeCharacters } from '../../../src/machines/loop/whole-characters.rules.ts'

const joined = (pieces: string[]): string => {
  const whole = wholeCharacters()
  return pieces.map((piece) => whole(piece)).join('')
}

test('a character that was torn apart comes whole, with its second half', () => {
  const whole = wholeCharacters()

  expect([whole('a\ud83d'), whole('\ude00'), whole(' b')]).toEqual(['a', '😀', ' b'])
})

test('however it is cut, it is the beginning of the text as it is stored', () => {
  for (const text of ['plain', '😀 and 👩‍👩‍👧', '\ud83d alone', 'alone \ude00', '\ud83d\ud83d\ude00', '\ude00\ud83d x'])
    for (let size = 1; size <= text.length; size++) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, place) => text.slice(place * size, (place + 1) * size))
      expect(text.toWellFormed()).toBe(joined(pieces))
    }
})

test('half a character at the very end is left to whoever has the whole text', () => {
  expect(joined(['a', '\ud83d'])).toBe('a')
})
