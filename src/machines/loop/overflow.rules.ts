/** How long a conversation is that is too long, in tokens: in the words of its provider, who knows, or as an estimate. */
import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { estimatedTokens } from './tool-results.rules.ts'

const limitWords = /maximum context length is (\d{1,9})|> ?(\d{1,9}) maximum/
const actualWords = /(?:resulted in|you requested|prompt is too long:) (\d{1,9})/

/** An error as it is, or `provider_overflow` with `limit` and `actual` in its data. @param window tokens that the model can read, where known */
export const withSizes = (error: unknown, request: Parameters<typeof estimatedTokens>[0], window: number | undefined): unknown => {
  if (!isRuntimeError(error) || error.code !== 'provider_overflow') return error
  const { data, ...body } = error.toJSON()
  const limit = limitWords.exec(body.message)
  const actual = actualWords.exec(body.message)
  const sizes = {
    ...definedOf({ limit: limit ? Number(limit[1] ?? limit[2]) : window }),
    actual: actual ? Number(actual[1]) : estimatedTokens(request),
  }
  return RuntimeError.from({ ...body, data: { ...sizes, ...data } })
}
