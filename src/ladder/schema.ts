/** Schemas of any library that follows Standard Schema, zod among them. */

import { z } from 'zod'
import { isRuntimeError, parseExact, type RuntimeError, unsendableIn } from '../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from './errors.ts'
import { schema as schemaKind, valueIn } from './given.ts'

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
  const read = await readBy(schema, value, what, context)
  if (!read.issues) return read.value
  const issues = read.issues.map(issueOf)
  const said = issues.slice(0, 10).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `${what} does not fit its schema: ${said.join('; ')}`, { context: { ...context, issues } })
}

/** Whatever its author's code does. @throws LadderError SCHEMA_VALIDATION_FAILED where it throws, or gives nothing that says whether it fits */
const readBy = async <Output>(schema: Schema<Output>, value: unknown, what: string, context: Record<string, unknown>): Promise<Checked<Output>> => {
  let read: unknown
  try {
    read = await validated(schema, value)
  } catch (thrown) {
    throw broken(thrown, what, context)
  }
  if (typeof read === 'object' && read !== null) {
    const { issues } = read as { issues?: unknown }
    if (issues === undefined || issues === null || Array.isArray(issues)) return read as Checked<Output>
  }
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `the schema of ${what} does not say whether it fits`, {
    context,
    hint: 'validate() of a Standard Schema gives { value } or { issues }',
  })
}

/** zod tries without waiting first, and leaves what it has begun alone: a check of an author that rejects then ends the process. */
const validated = (schema: Schema, value: unknown): unknown => {
  const own = loose.get(schema) ?? schema
  return own instanceof z.ZodType
    ? own.safeParseAsync(value).then(({ data, error }) => (error ? { issues: error.issues } : { value: data }))
    : schema['~standard'].validate(value)
}

const issueOf = (issue: Issue): { path: string; message: string } => {
  const { message, path } = (issue ?? {}) as Partial<Issue>
  return { path: Array.isArray(path) ? path.map(keyOf).join('.') : '', message: String(message ?? 'it does not fit') }
}
const keyOf = (part: PropertyKey | { readonly key: PropertyKey }): string => String(typeof part === 'object' ? part?.key : part)

const loose = new WeakMap<object, Schema>()
/** The same schema, for answers in which the JSON stands among other words: the first that fits is taken, the longest before others. */
export const lenient = <Output>(given: Schema<Output>): Schema<Output> => {
  const schema: Schema<Output> = valueIn(given, schemaKind, 'what is to be lenient', 'LADDER_CONFIG')
  const made: Schema<Output> = { '~standard': schema['~standard'] }
  loose.set(made, schema)
  return made
}
export const isLenient = (schema: Schema): boolean => loose.has(schema)

/** @param what the owner of the output @throws LadderError LADDER_CONFIG for a kind of zod that JSON cannot represent: every answer would fail */
export const checkAnswerable = (given: Schema, what: string): void => {
  const schema = loose.get(given) ?? given
  const unsendable = schema instanceof z.ZodType ? unsendableIn(schema) : undefined
  if (unsendable)
    throw new LadderError('LADDER_CONFIG', `no JSON fits ${unsendable.kind}${unsendable.path && ` at ${unsendable.path}`} in the output of ${what}`, {
      hint: `write ${unsendable.instead}`,
    })
}

/** As a model is told it; undefined where its library does not say. */
export const jsonSchemaOf = (given: Schema): unknown => {
  const schema = loose.get(given) ?? given
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
    return parseExact(isFenced ? trimmed.slice(trimmed.indexOf('\n'), -3) : trimmed, 'answer')
  } catch (cause) {
    if (isRuntimeError(cause)) throw inexact(cause)
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `the answer is no JSON: ${(cause as Error).message}`, {
      cause,
      hint: 'with repair: 1 the model is asked again and told what is wrong; the offline stand-in writes no JSON, and has to be replaced by a script or a model',
    })
  }
}

