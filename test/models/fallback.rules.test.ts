import { describe, expect, test } from 'vitest'
import { type ErrorBody, type ErrorCode, errorCodes } from '../../src/contracts/errors.ts'
import { retryableModelError } from '../../src/contracts/model.ts'
import type { Attempt } from '../../src/contracts/turn.ts'
import { candidates, failoverReason, failureSummary, fallbacksFor, windowGuard } from '../../src/models/fallback.rules.ts'

const error = (code: ErrorCode, message = code as string, data?: Record<string, unknown>): ErrorBody => ({
  code,
  message,
  retryable: false,
  ...(data === undefined ? {} : { data }),
})

describe('the models to try [OC-48]', () => {
  test.each([
    ['the one that was asked for, its fallbacks', { model: 'a/1', fallbacks: ['b/1', 'c/1'] }, ['a/1', 'b/1', 'c/1']],
    ['the primary comes last', { model: 'a/1', primary: 'p/1' }, ['a/1', 'p/1']],
    ['an empty list is a list: nothing else is tried', { model: 'a/1', fallbacks: [] }, ['a/1']],
    ['each is tried once', { model: 'p/1', fallbacks: ['b/1', 'p/1', 'b/1'], primary: 'p/1' }, ['p/1', 'b/1']],
  ])('%s', (_, input, expected) => {
    expect(candidates(input)).toEqual(expected)
  })

  test('of those for all agents, those that the users of one may not choose are passed over', () => {
    expect(fallbacksFor(['b/1', 'c/1'], ['c/1'])).toEqual(['c/1'])
    expect(fallbacksFor(['b/1', 'c/1'], undefined)).toEqual(['b/1', 'c/1'])
  })
})

describe('whether another one may do better [OC-49]', () => {
  test.each<[ErrorCode, string, string | undefined]>([
    ['provider_billing', 'the provider wants payment', 'billing'],
    ['provider_rate_limit', 'overloaded', 'rate_limit'],
    ['provider_auth', 'the provider refused the key', 'auth'],
    ['provider_timeout', 'the provider was silent for 60000 ms', 'timeout'],
    ['timeout', 'the deadline passed', 'timeout'],
    ['provider_malformed', 'the stream just ended', 'format'],
    ['provider_unavailable', 'the provider cannot be reached: read ECONNRESET', 'timeout'],
    ['provider_unavailable', 'the provider cannot be reached: socket hang up', 'timeout'],
    ['provider_unavailable', 'the provider is down: upstream request timeout', 'timeout'],
    ['provider_unavailable', 'the provider is down: internal error', 'unavailable'],
    ['provider_unknown_model', 'the provider does not know this model', 'unknown_model'],
    ['provider_rejected', 'messages.1.content.1.tool_use.id: String should match pattern', 'format'],
    ['provider_rejected', "Invalid 'messages[3].tool_calls[0].id': it has 60 characters", 'format'],
    ['provider_rejected', 'temperature is odd', undefined],
    ['provider_rejected', 'image exceeds 5 MB maximum: 6291456 bytes', undefined],
    ['provider_rejected', 'messages.0.content.1.image.source: image dimensions exceed 8000 pixels', undefined],
    ['provider_rejected', 'messages.4.tool_result.tool_use_id: the image in it is too large', undefined],
    ['provider_overflow', 'prompt is too long', undefined],
    ['cancelled', 'the request was aborted', undefined],
    ['budget_tokens', 'the turn used all its tokens', undefined],
    ['internal', 'timed out', undefined],
  ])('%s (%s) is a reason: %s', (code, message, reason) => {
    expect(failoverReason(error(code, message))).toBe(reason)
  })

  test('what the provider wrote counts as well as our message', () => {
    const body = '{"error":{"message":"tool_call_id is not valid"}}'

    expect(failoverReason(error('provider_rejected', 'the provider refused the request', { body }))).toBe('format')
  })

  test('whatever may pass when it is tried again is a reason', () => {
    const passing = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => retryableModelError(error(code)))

    expect(passing).toHaveLength(4)
    for (const code of passing) expect(failoverReason(error(code)), code).toBeDefined()
  })
})

describe('what a run says in the end [OC-48]', () => {
  const attempt = (model: string, code: ErrorCode, data?: Record<string, unknown>): Omit<Attempt, 'reason'> => ({
    model,
    error: error(code, `says ${code}`, data),
  })

  test('of one attempt its own error', () => {
    const only = attempt('a/1', 'provider_auth')

    expect(failureSummary([only])).toBe(only.error)
  })

  test('of several one error that tells them all', () => {
    const summary = failureSummary([
      { ...attempt('a/1', 'provider_auth', { status: 401, body: 'long' }), credential: 'work' },
      attempt('b/1', 'provider_billing'),
    ])

    expect(summary).toMatchObject({
      code: 'provider_auth',
      message: 'all 2 models failed: a/1 (work): says provider_auth | b/1: says provider_billing',
      retryable: false,
    })
    expect(summary.data?.attempts).toEqual([
      { model: 'a/1', credential: 'work', code: 'provider_auth', reason: 'auth', message: 'says provider_auth', status: 401 },
      { model: 'b/1', code: 'provider_billing', reason: 'billing', message: 'says provider_billing' },
    ])
  })

  test('it may pass when one of them may, after the shortest wait', () => {
    const summary = failureSummary([
      attempt('a/1', 'provider_auth'),
      attempt('b/1', 'provider_rate_limit', { retryAfterMs: 9000 }),
      attempt('c/1', 'provider_rate_limit', { retryAfterMs: 4000 }),
    ])

    expect(summary).toMatchObject({ code: 'provider_rate_limit', retryable: true, data: { retryAfterMs: 4000 } })
    expect(retryableModelError(summary)).toBe(summary.retryable)
  })

  test('nobody waits where one of them asked for no patience', () => {
    const summary = failureSummary([attempt('a/1', 'provider_rate_limit', { retryAfterMs: 9000 }), attempt('b/1', 'provider_timeout')])

    expect(summary.data).not.toHaveProperty('retryAfterMs')
  })

  test('one model with two credentials is one model', () => {
    const summary = failureSummary([
      { ...attempt('a/1', 'provider_auth'), credential: 'x' },
      { ...attempt('a/1', 'provider_auth'), credential: 'y' },
    ])

    expect(summary.message).toBe('a/1 failed: a/1 (x): says provider_auth | a/1 (y): says provider_auth')
  })

  test('without an attempt there is a bug in the caller', () => {
    expect(() => failureSummary([])).toThrow(TypeError)
  })
})

describe('a model that reads little [OC-53]', () => {
  test.each([
    [15_999, 'blocked'],
    [16_000, 'warned of'],
    [31_999, 'warned of'],
    [32_000, 'fine'],
    [undefined, 'fine'],
  ])('%s tokens: %s', (contextTokens, expected) => {
    const { error: blocked, warning } = windowGuard('a/1', contextTokens)

    expect(blocked ? 'blocked' : warning ? 'warned of' : 'fine').toBe(expected)
    if (blocked) expect(failoverReason(blocked)).toBe('context_window')
  })
})
