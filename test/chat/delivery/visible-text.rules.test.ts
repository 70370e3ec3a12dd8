/** A user sees the answer: all of it but the reasoning that opens it and the tags around it (OC-67, 78, 79). */
import { describe, expect, test } from 'vitest'
import { codeTracker } from '../../../src/chat/delivery/code.rules.ts'
import { cleanText, mayHide, type VisibleTextOptions, visibleText } from '../../../src/chat/delivery/visible-text.rules.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'
import { growth, growthMax } from '../../support/growth.ts'

const read = (deltas: string[], options?: VisibleTextOptions) => {
  const cleaner = visibleText(options)
  const steps = [...deltas.map((delta) => cleaner.push(delta)), cleaner.end()]
  return { text: steps.join(''), steps, reasoning: cleaner.reasoning }
}
const seen = (text: string, options?: VisibleTextOptions) => read([text], options).text

describe('reasoning', () => {
  test.each(['think', 'thinking', 'thought', 'reasoning', 'THINK', 'Thinking'])('in <%s> is not shown, but kept', (name) => {
    expect(read([`<${name}>hm, 6 times 7</${name}>\n\nIt is 42.`])).toMatchObject({ text: 'It is 42.', reasoning: 'hm, 6 times 7' })
  })

  test('may stand in several tags, with attributes over several lines', () => {
    const { text, reasoning } = read(['<think budget="3"\nlevel="low">one</think>\n<thought>two</thought>First. Second.'])
    expect(text).toBe('First. Second.')
    expect(reasoning).toBe('one\ntwo')
  })

  test.each([
    'First. <thought>two</thought>Second.',
    'Hello. <think>of you',
    'Put it into a <thinking> tag.',
    'a</think>b<think/>c</final>d<final>e',
    '. <think>x</think>',
  ])('opens an answer: %s is text', (text) => {
    expect(read([text])).toMatchObject({ text, reasoning: '' })
    expect(read(text.split(''))).toMatchObject({ text, reasoning: '' })
  })

  test('that is never closed stays hidden', () => {
    expect(read(['<think>secret'])).toMatchObject({ text: '', reasoning: 'secret' })
  })

  test('ends at the first closing tag, of whatever name, also behind a fence that was forgotten', () => {
    expect(seen('<think>```js\nlet a</thinking>Answer')).toBe('Answer')
    expect(seen('<think>a <think>b</think>Answer')).toBe('Answer')
  })

  test('tags without a partner and empty ones are removed in front of an answer', () => {
    expect(seen('</think>\n<think/></final> <final>It is 42.')).toBe('It is 42.')
  })

  test.each(['a < b and c > d', '<thinker>x</thinker>', '<b>bold</b>', 'List<Thought', '< think>', '<', 'x </', '<thi'])(
    '%s is plain text',
    (text) => {
      if (text === 'List<Thought') expect(seen(`${text}s>`)).toBe('List<Thoughts>')
      else expect(seen(text)).toBe(text)
    },
  )

  test('a tag in which the text breaks off is not shown', () => {
    expect(seen('<think')).toBe('')
    expect(seen('<final answer="')).toBe('')
    expect(seen('<final>42</final')).toBe('42')
    expect(seen('Hello <think')).toBe('Hello <think')
    expect(read(['<think>deep</think']).reasoning).toBe('deep')
  })
})

describe('code', () => {
  test.each([
    'Write `<think>` first.',
    'Two: ``a ` <think>``.',
    '```xml\n<think>x</think>\n\n<final>\n```',
    '~~~\n<think>\n~~~',
    'in a list\n  ````\n```\n<think>\n````',
    'open to the end\n```\n<think>',
    '```\n<think>',
  ])('keeps everything: %s', (text) => {
    expect(seen(text)).toBe(text)
  })

  test('ends where its fence is closed', () => {
    expect(seen('<final>```\n</final>\n```\n</final>done')).toBe('```\n</final>\n```\ndone')
  })

  test('inside a line must end on that line: a lonely backtick hides no tag', () => {
    expect(seen('<final>it`s </final>so\nand `this`')).toBe('it`s so\nand `this`')
    expect(seen(`<final>\`${'x'.repeat(500)}</final>\``)).toBe(`\`${'x'.repeat(500)}\``)
  })

  test('begins in what is visible: a fence within reasoning is none', () => {
    expect(seen('<think>\n```\n</think>\n<think>more</think>Answer')).toBe('Answer')
  })
})

describe('final tags', () => {
  test('are removed, and what stands in them is shown', () => {
    expect(seen('<final>\nIt is 42.\n</final>')).toBe('It is 42.\n')
  })

  test('where the model must use them, only what stands inside is shown', () => {
    const text =
      'Let me see. <think>hm</think> <final>It is <thought>yes</thought>42.</final> Good? <think><final>No.</final></think><final>Yes.</final>'
    expect(seen(text, { finalOnly: true })).toBe('It is <thought>yes</thought>42.Yes.')
    expect(seen('never used', { finalOnly: true })).toBe('')
  })

  test('in code are text', () => {
    expect(seen('<final>Use `</final>` last.</final>rest', { finalOnly: true })).toBe('Use `</final>` last.')
  })
})