const inexact = (cause: RuntimeError): LadderError =>
  new LadderError('SCHEMA_VALIDATION_FAILED', cause.message, { cause, hint: `with repair: 1 the model is asked again; ${cause.hint}` })

/** The JSON in an answer that fits, and what its schema makes of it. @throws LadderError SCHEMA_VALIDATION_FAILED */
export const readAnswer = async <Output>(schema: Schema<Output>, text: string, what: string): Promise<{ json: unknown; value: Output }> => {
  const texts = await answersIn(text)
  const candidates = isLenient(schema) ? texts.flatMap(jsonWithin) : []
  if (candidates.length === 0) candidates.push(firstJsonOf(texts))
  let first: unknown
  for (const json of candidates)
    try {
      return { json, value: await fitted(schema, json, what) }
    } catch (thrown) {
      first ??= thrown
    }
  throw first
}

/** Some chat templates write the opening tag themselves, so the output has only the closing one. */
const closing = /<\/(?:think|thinking|thought|reasoning)>/gi
/** The parts of a text that can be the answer, the likeliest first. Reasoning in tags is not part of it (vercel/ai#11489, langchain-ai/langchain#32120). */
const answersIn = async (text: string): Promise<string[]> => {
  if (text.search(closing) === -1) return [text]
  const { withoutReasoning } = await import('../chat.ts')
  const visible = withoutReasoning(text)
  const last = [...visible.matchAll(closing)].at(-1)
  return last ? [visible.slice(last.index + last[0].length), visible] : [visible]
}

/** @throws LadderError SCHEMA_VALIDATION_FAILED with the problem of the first text, when none is valid JSON */
const firstJsonOf = (texts: readonly string[]): unknown => {
  let first: unknown
  for (const text of texts)
    try {
      return jsonIn(text)
    } catch (thrown) {
      first ??= thrown
    }
  throw first
}

/** How many brackets of a text are tried. */
const bracketsMax = 200
/** Objects and lists that stand in a text, the longest first; the text itself where it is JSON. */
const jsonWithin = (text: string): unknown[] => {
  const found: { length: number; value: unknown }[] = []
  const begins = [...text.matchAll(/[{[]/g)].slice(0, bracketsMax).map(({ index }) => index)
  let end = 0
  for (const begin of begins) {
    // What stands inside of another one is a part of it.
    if (begin < end) continue
    const json = valueAt(text, begin)
    if (json === undefined) continue
    found.push(json)
    end = begin + json.length
  }
  try {
    return [jsonIn(text)]
  } catch {
    return found.toSorted((one, other) => other.length - one.length).map(({ value }) => value)
  }
}

const valueAt = (text: string, begin: number): { length: number; value: unknown } | undefined => {
  let depth = 0
  let isText = false
  for (let at = begin; at < text.length; at++) {
    const character = text[at]
    if (isText) {
      if (character === '\\') at++
      else if (character === '"') isText = false
    } else if (character === '"') isText = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0)
      try {
        return { length: at + 1 - begin, value: parseExact(text.slice(begin, at + 1), 'answer') }
      } catch (cause) {
        if (isRuntimeError(cause)) throw inexact(cause)
        return undefined
      }
  }
  return undefined
}

/** A schema of another process, as far as JSON Schema can say it. */
export const schemaOfJson = (given: unknown): Schema => {
  try {
    return z.fromJSONSchema(given as never)
  } catch {
    return z.unknown()
  }
}

const broken = (thrown: unknown, what: string, context: Record<string, unknown> = {}): LadderError =>
  thrown instanceof LadderError
    ? thrown
    : new LadderError('SCHEMA_VALIDATION_FAILED', `the schema of ${what} threw: ${wordsOf(thrown)}`, {
        cause: thrown,
        context,
        hint: 'let it say what is wrong as an issue',
      })

/** Of whatever a check has thrown. */
export const unfit = (thrown: unknown, what: string): LadderErrorBody => broken(thrown, what).toJSON()
