/** The HTTP status that fits an error code. */
import type { ErrorBody, ErrorCode } from '../contracts/errors.ts'

const statuses: Partial<Record<ErrorCode, number>> = {
  bad_request: 400,
  unauthorised: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  rate_limited: 429,
  overloaded: 503,
  log_full: 507,
  log_unavailable: 503,
  locked: 409,
  conflict: 409,
  already_decided: 409,
  session_busy: 409,
  quarantined: 409,
  fenced: 409,
  drift: 409,
  cancelled: 409,
  timeout: 504,
  unsupported: 501,
}

export const statusOf = ({ code, retryable }: ErrorBody): number => {
  // Shutting down passes, an actor that has ended does not.
  if (code === 'closed') return retryable ? 503 : 410
  return statuses[code] ?? (code.startsWith('provider_') ? 502 : 500)
}