describe('delta by delta', () => {
  test('text is shown as soon as it cannot be a tag', () => {
    expect(read(['<', 'thi', 'nk>se', 'cret</thi', 'nk> Hel', 'lo <thi', 'nk> you', ' 1 <', ' 2']).steps).toEqual([
      '',
      '',
      '',
      '',
      'Hel',
      'lo <thi',
      'nk> you',
      ' 1 <',
      ' 2',
      '',
    ])
    expect(read(['<', 'b>', ' <fin', 'al>']).steps).toEqual(['', '<b>', ' <fin', 'al>', ''])
  })

  test('code within a line is shown when it is complete, as long as a tag may follow', () => {
    expect(read(['`a', ' b', '` here', ' `a', ' b`']).steps).toEqual(['', '', '`a b` here', ' `a', ' b`', ''])
    expect(read(['<final>see `a', ' b', '` here']).steps).toEqual(['see ', '', '`a b` here', ''])
  })

  test('white space before the first word is not shown', () => {
    expect(read(['<think>x</think>', '\n', '\n', ' Hi', ' you']).steps).toEqual(['', '', '', 'Hi', ' you', ''])
  })

  test('any split gives the same text, and no part of a tag or of reasoning is ever seen', () => {
    const random = seededRandom(79)
    const parts = [
      '<think>',
      '</think>',
      '<Thinking a="1">',
      '</thinking>',
      '<final>',
      '</final>',
      '<thi',
      '<',
      '>',
      '`',
      '``',
      '```',
      '```\n',
      '~~~\n',
      'word ',
      '\n',
      '\n\n',
      '  ',
      'x`y`',
      '<reasoning',
      ' a ',
      '/',
      'a'.repeat(390),
    ]
    for (let round = 0; round < 4000; round++) {
      const text = Array.from({ length: 1 + random.next() * 25 }, () => parts[Math.floor(random.next() * parts.length)]).join('')
      const options = { finalOnly: round % 3 === 0 }
      const { text: whole, reasoning } = read([text], options)
      const deltas: string[] = []
      for (let at = 0; at < text.length; ) {
        const end = at + 1 + Math.floor(random.next() ** 3 * 40)
        deltas.push(text.slice(at, end))
        at = end
      }
      expect(read(deltas, options)).toMatchObject({ text: whole, reasoning })
      if (round % 20 === 0) expect(read(text.split(''), options)).toMatchObject({ text: whole, reasoning })
      if (!options.finalOnly) expect(text.endsWith(whole) || /<\/final>/.test(text)).toBe(true)
      if (!/[`~]/.test(text)) expect(whole).not.toMatch(/^\s*<\/?(think|thinking|thought|reasoning|final)>/i)
    }
  })

  test('a text without tags passes unchanged, also a long one that arrives in small pieces', () => {
    const text = `A \`b\` < c.\n${'word '.repeat(40_000)}\n\`\`\`\n${'line\n'.repeat(1000)}\`\`\`\n\`${'y'.repeat(20_000)}`
    expect(read(text.match(/.{1,3}/gs) ?? []).text).toBe(text)
  })

  test('takes time in proportion to its length', () => {
    const pieces = (size: number) => `A \`b\` < c.\n${'word '.repeat(size)}\n\`\`\`\n${'line\n'.repeat(size)}\`\`\`\n`.match(/.{1,3}/gs) ?? []
    const reading = (size: number) => {
      const deltas = pieces(size)
      return () => void read(deltas)
    }
    expect(growth(40_000, reading)).toBeLessThan(growthMax)
  })
})

describe('a finished text', () => {
  test('is without tags and white space around it', () => {
    expect(cleanText('<think>hm</think>\n\n<final>\n It is 42. \n</final>\n')).toBe('It is 42.')
    expect(cleanText('a<final>b</final>', { finalOnly: true })).toBe('b')
  })

  test('keeps a paragraph that follows itself', () => {
    const text = 'One.\n\nTwo words.\n\nTwo\nwords.\n\n\nTwo  words.\n\nOne.'
    expect(cleanText(text)).toBe(text)
  })

  test('may have a great many lines', () => {
    expect(cleanText('line\n'.repeat(300_000)).length).toBe(5 * 300_000 - 1)
  })

  test('keeps code that stands there twice', () => {
    const text = '```\na\n\na\n\na\n```\n\n```\nb\n```\n\n```\nb\n```'
    expect(cleanText(text)).toBe(text)
  })
})

describe('an answer recorded without references', () => {
  test.each([
    ['First. <thought>two</thought>Second.', 'First. Second.'],
    ['a</think>b<think/>c</final>d<final>e', 'abcde'],
    ['Hello <think', 'Hello'],
    ['One.\n\nTwo words.\n\nTwo\nwords.\n\n\nTwo  words.\n\nOne.', 'One.\n\nTwo words.\n\nOne.'],
    ['```\nYes.\n\nYes.\n```\n\nYes.\n\nYes.', '```\nYes.\n\nYes.\n```\n\nYes.'],
  ])('is read by the rules of its time: %j', (text, shown) => {
    expect(cleanText(text, { earlier: true })).toBe(shown)
    expect(mayHide(text)).toBe(true)
  })

  test.each(['a < b and c > d', '<thinker>x</thinker>', 'One.\n\nTwo.\n\nOne.', 'Row, row.'])('would be %j today as well', (text) => {
    expect([cleanText(text), cleanText(text, { earlier: true }), mayHide(text)]).toEqual([text, text, false])
  })
})

test('what is let through is followed line by line', () => {
  const code = codeTracker()
  expect(code.atLineStart()).toBe(true)
  code.pass('  ')
  expect(code.atLineStart()).toBe(true)
  code.pass('a')
  expect(code.atLineStart()).toBe(false)
  code.pass('\n```\n')
  expect(code.atLineStart()).toBe(false)
  expect(code.keptAt('x\ny', 0, false)).toBe(2)
  code.pass('x\n```\n')
  expect(code.atLineStart()).toBe(true)
  expect(code.keptAt('x', 0, false)).toBe(0)
  expect(code.keptAt('`x', 0, false)).toBe(undefined)
  expect(code.keptAt('`x', 0, true)).toBe(1)
  expect(code.keptAt('`x` y', 0, false)).toBe(3)
})
