/** Whatever people, models and providers write, reading it takes no longer than its length: for each reader, texts made to be slow. */
import { describe, expect, test } from 'vitest'
import { chunker, chunkText } from '../../src/chat/delivery/chunker.rules.ts'
import { fenceOpenedBy } from '../../src/chat/delivery/code.rules.ts'
import { errorText, safeText } from '../../src/chat/delivery/error-text.rules.ts'
import { parseModelDirectives as modelDirectives } from '../../src/chat/delivery/model-directives.rules.ts'
import { channelTexts, shaped } from '../../src/chat/delivery/payload.rules.ts'
import { normalised } from '../../src/chat/delivery/sent-by-tools.rules.ts'
import { heartbeatAlert, isSilent, partialText, withoutTokens } from '../../src/chat/delivery/silent-tokens.rules.ts'
import { cleanText, visibleText } from '../../src/chat/delivery/visible-text.rules.ts'
import { abortWord, parseDirectives } from '../../src/chat/directives/directives.rules.ts'
import { checklistEmpty } from '../../src/chat/heartbeat/heartbeat.rules.ts'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { redact } from '../../src/contracts/redact.ts'
import { defaultTokens } from '../../src/contracts/reply.ts'
import { wildcard } from '../../src/contracts/wildcard.ts'
import { supportedThinking } from '../../src/machines/loop/thinking-support.rules.ts'
import { eventLines } from '../../src/machines/session/prompt-notes.rules.ts'
import { classify } from '../../src/models/classify.ts'
import { decideOffline } from '../../src/models/offline/offline.ts'
import { growth, growthMax } from '../support/growth.ts'

const units = [
  ' ',
  '\n',
  '\r',
  '\n \n',
  ')',
  '(',
  '( ',
  ') ',
  '1 ',
  '1+',
  '1-',
  'a ',
  'a',
  '+1; ',
  'and ',
  '[',
  '[[',
  '[[a',
  '<',
  '</',
  '<a',
  '<a b',
  '<think',
  '`',
  '` ',
  '``` \n',
  '```\n',
  '~~~\n',
  '*',
  '_',
  '/x ',
  '/new ',
  '/',
  '.',
  '. ',
  '\\',
  '"',
  '"a":',
  'https://',
  'https://a',
  'https://a@',
  'key=',
  'key: ',
  'Bearer ',
  'token=a&',
  'sk-',
  '-----BEGIN ',
  'eyJ',
  'eyJa.',
  'NO_REPLY',
  'NO_REPLY ',
  'x NO_REPLY ',
  'HEARTBEAT_OK\n',
  '&nbsp;',
  'MEDIA:',
  'MEDIA: ',
  'at a',
  '\nat ',
  '{',
  '- [ ] ',
  'read ',
  'read a.',
  'what ',
  '20% of ',
  '😀',
  '\u2028',
  'image ',
  'tool_use ',
]

const readers: Record<string, (text: string) => unknown> = {
  'the offline stand-in': (text) => decideOffline([{ role: 'user', id: 'u', text }], ['calculate', 'now']),
  'texts of errors': (text) => errorText(new RuntimeError('bad_request', text, { hint: text }).toJSON()),
  'texts of unknown origin': safeText,
  'errors of providers': (text) => classify(Object.assign(new Error(text), { responseBody: text }), { now: 0 }),
  'refusals of a level': (text) => supportedThinking(new RuntimeError('provider_rejected', text, { data: { body: text } }).toJSON()),
  secrets: (text) => redact(text),
  'cuts of a text': (text) => chunkText(text, { max: 300 }),
  'a fence': (text) => fenceOpenedBy(text.replaceAll('\n', ' ')),
  'chunks of a stream': (text) => {
    const { push, drain } = chunker()
    for (let at = 0; at < text.length; at += 7) push(text.slice(at, at + 7))
    drain()
  },
  'visible text of a stream': (text) => {
    const { push, end } = visibleText()
    for (let at = 0; at < text.length; at += 7) push(text.slice(at, at + 7))
    end()
  },
  'finished text': (text) => cleanText(text),
  'orders of people': (text) => parseDirectives(text),
  'words that stop': abortWord,
  'orders of models': (text) => modelDirectives(text),
  'words for silence': (text) => [isSilent(text, defaultTokens), withoutTokens({ text }, defaultTokens), partialText(text, defaultTokens)],
  'words of heartbeats': (text) => heartbeatAlert({ text }, defaultTokens),
  'lists of a heartbeat': checklistEmpty,
  'events told to a model': (text) => eventLines([{ at: 0, text }]),
  'texts that were sent': normalised,
  // A channel that takes less than the shorter of the two that are compared: that would be let through as it is, and nothing grows from nothing.
  'messages of a channel': (text) => [shaped({ text }, defaultTokens), channelTexts({ text }, 300, 'off')],
  'names with wildcards': wildcard('*a*a*a*b'),
}

describe.each(Object.entries(readers))('%s', (_, read) => {
  test('take time by the length of a text, and no more', () => {
    const slow = units.flatMap((unit) =>
      ['', '1', 'x '].flatMap((begin) => {
        const ratio = growth(6000, (size) => {
          const text = `${begin}${unit.repeat(size / unit.length)}\u2028x`
          return () => read(text)
        })
        return ratio > growthMax ? [`${JSON.stringify(begin + unit)}: ${ratio.toFixed(1)}`] : []
      }),
    )

    expect(slow).toEqual([])
  })
})

test('a chunker that may wait long reads each line once', () => {
  const ratio = growth(3000, (size) => () => {
    const { push } = chunker({ min: 10, max: 8 * size })
    for (let line = 0; line < size; line++) push('short\n')
  })

  expect(ratio).toBeLessThan(growthMax)
})

test('a chunker looks at each piece of code once to find a pause', () => {
  const ratio = growth(6000, (size) => {
    const text = `${'```\n```\n'.repeat(size)}\`\`\`\n${'a b '.repeat(2 * size)}`
    return () => chunkText(text, { max: text.length - 10 })
  })

  expect(ratio).toBeLessThan(growthMax)
})
