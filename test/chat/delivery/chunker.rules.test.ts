/** Messages of a good size, cut where a reader would pause (OC-59). */
import { describe, expect, test } from 'vitest'
import { chunker, chunkText } from '../../../src/chat/delivery/chunker.rules.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'
import { growth, growthMax } from '../../support/growth.ts'

const chunksOf = (text: string, limits: { min?: number; max?: number }, deltas: string[] = [text]): string[] => {
  const cutter = chunker(limits)
  return [...deltas.flatMap((delta) => cutter.push(delta)), ...cutter.drain()]
}
const words = (count: number, word = 'word') => Array.from({ length: count }, () => word).join(' ')
/** Every fence that is opened is closed. */
const isWhole = (chunk: string) => (chunk.match(/^```/gm)?.length ?? 0) % 2 === 0
/** What a reader has after putting the chunks together: fences that were closed and opened again are one. */
const code = (chunks: string[]) => chunks.map((chunk) => chunk.replace(/^```\w*\n/, '').replace(/```$/, '')).join('')

describe('where a chunk ends', () => {
  test('at 800 characters a paragraph that ends is a chunk, before that it is none', () => {
    const cutter = chunker()

    expect(cutter.push(`${'a'.repeat(790)}\n\n`)).toEqual([])
    expect(cutter.push(`${'b'.repeat(20)}\n\nc`)).toEqual([`${'a'.repeat(790)}\n\n${'b'.repeat(20)}\n\n`])
    expect(cutter.drain()).toEqual(['c'])
  })

  test.each([
    ['a paragraph', `${words(3)}\n\nfour\nfive. six seven`, `${words(3)}\n\n`],
    ['a line', `${words(3)}\nfive. six seven eight`, `${words(3)}\n`],
    ['a sentence', 'One two three four. six seven', 'One two three four. '],
    ['a sentence in quotes', 'He said "enough." and left', 'He said "enough." '],
    ['a sentence without spaces', `${'字'.repeat(15)}。${'字'.repeat(15)}`, `${'字'.repeat(15)}。`],
    ['a space', 'one two three four five six seven', 'one two three four '],
    ['nothing but the limit', 'x'.repeat(30), 'x'.repeat(20)],
  ])('where the next one would be too long, it ends after %s', (_, text, first) => {
    expect(chunksOf(text, { min: 12, max: 20 })[0]).toBe(first)
  })

  test('a text that is exactly as long as allowed is one chunk', () => {
    expect(chunksOf('x'.repeat(20), { min: 20, max: 20 })).toEqual(['x'.repeat(20)])
  })

  test('under a small limit a pause before the minimum is better than half a word', () => {
    expect(chunksOf('one two three four', { min: 800, max: 10 })).toEqual(['one two ', 'three four'])
  })

  test('a character of two units is not cut in two, whatever the limit', () => {
    for (const max of [1, 2, 3, 4, 5]) {
      const chunks = chunksOf('😀😀a😀😀', { max })
      expect(chunks.join('')).toBe('😀😀a😀😀')
      expect(chunks.every((chunk) => chunk.isWellFormed())).toBe(true)
    }
  })

  test('without a limit everything comes at the end', () => {
    expect(chunksOf(words(2000), { min: Infinity, max: Infinity })).toEqual([words(2000)])
  })

  test('after a drain it begins anew', () => {
    const cutter = chunker({ min: 5, max: 10 })
    cutter.push('abc')
    expect(cutter.drain()).toEqual(['abc'])
    expect(cutter.drain()).toEqual([])
    expect(cutter.push('')).toEqual([])
  })
})

describe('code fences', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `const x${line} = ${line}\n`).join('')

  test('a fence of 3,000 characters is closed and opened again, with its info line, and the code is the same', () => {
    const block = lines(200)
    expect(block.length).toBeGreaterThan(3000)

    const chunks = chunksOf(`\`\`\`ts\n${block}\`\`\``, {})

    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.every((chunk) => chunk.length <= 1200 && isWhole(chunk) && chunk.startsWith('```ts\n'))).toBe(true)
    expect(code(chunks)).toBe(block)
  })

  test('a blank line in code ends nothing', () => {
    const text = `\`\`\`\n${'a'.repeat(20)}\n\n${'b'.repeat(20)}\n\`\`\`\n\nafter it`
    expect(chunksOf(text, { min: 10, max: 100 })).toEqual([text.slice(0, -8), 'after it'])
  })

  test('a fence that begins late goes to the next chunk as a whole', () => {
    const block = `\`\`\`js\n${lines(3)}\`\`\``
    expect(chunksOf(`${words(12)}\n${block}`, { min: 50, max: 80 })).toEqual([`${words(12)}\n`, block])
  })

  test('a fence that begins early stays with what introduces it', () => {
    const [first = '', second = ''] = chunksOf(`Look:\n~~~~py\n${lines(6)}~~~~\n`, { min: 50, max: 80 })
    expect(first.startsWith('Look:\n~~~~py\n') && first.endsWith('\n~~~~')).toBe(true)
    expect(second.startsWith('~~~~py\n')).toBe(true)
  })

  test('a line of code that is longer than a chunk is cut hard', () => {
    const chunks = chunksOf(`\`\`\`\n${'z'.repeat(300)}\n\`\`\``, { max: 100 })
    expect(chunks.every((chunk) => chunk.length <= 100 && isWhole(chunk))).toBe(true)
    expect(chunks.join('').match(/z/g)).toHaveLength(300)
  })

  test('no empty fence is left where the code ended with the chunk', () => {
    for (let max = 30; max < 90; max++) {
      const chunks = chunksOf(`\`\`\`js\n${lines(9)}\`\`\`\nSo it is.`, { max })
      expect(chunks.filter((chunk) => chunk.startsWith('```js\n```'))).toEqual([])
      expect(chunks.join('')).toContain('So it is.')
    }
  })

  test('an info line that is too long is left out when the fence is opened again', () => {
    const chunks = chunksOf(`\`\`\`js title="${'t'.repeat(30)}"\n${lines(8)}\`\`\``, { max: 100 })
    expect(chunks[1]).toMatch(/^```\nconst/)
    expect(chunks.every((chunk) => chunk.length <= 100)).toBe(true)
  })

  test('where a limit has no room for a fence, the text is cut all the same', () => {
    const chunks = chunksOf('```js\nabcdef\n```', { max: 5 })
    expect(chunks.join('')).toBe('```js\nabcdef\n```')
    expect(chunks.every((chunk) => chunk.length <= 5)).toBe(true)
  })

  test('three backticks within a line open no fence', () => {
    const text = `say \`\`\`this\`\`\`\n\n${words(9)}\n\n`
    expect(chunksOf(text, { min: 5, max: 40 })[0]).toBe('say ```this```\n\n')
    expect(chunksOf('```one``` line\n\nmore', { min: 5, max: 40 })).toEqual(['```one``` line\n\n', 'more'])
  })
})

