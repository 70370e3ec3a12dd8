/** Schemas of any library that follows Standard Schema, zod among them. */
import { z } from 'zod'
import { LadderError, type LadderErrorBody } from './errors.ts'

type Issue = { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }
type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/** What the specification of Standard Schema (version 1) asks of one. */
export type Schema<Output = unknown> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}
export type OutputOf<One extends Schema> = NonNullable<One['~standard']['types']>['output']

/** @throws LadderError SCHEMA_VALIDATION_FAILED saying where it does not fit */
export const fitted = async <Output>(
  schema: Schema<Output>,
  value: unknown,
  what: string,
  context: Record<string, unknown> = {},
): Promise<Output> => {
  const read = await schema['~standard'].validate(value)
  if (!read.issues) return read.value
  const issues = read.issues.map(({ message, path = [] }) => ({ path: path.map(keyOf).join('.'), message }))
  const said = issues.slice(0, 10).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `${what} does not fit its schema: ${said.join('; ')}`, { context: { ...context, issues } })
}

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }): string => String(typeof part === 'object' ? part.key : part)

/** As a model is told it; undefined where its library does not say. */
export const jsonSchemaOf = (schema: Schema): unknown => {
  if (schema instanceof z.ZodType)
    try {
      return z.toJSONSchema(schema, { io: 'input' })
    } catch {
      return undefined
    }
  return undefined
}

/** The JSON that a model has written, alone or fenced. @throws LadderError SCHEMA_VALIDATION_FAILED */
export const jsonIn = (text: string): unknown => {
  const trimmed = text.trim()
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```') && trimmed.includes('\n')
  try {
    return JSON.parse(isFenced ? trimmed.slice(trimmed.indexOf('\n'), -3) : trimmed)
  } catch (cause) {
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `the answer is no JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Of whatever a check has thrown. */
export const unfit = (thrown: unknown, what: string): LadderErrorBody =>
  (thrown instanceof LadderError
    ? thrown
    : new LadderError('SCHEMA_VALIDATION_FAILED', `the schema of ${what} threw: ${thrown instanceof Error ? thrown.message : 'something'}`, {
        cause: thrown,
      })
  ).toJSON()
