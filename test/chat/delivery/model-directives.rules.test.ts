/** What a model asks for within its text is taken out of it and done, where what it names exists (OC-78). */
import { describe, expect, test } from 'vitest'
import {
  type Directed,
  type DirectiveOptions,
  joinDirected,
  modelDirectives,
  parseModelDirectives,
} from '../../../src/chat/delivery/model-directives.rules.ts'
import type { References } from '../../../src/contracts/references.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'
import { growth, growthMax } from '../../support/growth.ts'

/** What is there in all tests. */
const references: References = {
  files: ['out/chart.png', 'out/my chart.PNG', 'song.mp3', 'a..b/c.png', 'a b.png', 'a.ogg', 'a.png', 'b/c.ogg', 'd.png'],
  messages: ['m1', 'm 7', 'a', 'b', 'x1'],
}
const parse = (text: string, options: DirectiveOptions = {}) => parseModelDirectives(text, { references, ...options })

const steps = (deltas: string[], options: DirectiveOptions = {}): Directed[] => {
  const { push, end } = modelDirectives(options)
  return [...deltas.map((delta) => push(delta)), end(references)]
}
const read = (deltas: string[], options?: DirectiveOptions) => steps(deltas, options).reduce(joinDirected)
const nothing = { text: '', media: [], refused: [] }

describe('media lines', () => {
  test.each(['https://example.org/a.png', 'HTTP://example.org/a?b=c#d', './out/chart.png', 'out/my chart.PNG', 'song.mp3', 'a..b/c.png'])(
    '%s is sent',
    (address) => {
      expect(parse(`Here:\nMEDIA: ${address}\nGood?`)).toEqual({ text: 'Here:\nGood?', media: [address], refused: [] })
    },
  )

  test.each([
    '/etc/passwd',
    '~/secret.png',
    '~root/x.png',
    '../up.png',
    'a/../../up.png',
    'a/..',
    'a\\..\\b.png',
    '%2e%2E/up.png',
    'C:\\x.png',
    '\\\\host\\x.png',
    'file:///etc/passwd',
    'FILE://x',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'https://',
    'https://a b.org/x',
    'a\u0000.png',
  ])('%s is refused and reported: its line is text', (address) => {
    const text = `Here:\n  MEDIA: ${address}\nGood?`
    expect(parse(text)).toEqual({ text, media: [], refused: [address] })
    expect(parse(text, { earlier: true })).toEqual({ text: 'Here:\nGood?', media: [], refused: [address] })
  })

  test('quotes, brackets and white space around an address do not belong to it', () => {
    for (const line of ['"a b.png"', "'a b.png'", '`a b.png`', '<a b.png>', '  a b.png  '])
      expect(parse(`  MEDIA:${line}`).media).toEqual(['a b.png'])
    expect(parse('MEDIA: "/etc/x.png"').refused).toEqual(['/etc/x.png'])
  })

  test.each(['MEDIA: print and television', 'MEDIA:', 'Media: a.png', 'the MEDIA: a.png', 'MEDIA: it took 3.30', '> MEDIA: a.png', 'MEDIAN: a.png'])(
    '%s is a sentence',
    (text) => {
      expect(parse(`${text}\nnext`)).toEqual({ ...nothing, text: `${text}\nnext` })
    },
  )

  test.each(['out/none.png', 'disk.error.txt', 'chart.png'])('%s is not there: its line is text', (address) => {
    const text = `Here:\nMEDIA: ${address} [[audio_as_voice]]\nGood?`
    expect(parse(text)).toEqual({ ...nothing, text: `Here:\nMEDIA: ${address} \nGood?`, voice: true })
    expect(parse(text, { earlier: true })).toMatchObject({ text: 'Here:\nGood?', media: [address] })
  })

  test('an address without end is none', () => {
    const text = `a\nMEDIA: data:image/png;base64,${'A'.repeat(5000)}\nb`
    expect(parse(text)).toEqual({ ...nothing, text })
    const { text: before, refused } = parse(text, { earlier: true })
    expect([before, refused.length]).toEqual(['a\nb', 1])
    expect(refused[0]).toMatch(/^data:image\/png;base64,A+…$/)
  })

  test('a voice tag on the line counts', () => {
    expect(parse('MEDIA: a.ogg [[audio_as_voice]]')).toEqual({ ...nothing, media: ['a.ogg'], voice: true })
    expect(parse('[[audio_as_voice]] MEDIA: a.ogg')).toEqual({ ...nothing, media: ['a.ogg'], voice: true })
  })
})

