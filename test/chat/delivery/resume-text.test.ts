/** What was sent before a crash, or by an attempt that broke off, is left out of what is said again. */
import { expect, test } from 'vitest'
import type { SentBlock } from '../../../src/chat/delivery/dispatcher.context.ts'
import { ResumeText } from '../../../src/chat/delivery/resume-text.ts'

const again = (blocks: string[], pieces: string[]) => {
  const found: string[] = []
  const unsaid = new ResumeText(({ text }: SentBlock) => void found.push(text))
  unsaid.expect(blocks.map((text) => ({ key: text, text })))
  const fresh = [...pieces.map((piece) => unsaid.push(piece)), unsaid.end()].join('')
  return { found, fresh }
}

test('[OC-61] it goes on where it stopped, however it is cut', () => {
  const text = 'one two three\n\nfour five six seven'
  const blocks = ['one two three', 'four five']
  for (let size = 1; size <= text.length; size++) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    expect(again(blocks, pieces)).toEqual({ found: blocks, fresh: 'six seven' })
  }
})

test('[OC-61] the break between two blocks is said by neither, and what is indented stays so', () => {
  expect(again(['a list:'], ['a list:', '\n', '\n', '  - one\n', '  - two'])).toEqual({ found: ['a list:'], fresh: '  - one\n  - two' })
})

test('[OC-61] where it ends with what was said, nothing is left, whatever white space follows', () => {
  expect(again(['all of it'], ['all of it', ' \n', '\n'])).toEqual({ found: ['all of it'], fresh: '' })
})

test('[OC-61] what begins as the next block did and ends before it is new', () => {
  expect(again(['one', 'two three'], ['one two'])).toEqual({ found: ['one'], fresh: 'two' })
})

test('[OC-61] where it goes on otherwise, all from there on is new', () => {
  expect(again(['one', 'two'], ['one three'])).toEqual({ found: ['one'], fresh: 'three' })
  expect(again(['one', 'two'], ['four three'])).toEqual({ found: [], fresh: 'four three' })
})
