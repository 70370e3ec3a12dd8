/** Tokens of a model are obeyed, and never read by a user (OC-67, 75, 105). */
import { describe, expect, test } from 'vitest'
import { heartbeatAlert, isSilent, partialText, withoutTokens } from '../../../src/chat/delivery/silent-tokens.rules.ts'
import { defaultTokens as tokens } from '../../../src/contracts/reply.ts'

describe('the silent token', () => {
  test.each([
    'NO_REPLY',
    ' NO_REPLY\n',
    'NO_REPLY.',
    '**NO_REPLY**',
    '_NO_REPLY_',
    'NO_REPLY: nothing to say',
    'I am done. NO_REPLY',
    'Готово. NO_REPLY!',
    'NO_REPLYX NO_REPLY',
  ])('silences: %s', (text) => {
    expect(isSilent(text, tokens)).toBe(true)
    expect(withoutTokens({ text }, tokens)).toEqual({ stripped: false })
  })

  test.each(['', 'Hello', 'Say NO_REPLY to be silent', 'NO_REPLYING', 'NO_REPLY_2', 'MY_NO_REPLY', 'no_reply', 'Скажи NO_REPLY им'])(
    'does not silence: %s',
    (text) => {
      expect(isSilent(text, tokens)).toBe(false)
      expect(withoutTokens({ text }, tokens)).toEqual({ payload: { text }, stripped: false })
    },
  )

  test('takes the text away from media', () => {
    expect(withoutTokens({ text: 'NO_REPLY', media: ['a.png'], replyTo: 'm' }, tokens)).toEqual({
      payload: { media: ['a.png'], replyTo: 'm' },
      stripped: false,
    })
  })

  test('is none where none is set', () => {
    expect(isSilent('anything', { silent: '', heartbeat: '' })).toBe(false)
    expect(withoutTokens({ text: 'anything' }, { silent: '', heartbeat: '' })).toEqual({ payload: { text: 'anything' }, stripped: false })
  })
})

describe('a heartbeat token outside of a heartbeat', () => {
  test.each([
    'HEARTBEAT_OK',
    ' HEARTBEAT_OK\n',
    '**HEARTBEAT_OK**',
    '<b>HEARTBEAT_OK</b>',
    '`HEARTBEAT_OK`',
    '_HEARTBEAT_OK_',
    'HEARTBEAT_OK.',
    'HEARTBEAT_OK HEARTBEAT_OK!',
    '*HEARTBEAT_OK*.',
    '&nbsp;HEARTBEAT_OK',
  ])('alone is no message: %s', (text) => {
    expect(withoutTokens({ text }, tokens)).toEqual({ stripped: true })
  })

  test.each([
    ['HEARTBEAT_OK All is well.', 'All is well.'],
    ['All is well. HEARTBEAT_OK', 'All is well.'],
    ['All is well.\n\n**HEARTBEAT_OK**.', 'All is well.'],
    ['**HEARTBEAT_OK** All is well.', 'All is well.'],
    ['HEARTBEAT_OK\nFine.\nHEARTBEAT_OK', 'Fine.'],
    ['**HEARTBEAT_OK all is well**', '**all is well**'],
    ['**All is well HEARTBEAT_OK**', '**All is well**'],
    ['HEARTBEAT_OK **Good**', '**Good**'],
    ['All **good** HEARTBEAT_OK', 'All **good**'],
  ])('at an edge is taken off: %s', (text, rest) => {
    expect(withoutTokens({ text, replyTo: 'm' }, tokens)).toEqual({ payload: { text: rest, replyTo: 'm' }, stripped: true })
  })

  test.each(['Say HEARTBEAT_OK if so.', 'HEARTBEAT_OKAY', 'HEARTBEAT_OK_2 is a name', 'MY_HEARTBEAT_OK'])('in the middle is text: %s', (text) => {
    expect(withoutTokens({ text }, tokens)).toEqual({ payload: { text }, stripped: false })
  })

  test('leaves media', () => {
    expect(withoutTokens({ text: 'HEARTBEAT_OK', media: ['a.png'] }, tokens)).toEqual({ payload: { media: ['a.png'] }, stripped: true })
    expect(withoutTokens({ media: ['a.png'] }, tokens)).toEqual({ payload: { media: ['a.png'] }, stripped: false })
  })
})

describe('in a heartbeat', () => {
  test('an acknowledgement with at most 300 characters more is nothing to send', () => {
    expect(heartbeatAlert({ text: 'HEARTBEAT_OK' }, tokens)).toBe(undefined)
    expect(heartbeatAlert({ text: `HEARTBEAT_OK ${'a'.repeat(300)}` }, tokens)).toBe(undefined)
    expect(heartbeatAlert({ text: `${'a'.repeat(300)} HEARTBEAT_OK` }, tokens)).toBe(undefined)
    expect(heartbeatAlert({ text: 'NO_REPLY' }, tokens)).toBe(undefined)
  })

  test('anything else is an alert, without the token', () => {
    expect(heartbeatAlert({ text: `HEARTBEAT_OK ${'a'.repeat(301)}` }, tokens)).toEqual({ text: 'a'.repeat(301) })
    expect(heartbeatAlert({ text: 'The disk is full.' }, tokens)).toEqual({ text: 'The disk is full.' })
    expect(heartbeatAlert({ text: 'No HEARTBEAT_OK today.' }, tokens)).toEqual({ text: 'No HEARTBEAT_OK today.' })
  })

  test('media are sent in any case', () => {
    expect(heartbeatAlert({ text: 'HEARTBEAT_OK', media: ['a.png'] }, tokens)).toEqual({ media: ['a.png'] })
    expect(heartbeatAlert({ media: ['a.png'] }, tokens)).toEqual({ media: ['a.png'] })
  })
})

describe('while a text grows', () => {
  const growing = (text: string) => Array.from(text, (_, index) => partialText(text.slice(0, index + 1), tokens))

  test.each(['NO_REPLY', '  NO_REPLY', '**NO_REPLY**', 'NO_REPLY because nothing happened', 'HEARTBEAT_OK'])(
    'nothing of %s is shown, letter by letter',
    (text) => {
      expect(growing(text).every((partial) => partial === '')).toBe(true)
    },
  )

  test('a text that only begins like a token is shown as soon as it differs', () => {
    expect(growing('No, why?').slice(0, 3)).toEqual(['', 'No', 'No,'])
    expect(growing('NO_REPLYING').at(-1)).toBe('NO_REPLYING')
  })

  test('no part of a token at the end is shown', () => {
    for (const token of ['NO_REPLY', 'HEARTBEAT_OK'])
      expect(growing(`All is well. ${token}`).every((partial) => !partial.includes(token.slice(0, 3)))).toBe(true)
    expect(partialText('HEARTBEAT_OK All is well', tokens)).toBe('All is well')
    expect(partialText('CASINO_', tokens)).toBe('CASINO_')
  })
})