describe('for any text', () => {
  const random = seededRandom(59)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T
  const parts = ['word ', 'Stop. ', 'long'.repeat(12), '\n', '\n\n', '```js\n', '```\n', '~~~\n', '`x` ', '😀', '  ', 'Why? ']
  const anyText = () => Array.from({ length: 5 + Math.floor(random.next() * 60) }, () => pick(parts)).join('')
  const anySplit = (text: string) => {
    const deltas: string[] = []
    for (let at = 0; at < text.length; ) {
      const end = at + 1 + Math.floor(random.next() * 30)
      deltas.push(text.slice(at, end))
      at = end
    }
    return deltas
  }

  test('deltas of any size give the same chunks, none of them too long, cut in a character or empty', () => {
    for (let round = 0; round < 1500; round++) {
      const text = anyText()
      const limits = { min: 1 + Math.floor(random.next() * 80), max: 20 + Math.floor(random.next() * 100) }
      const chunks = chunksOf(text, limits)
      expect(chunksOf(text, limits, anySplit(text))).toEqual(chunks)
      expect(chunksOf(text, limits, text.split(''))).toEqual(chunks)
      expect(chunks.every((chunk) => chunk !== '' && chunk.length <= limits.max && chunk.isWellFormed())).toBe(true)
      // But for the lines of fences, nothing is lost and nothing is added.
      const bare = (whole: string) => whole.replace(/[`~js\s]/g, '')
      expect(bare(chunks.join(''))).toBe(bare(text))
    }
  })

  test('a text without fences is restored by putting the chunks together', () => {
    for (let round = 0; round < 500; round++) {
      const text = anyText().replaceAll(/```(?:js)?|~~~/g, '.')
      expect(chunksOf(text, { min: 30, max: 60 }).join('')).toBe(text)
      expect(chunkText(text, { max: 50 }).join('')).toBe(text)
    }
  })

  test('a long text takes time in proportion to its length', () => {
    const long = (size: number) => `\`\`\`\n${'x'.repeat(70)}\n`.repeat(size)
    expect(chunksOf(long(30_000), {}).length).toBeGreaterThan(1000)
    expect(chunkText(long(30_000), { max: 4000 }).length).toBeGreaterThan(500)

    const measured = (chunk: (text: string) => void) =>
      growth(60_000, (size) => {
        const text = long(size)
        return () => chunk(text)
      })
    expect(measured((text) => void chunksOf(text, {}))).toBeLessThan(growthMax)
    expect(measured((text) => void chunkText(text, { max: 4000 }))).toBeLessThan(growthMax)
  })
})

describe('a finished text', () => {
  test('that fits is one message, and of nothing there is none', () => {
    expect(chunkText('short', { max: 10 })).toEqual(['short'])
    expect(chunkText('', { max: 10 })).toEqual([])
  })

  test('is kept together as long as the limit allows', () => {
    const text = 'one\n\ntwo\n\nthree\n\nfour\n\nfive'
    expect(chunkText(text, { max: 20 })).toEqual(['one\n\ntwo\n\nthree\n\n', 'four\n\nfive'])
  })

  test('keeps its fences whole in every message', () => {
    const chunks = chunkText(`Look:\n\`\`\`js\n${'let a\n'.repeat(40)}\`\`\`\nDone.`, { max: 100 })
    expect(chunks.every((chunk) => isWhole(chunk) && chunk.length <= 100)).toBe(true)
  })
})
