import { expect, test } from 'vitest'
import { abortedNote, eventLines, withNotes } from '../../../src/machines/session/prompt-notes.rules.ts'

const at = Date.parse('2026-01-05T14:03:22Z')

test('a prompt has the note of a stopped run, then events, then the text, then the hint [OC-38]', () => {
  const prompt = withNotes('go on', { aborted: true, events: [{ at, text: 'the model is now x/y' }], hint: '[message id: m1]' })

  expect(prompt).toBe(`${abortedNote}\n\nSystem [2026-01-05 14:03:22 UTC]: the model is now x/y\n\ngo on\n[message id: m1]`)
})

test('a prompt of which there is nothing to say is its text', () => {
  expect(withNotes('hello', {})).toBe('hello')
  expect(withNotes('hello', { aborted: false, events: [] })).toBe('hello')
  expect(withNotes('', { hint: '[message id: m1]' })).toBe('[message id: m1]')
})

test('events stand in order, each on one line, in the time of the gateway [OC-38]', () => {
  const lines = eventLines(
    [
      { at, text: 'job 7\n  has  finished ' },
      { at: at + 36_000_000, text: 'elevated is on' },
    ],
    'Europe/Berlin',
  )

  expect(lines).toEqual([
    'System [2026-01-05 15:03:22 Europe/Berlin]: job 7 has finished',
    'System [2026-01-06 01:03:22 Europe/Berlin]: elevated is on',
  ])
})

test('what heartbeats leave behind is no event [OC-38]', () => {
  const noise = ['', ' \n', 'HEARTBEAT_OK', '**HEARTBEAT_OK**', '<b>HEARTBEAT_OK</b>.', 'Heartbeat poll at noon', 'heartbeat wake']

  expect(eventLines([...noise.map((text) => ({ at, text })), { at, text: 'disk is full', source: 'heartbeat' }])).toEqual([])
  expect(eventLines([{ at, text: 'heartbeat of server 7 is gone' }])).toHaveLength(1)
  expect(eventLines([{ at, text: 'HEARTBEAT_OK came late' }])).toHaveLength(1)
})

test('the word of acknowledgement is the configured one', () => {
  const tokens = { silent: 'PSST', heartbeat: 'ALL WELL' }

  expect(
    eventLines(
      ['ALL WELL', 'HEARTBEAT_OK'].map((text) => ({ at, text })),
      'UTC',
      tokens,
    ),
  ).toHaveLength(1)
})
