import { expect, test } from 'vitest'
import type { ErrorBody } from '../../../src/contracts/errors.ts'
import { resetCauseOf } from '../../../src/machines/turn/broken-history.rules.ts'

const anError = (some: Partial<ErrorBody>): ErrorBody => ({ code: 'internal', message: 'boom', retryable: false, ...some })

test('a conversation begins anew for a history that is too long, in the wrong order or damaged, and by nothing else', () => {
  expect(resetCauseOf(anError({ code: 'provider_overflow' }))).toBe('overflow')
  expect(resetCauseOf(anError({ code: 'provider_rejected', message: 'roles must alternate' }))).toBe('role_ordering')
  expect(resetCauseOf(anError({ code: 'provider_rejected', message: '`tool_use` ids were found without `tool_result` blocks' }))).toBe(
    'corrupted_calls',
  )
  expect(resetCauseOf(anError({ code: 'provider_rejected', message: "messages with role 'tool' must be a response to a preceding message" }))).toBe(
    'corrupted_calls',
  )
  expect(resetCauseOf(anError({ code: 'provider_rejected' }))).toBe(undefined)
  expect(resetCauseOf(anError({ code: 'internal', message: 'roles must alternate' }))).toBe(undefined)
})

test('a summary that failed is a reason where its text was refused, not where another try may know better', () => {
  const failed = (code: ErrorBody['code']) => resetCauseOf(anError({ code, data: { compaction: true } }))

  expect(failed('provider_malformed')).toBe('compaction_failure')
  expect(failed('provider_auth')).toBe(undefined)
})
