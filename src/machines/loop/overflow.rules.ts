/** How long a conversation is that is too long, in tokens: in the words of its provider, who knows, or as an estimate. */
import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { estimatedTokens } from './tool-results.rules.ts'

const limitWords =
  /maximum context length is (\d{1,9})|> ?(\d{1,9}) maximum|maximum prompt length is (\d{1,9})|exceeds the limit of (\d{1,9})|token limit: ?(\d{1,9})|tokens allowed \((\d{1,9})\)/
const actualWords = /(?:resulted in|you requested|prompt is too long:) (\d{1,9})/

/** An unknown refusal of a request that fills at least this share of the context window counts as an overflow. */
const nearlyFull = 0.9
/** Statuses of refused requests. */
const refusals: ReadonlySet<unknown> = new Set([400, 413, 422])

/** An error as it is, or `provider_overflow` with `limit` and `actual` in its data. @param window tokens that the model can read, where known */
export const withSizes = (error: unknown, request: Parameters<typeof estimatedTokens>[0], window: number | undefined): unknown => {
  if (!isRuntimeError(error) || !(error.code === 'provider_overflow' || isUnknownOverflow(error, request, window))) return error
  const { data, ...refused } = error.toJSON()
  const body = { ...refused, code: 'provider_overflow' as const }
  const limit = limitWords
    .exec(body.message)
    ?.slice(1)
    .find((digits) => digits !== undefined)
  const actual = actualWords.exec(body.message)
  const sizes = {
    ...definedOf({ limit: limit ? Number(limit) : window }),
    actual: actual ? Number(actual[1]) : estimatedTokens(request),
  }
  return RuntimeError.from({ ...body, data: { ...sizes, ...data } })
}

const isUnknownOverflow = ({ code, data }: RuntimeError, request: Parameters<typeof estimatedTokens>[0], window: number | undefined): boolean =>
  code === 'provider_rejected' &&
  window !== undefined &&
  refusals.has((data as { status?: unknown } | undefined)?.status) &&
  estimatedTokens(request) >= nearlyFull * window
