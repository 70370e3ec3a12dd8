/** A failure is told in words that are safe to read (OC-34, 55). */
import { describe, expect, test } from 'vitest'
import { errorText, resetText, safeText } from '../../../src/chat/delivery/error-text.rules.ts'
import { type ErrorBody, type ErrorCode, errorCodes } from '../../../src/contracts/errors.ts'

const anError = (some: Partial<ErrorBody>): ErrorBody => ({ code: 'internal', message: 'boom', retryable: false, ...some })
const codes = Object.keys(errorCodes) as ErrorCode[]
const raw = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_123"}'

test.each(codes)('%s is a short text without braces, whatever was in the error', (code) => {
  for (const message of [raw, `429 ${raw}`, '<html><body>502</body></html>', 'x'.repeat(5000), 'a {b', ''])
    for (const hint of [undefined, raw, 'y'.repeat(5000)]) {
      const text = errorText(anError({ code, message, ...(hint === undefined ? {} : { hint }), data: { body: raw } }))
      expect(text).toMatch(/^[A-Z].{5,598}[.!?…]$/)
      expect(text).not.toMatch(/[{}<>]|req_123/)
    }
})

test.each(codes.filter((code) => /^(provider_|tool_)|^internal$/.test(code)))(
  '%s tells nothing of what a provider, a tool or a program wrote',
  (code) => {
    expect(errorText(anError({ code, message: 'the-raw-words' }))).not.toContain('the-raw-words')
  },
)

test('our own words and hints are told, each as a sentence', () => {
  expect(errorText(anError({ code: 'budget_steps', message: '12 of 12 steps', hint: 'ask for less' }))).toBe(
    'The turn used all its steps. 12 of 12 steps. Ask for less.',
  )
})

describe('what a provider means', () => {
  test.each<[Partial<ErrorBody>, RegExp]>([
    [{ code: 'provider_rate_limit' }, /asked too often/],
    [{ code: 'provider_unavailable', message: 'Overloaded' }, /overloaded/],
    [{ code: 'provider_unavailable', data: { body: raw } }, /overloaded/],
    [{ code: 'provider_unavailable', message: 'socket hang up' }, /server may be down, or the conversation too long/],
    [{ code: 'provider_unavailable', message: 'read ECONNRESET' }, /server may be down, or the conversation too long/],
    [{ code: 'provider_unavailable', message: 'getaddrinfo' }, /cannot be reached/],
    [{ code: 'provider_timeout' }, /in time/],
    [{ code: 'timeout' }, /too long/],
    [{ code: 'provider_overflow' }, /too long for the model/],
    [{ code: 'provider_rejected', message: 'image exceeds 5 MB maximum' }, /image is too large/],
    [{ code: 'provider_rejected', message: 'messages: roles must alternate between "user" and "assistant"' }, /order of the messages/],
    [{ code: 'provider_rejected', data: { body: 'function call turn comes immediately after a user turn' } }, /tool calls/],
    [{ code: 'provider_rejected', message: 'no' }, /refused/],
  ])('%o', (error, text) => {
    expect(errorText(anError(error))).toMatch(text)
  })
})

describe('a session that begins anew', () => {
  test('is explained, with the way out', () => {
    for (const cause of ['compaction_failure', 'overflow', 'role_ordering', 'corrupted_calls'] as const)
      expect(resetText(cause)).toMatch(/please try again/i)
    for (const cause of ['compaction_failure', 'overflow'] as const) expect(resetText(cause)).toMatch(/larger compaction reserve/)
    for (const cause of ['role_ordering', 'corrupted_calls'] as const) expect(resetText(cause)).not.toMatch(/reserve/)
  })
})

test('a text of unknown origin is cut at 600 characters, and replaced where it is data', () => {
  expect(safeText(' The disk\nis full. ')).toBe('The disk is full.')
  expect(safeText('a'.repeat(600))).toHaveLength(600)
  expect(safeText('a'.repeat(601))).toBe(`${'a'.repeat(599)}…`)
  expect(safeText(`${'a'.repeat(598)}😀😀`).isWellFormed()).toBe(true)
  for (const data of [raw, '["a"]', '<p>no</p>', '']) expect(safeText(data)).toBe('Something went wrong while answering. Please try again.')
})
