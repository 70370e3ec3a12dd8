/** The JSON Schema of a tool's input, in the shape that all model providers accept. */
import { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'
import { unsendableIn } from '../contracts/json-kinds.rules.ts'

/** A tool is looked at when it is defined and again by each runtime that has it; a zod schema never changes. */
const known = new WeakMap<z.ZodType, Record<string, unknown>>()

/**
 * What the model may send, hence the input side of the schema; what JSON Schema cannot say becomes "anything", because zod checks it anyway.
 * @throws RuntimeError bad_request when the schema is no object, holds what JSON cannot, or is seen to check asynchronously
 */
export const inputSchemaOf = (name: string, input: z.ZodType, field = 'input'): Record<string, unknown> => {
  const schema = known.get(input) ?? madeOf(name, input, field)
  known.set(input, schema)
  return structuredClone(schema)
}

const madeOf = (name: string, input: z.ZodType, field: string): Record<string, unknown> => {
  let schema: Record<string, unknown>
  let waits = false
  const override = ({ zodSchema }: { zodSchema: z.core.$ZodType }): void => {
    waits = waits || isAsync(zodSchema)
  }
  try {
    schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', override }) as Record<string, unknown>
  } catch (cause) {
    throw new RuntimeError('bad_request', `tool "${name}": the input has no JSON Schema`, {
      field,
      cause,
      hint: 'write z.object({ … }) of plain values',
    })
  }
  if (waits) throw new RuntimeError('bad_request', `tool "${name}": the ${field} checks asynchronously`, { field, hint: asyncHint })
  const unsendable = unsendableIn(input)
  if (unsendable)
    throw new RuntimeError('bad_request', `tool "${name}": no JSON fits ${unsendable.kind}${unsendable.path && ` at ${unsendable.path}`}`, {
      field: [field, unsendable.path].filter(Boolean).join('.'),
      hint: `write ${unsendable.instead}`,
    })
  if (schema.type !== 'object')
    throw new RuntimeError('bad_request', `tool "${name}": the input is not an object`, { field, hint: 'wrap it: z.object({ value: … })' })
  delete schema.$schema
  return withoutIntegerBounds(schema) as Record<string, unknown>
}

/** What a model wrote is journalled with what became of it, in the same step: nobody can wait for a promise there. */
export const asyncHint = 'check what can be seen at once; what has to be looked up first belongs into execute'

const isAsync = (schema: z.core.$ZodType): boolean => {
  const { checks = [], in: before, out } = schema._zod.def as { checks?: z.core.$ZodCheck[]; in?: z.core.$ZodType; out?: z.core.$ZodType }
  const transforms = [before, out].map((side) => (side?._zod.def as { transform?: unknown } | undefined)?.transform)
  const code = checks.flatMap(({ _zod: { check, def } }): unknown[] => [check, (def as { fn?: unknown }).fn])
  return [...transforms, ...code].some((one) => one instanceof AsyncFunction)
}
/** Code that only returns a promise cannot be told apart by looking at it: it is refused when it is called. */
export const AsyncFunction = (async () => undefined).constructor as FunctionConstructor

// zod writes the bounds of a safe integer into every z.int(); some providers reject numbers of that size.
const withoutIntegerBounds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIntegerBounds)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([key, bound]) => !(key === 'minimum' && bound === Number.MIN_SAFE_INTEGER) && !(key === 'maximum' && bound === Number.MAX_SAFE_INTEGER),
  )
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutIntegerBounds(inner)]))
}
