/** What a tool has sent is not said again (OC-77). */
import { expect, test } from 'vitest'
import { normalised, rememberSent, type SentTexts, wasSent, withoutSent, wroteTo } from '../../../src/chat/delivery/sent-by-tools.rules.ts'

const sent = (...texts: string[]) => texts.reduce<SentTexts>(rememberSent, [])

test('texts are compared in lower case, without emoji, with single spaces', () => {
  expect(normalised('  The 👩‍👩‍👧 REPORT\n\n is ❤️ ready 🇩🇪 1️⃣ 👍🏽 ')).toBe('the report is ready 1')
})

test('an equal text was sent, and one that contains another or is contained in it', () => {
  const before = sent('The report is ready. 🎉')
  expect(wasSent(before, 'the REPORT   is ready.')).toBe(true)
  expect(wasSent(before, 'Done: the report is ready. Anything else?')).toBe(true)
  expect(wasSent(before, 'report is ready')).toBe(true)
  expect(wasSent(before, 'The report is late.')).toBe(false)
})

test('texts of less than ten characters are never the same', () => {
  expect(wasSent(sent('123456789'), '123456789')).toBe(false)
  expect(wasSent(sent('1234567890'), '1234567890')).toBe(true)
  expect(wasSent(sent('1234567890'), '123456789')).toBe(false)
  expect(wasSent(sent('12345678🎉🎉🎉'), '12345678🎉🎉🎉')).toBe(false)
})

test('the last 200 are remembered', () => {
  const many = sent(...Array.from({ length: 250 }, (_, index) => `message number ${String(index).padStart(3, '0')}`))
  expect(many).toHaveLength(200)
  expect(wasSent(many, 'message number 049')).toBe(false)
  expect(wasSent(many, 'message number 050')).toBe(true)
})

test('of a payload that repeats what was sent, its media are left', () => {
  const before = sent('The report is ready.')
  const other = { text: 'Something else entirely' }
  expect(
    withoutSent(before, [{ text: 'The report is ready.' }, other, { text: 'The report is ready.', media: ['r.pdf'] }, { media: ['s.pdf'] }]),
  ).toEqual([other, { media: ['r.pdf'] }, { media: ['s.pdf'] }])
})

test('a tool wrote where the answer goes if channel, receiver and account are the same', () => {
  const origin = { channel: 'chat', to: 'ann', account: 'work' }
  expect(
    wroteTo(
      [
        { channel: 'mail', to: 'ann' },
        { channel: 'chat', to: 'ann', account: 'work' },
      ],
      origin,
    ),
  ).toBe(true)
  expect(wroteTo([{ channel: 'chat', to: 'ann' }], origin)).toBe(true)
  expect(wroteTo([{ channel: 'chat', to: 'ann', account: 'home' }], origin)).toBe(false)
  expect(wroteTo([{ channel: 'chat', to: 'bob', account: 'work' }], origin)).toBe(false)
  expect(wroteTo([], origin)).toBe(false)
})