describe('tags', () => {
  test('name the message that is answered', () => {
    expect(parse('[[reply_to_current]] Hi', { messageId: 'm1' })).toEqual({ ...nothing, text: 'Hi', replyTo: 'm1', replyTagged: true })
    expect(parse('[[ Reply_To : m 7 ]]\nHi')).toEqual({ ...nothing, text: 'Hi', replyTo: 'm 7', replyTagged: true })
    expect(parse('[[reply_to: a]][[reply_to: b]]x').replyTo).toBe('b')
  })

  test('that name the current message are removed where there is none', () => {
    expect(parse('[[reply_to_current]]Hi')).toEqual({ ...nothing, text: 'Hi' })
  })

  test('that name another message are text', () => {
    const text = 'See [[reply_to: x]] and [[reply_to:main page]].'
    expect(parse(text)).toEqual({ ...nothing, text })
    expect(parse(text, { messageId: 'x' })).toMatchObject({ text: 'See and [[reply_to:main page]].', replyTo: 'x' })
    expect(parse(text, { earlier: true })).toMatchObject({ text: 'See and .', replyTo: 'main page' })
  })

  test('leave no gap behind', () => {
    expect(parse('Say [[audio_as_voice]] it').text).toBe('Say it')
    expect(parse('Say[[audio_as_voice]] it').text).toBe('Say it')
    expect(parse('One\n[[audio_as_voice]] \nTwo').text).toBe('One\nTwo')
    expect(parse('One [[audio_as_voice]]\nTwo').text).toBe('One \nTwo')
  })

  test.each([
    '[[link]]',
    '[[reply_to:]]',
    '[[reply_to: ]]',
    '[[reply_to_currently]]',
    '[audio_as_voice]',
    '[[audio_as_voice]',
    'a [[',
    '[',
    '[x](y)',
    '[[reply_to: a\nb]]',
  ])('%s is plain text', (text) => {
    expect(parse(`${text} .`)).toEqual({ ...nothing, text: `${text} .` })
  })

  test('in which the text breaks off are text', () => {
    expect(['Hi [[reply_to: m', 'Hi [[au', 'Hi [['].map((text) => parse(text).text)).toEqual(['Hi [[reply_to: m', 'Hi [[au', 'Hi [['])
    expect(['Hi [[reply_to: m', 'Hi [[au', 'Hi [['].map((text) => parse(text, { earlier: true }).text)).toEqual(['Hi ', 'Hi ', 'Hi [['])
  })
})

test.each(['`[[reply_to_current]]`', '```\nMEDIA: a.png\n[[audio_as_voice]]\n```', '~~~\nMEDIA: /etc/x\n~~~', '`MEDIA: a.png`'])(
  'code is left alone: %s',
  (text) => {
    expect(parse(text)).toEqual({ ...nothing, text })
  },
)

describe('delta by delta', () => {
  test('no fragment is shown', () => {
    const shown = steps(['Hi [', '[reply_', 'to: m', '1]] you\nME', 'DIA: ', 'https://e.org/a.p', 'ng\nMore'], { messageId: 'm1' })
    expect(shown.map(({ text }) => text)).toEqual(['Hi ', '', '', 'you\n', '', '', 'More', ''])
    expect(shown[3]).toMatchObject({ replyTo: 'm1', replyTagged: true })
    expect(shown[6]?.media).toEqual(['https://e.org/a.png'])
  })

  test('what names a file or another message waits for the end, and all behind it', () => {
    const shown = steps(['One\nMEDIA: ', 'a.png\nTwo', ' three\n', '[[reply_to: x]]'])
    expect(shown.map(({ text }) => text)).toEqual(['One\n', '', '', '', 'Two three\n[[reply_to: x]]'])
    expect(shown.at(-1)?.media).toEqual(['a.png'])
  })

  test('what only looked like one is shown as soon as that is known', () => {
    expect(steps(['a [[re', 'd]]\nMED', 'AL']).map(({ text }) => text)).toEqual(['a ', '[[red]]\n', 'MEDAL', ''])
  })

  test('any split gives the same', () => {
    const random = seededRandom(78)
    const parts = [
      '[[reply_to_current]]',
      '[[reply_to: x1]]',
      '[[audio_as_voice]]',
      '[[reply_to',
      '[[',
      '[',
      ']]',
      'MEDIA: a.png\n',
      'MEDIA: /x\n',
      'MEDIA:',
      'word ',
      '\n',
      '\n\n',
      '  ',
      '\t',
      '`',
      '``',
      '```\n',
      '~~~\n',
      ' '.repeat(19),
      'b/c.ogg',
      '"',
      'MED',
      ':',
      ' MEDIA: "d.png"',
      'z'.repeat(1500),
    ]
    for (let round = 0; round < 4000; round++) {
      const text = Array.from({ length: 1 + random.next() * 25 }, () => parts[Math.floor(random.next() * parts.length)]).join('')
      const whole = parse(text, { messageId: 'm' })
      const deltas: string[] = []
      for (let at = 0; at < text.length; ) {
        const end = at + 1 + Math.floor(random.next() ** 3 * 40)
        deltas.push(text.slice(at, end))
        at = end
      }
      expect(read(deltas, { messageId: 'm' })).toEqual(whole)
      if (round % 20 === 0) expect(read(text.split(''), { messageId: 'm' })).toEqual(whole)
      if (!/[`~]/.test(text)) expect(whole.text).not.toMatch(/\[\[(reply_to_current|audio_as_voice)\]\]|^MEDIA: a\.png$/m)
    }
  })

  test('a text without directives passes unchanged, also a long one in small pieces', () => {
    const text = `${'word [1] '.repeat(20_000)}\n\n${' '.repeat(3000)}${'line\n'.repeat(5000)}`
    expect(read(text.match(/.{1,3}/gs) ?? []).text).toBe(text)
  })

  test('takes time in proportion to its length', () => {
    const reading = (size: number) => {
      const deltas = `${'word [1] '.repeat(size)}\n\n${' '.repeat(size / 8)}${'line\n'.repeat(size / 4)}`.match(/.{1,3}/gs) ?? []
      return () => void read(deltas)
    }
    expect(growth(16_000, reading)).toBeLessThan(growthMax)
  })
})
