import { describe, expect, test } from 'vitest'
import type { ErrorBody, ErrorCode } from '../../../src/contracts/errors.ts'
import { nextThinking, supportedThinking } from '../../../src/machines/loop/thinking-support.rules.ts'

const refusal = (message: string, body?: string, code: ErrorCode = 'provider_rejected'): ErrorBody => ({
  code,
  message,
  retryable: false,
  ...(body === undefined ? {} : { data: { body } }),
})

describe('the levels that a refusal names [OC-52]', () => {
  test.each([
    [
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
      ['low', 'medium', 'high'],
    ],
    ['think value "minimal" is not supported; supported values: low, medium, high', ['low', 'medium', 'high']],
    ['reasoning.effort must be one of "none", "low" or "high"', ['off', 'low', 'high']],
    ['invalid effort. Allowed levels are: [minimal|low|medium|high|xhigh]', ['minimal', 'low', 'medium', 'high', 'xhigh']],
    ['thinking: expected one of `low`, `max`, `high`', ['low', 'high']],
    ['reasoning effort: supported values are: low, high. Medium is coming', ['low', 'high']],
    ['reasoning effort: supported values are: HIGH, high, Low', ['high', 'low']],
    ['reasoning is off for this model; supported values are: 1, 2, 3', undefined],
    ['the level of thinking is not supported', undefined],
    ["'verbosity' is odd. Supported values are: 'low', 'medium'", undefined],
    ['reasoning effort is high: try low', undefined],
    ["Unsupported value: 'none' is not supported (reasoning.effort). Supported values are: 'low', 'medium'.", ['low', 'medium']],
    ["Invalid value: 'high'. Supported values are: 'low'. (reasoning.effort)", ['low']],
    ['reasoning effort is not valid: high. Valid efforts: low', ['low']],
    ["the effort isn't allowed: high. Allowed: low", ['low']],
    ["Unsupported reasoning value: 'high'", undefined],
    // anthropics/claude-code#81084
    [
      "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
      ['high'],
    ],
    // agentscope-ai/AgentTeams#130
    ['think value "low" is not supported for this model', undefined],
  ])('%s', (message, expected) => {
    expect(supportedThinking(refusal(message))).toEqual(expected)
  })

  test('are found in what the provider wrote, and its other fields are not taken for them', () => {
    const body = JSON.stringify({
      error: { message: "'reasoning_effort' is wrong. Supported values are: 'low', 'medium'", type: 'high', code: 'minimal' },
    })

    expect(supportedThinking(refusal('the provider refused the request', body))).toEqual(['low', 'medium'])
  })

  test('count only where the request was refused', () => {
    expect(supportedThinking(refusal('reasoning: supported values are: low', undefined, 'provider_rate_limit'))).toBeUndefined()
  })

  test('count in an outage only where it names the level', () => {
    const of = (message: string) => supportedThinking(refusal(message, undefined, 'provider_unavailable'))

    expect(of('the reasoning model is overloaded, available capacity: low')).toBeUndefined()
    expect(of('unexpected reasoning effort high. Supported types are low')).toEqual(['low'])
  })
})

test('the next level is the first that was not tried; after all of them there is none', () => {
  expect(nextThinking(['low', 'medium', 'high'], ['xhigh', 'low'])).toBe('medium')
  expect(nextThinking(['low', 'medium'], new Set(['low', 'medium'] as const))).toBeUndefined()
  expect(nextThinking([], [])).toBeUndefined()
})
