/** An answer of a form, of models that have no mode for it: the form stands in the instructions. */
import { isRuntimeError } from '../contracts/errors.ts'
import type { ModelRequest } from '../contracts/model.ts'
import { refusalText } from '../contracts/refusal-text.ts'

/** Whether a provider finds fault with this schema: another one may be right. */
export const refusesSchema = (error: unknown): boolean =>
  isRuntimeError(error) &&
  error.code === 'provider_rejected' &&
  /invalid schema|invalid_json_schema|in context=|additionalProperties/i.test(refusalText(error))

/** Whether a provider refuses the mode, in the words of OpenAI, Gemini, Groq and LM Studio (`test/field/forms.test.ts`). */
export const refusesFormat = (error: unknown): boolean =>
  isRuntimeError(error) &&
  error.code === 'provider_rejected' &&
  /response.?format|response.?mime|json.?schema|json.?mode|output.?format|structured.?output|text\.format/i.test(refusalText(error))

/** The same request without the mode. */
export const inWords = ({ format, ...request }: ModelRequest): ModelRequest => {
  if (format === undefined || format.isTold) return request
  const form =
    format.schema === undefined
      ? 'Answer with JSON and nothing else.'
      : `Answer with JSON and nothing else. It must match this JSON Schema:\n${JSON.stringify(format.schema)}`
  return { ...request, instructions: request.instructions.trim() === '' ? form : `${request.instructions}\n\n${form}` }
}
