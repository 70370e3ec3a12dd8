/** Our errors in the shape that clients of OpenAI know: `{ error: { message, type, code, param } }`. */
import type { ErrorBody } from '../../contracts/errors.ts'
import { statusOf } from '../error-status.ts'

export type OpenAiError = { message: string; type: string; code: string; param: string | null }

/** Whether a path is of this door, so that its errors are too. */
export const isOpenAi = (path: string): boolean => path === '/v1' || path.startsWith('/v1/')

/** What their clients look for; all other codes are ours. */
const codes: Partial<Record<ErrorBody['code'], string>> = {
  unauthorised: 'invalid_api_key',
  rate_limited: 'rate_limit_exceeded',
  provider_rate_limit: 'rate_limit_exceeded',
  provider_overflow: 'context_length_exceeded',
}

const statuses: Partial<Record<ErrorBody['code'], number>> = {
  provider_rate_limit: 429,
  provider_overflow: 400,
  provider_timeout: 504,
  unsupported: 400,
}

const types: Record<number, string> = { 401: 'authentication_error', 403: 'permission_error', 409: 'conflict_error', 429: 'rate_limit_error' }

const typeOf = (status: number): string => types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')

/**
 * @param body without secrets, as it may be shown
 * @returns `retry` for the header `x-should-retry`: the openai package repeats every 409 and 5xx where nobody says that it is of no use
 */
export const openAiError = (body: ErrorBody): { status: number; retry: 'true' | 'false'; shown: OpenAiError } => {
  const status = statuses[body.code] ?? statusOf(body)
  const { message, hint, field, data } = body
  return {
    status,
    retry: body.retryable ? 'true' : 'false',
    shown: {
      message: hint === undefined ? message : `${message} (${hint})`,
      type: typeOf(status),
      // What a request leads to may have a name of its own, such as `model_not_found`.
      code: typeof data?.openai === 'string' ? data.openai : (codes[body.code] ?? body.code),
      param: field?.replace(/\.(\d+)(?=\.|$)/g, '[$1]') ?? null,
    },
  }
}
