/** The JSON Schema of a tool's input, in the shape that all model providers accept. */
import { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'

/**
 * What the model may send, hence the input side of the schema; what JSON Schema cannot say becomes "anything", because zod checks it anyway.
 * @throws RuntimeError bad_request when the schema is no object
 */
export const inputSchemaOf = (name: string, input: z.ZodType, field = 'input'): Record<string, unknown> => {
  let schema: Record<string, unknown>
  try {
    schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>
  } catch (cause) {
    throw new RuntimeError('bad_request', `tool "${name}": the input has no JSON Schema`, {
      field,
      cause,
      hint: 'write z.object({ … }) of plain values',
    })
  }
  if (schema.type !== 'object')
    throw new RuntimeError('bad_request', `tool "${name}": the input is not an object`, { field, hint: 'wrap it: z.object({ value: … })' })
  delete schema.$schema
  return withoutIntegerBounds(schema) as Record<string, unknown>
}

// zod writes the bounds of a safe integer into every z.int(); some providers reject numbers of that size.
const withoutIntegerBounds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIntegerBounds)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([key, bound]) => !(key === 'minimum' && bound === Number.MIN_SAFE_INTEGER) && !(key === 'maximum' && bound === Number.MAX_SAFE_INTEGER),
  )
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutIntegerBounds(inner)]))
}
