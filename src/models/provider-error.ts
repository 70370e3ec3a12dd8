/** Errors of providers, all made here so that `retryable` never disagrees with the rule of the port. */
import { type ErrorCode, type ErrorDetails, RuntimeError } from '../contracts/errors.ts'
import { retryableModelError } from '../contracts/model.ts'

export const providerCodes = [
  'provider_auth',
  'provider_billing',
  'provider_rate_limit',
  'provider_timeout',
  'provider_overflow',
  'provider_malformed',
  'provider_unavailable',
  'provider_rejected',
  'provider_unknown_model',
] as const satisfies readonly ErrorCode[]
export type ProviderCode = (typeof providerCodes)[number]

export const providerError = (code: ProviderCode, message: string, details: Omit<ErrorDetails, 'retryable'> = {}): RuntimeError =>
  new RuntimeError(code, message, { ...details, retryable: retryableModelError({ code, message, retryable: false }) })

/**
 * What an HTTP status of a provider means. 529 is Anthropic's "overloaded"; it asks to slow down like a 429.
 * @see https://platform.claude.com/docs/en/api/errors
 */
export const codeOfStatus = (status: number): ProviderCode => {
  if (status === 401 || status === 403) return 'provider_auth'
  if (status === 402) return 'provider_billing'
  if (status === 429 || status === 529) return 'provider_rate_limit'
  if (status === 408 || status === 504) return 'provider_timeout'
  if (status === 413) return 'provider_overflow'
  return status >= 500 ? 'provider_unavailable' : 'provider_rejected'
}
