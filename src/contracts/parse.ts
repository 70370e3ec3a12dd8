/** Input from outside against its schema, with the field at fault in the error. */

import type { z } from 'zod'

import { isRuntimeError, RuntimeError } from './errors.ts'
import { parseExact } from './exact-json.ts'

/** @param hint where it is said what fits @throws RuntimeError bad_request, too_large */
export const parseInput = <Schema extends z.ZodType>(schema: Schema, input: unknown, hint = 'see docs/reference/messages.md'): z.output<Schema> => {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.map(String) ?? []
  const field = issue?.code === 'unrecognized_keys' ? [...path, issue.keys[0]].join('.') : path.join('.')
  const tooLarge = issue?.code === 'too_big' && issue.origin === 'string'
  throw new RuntimeError(
    tooLarge ? 'too_large' : 'bad_request',
    parsed.error.issues.map((one) => (one.path.length > 0 ? `${one.path.join('.')} ${inWords(one, input)}` : inWords(one, input))).join('; '),
    {
      field: field || undefined,
      hint: issue?.code === 'unrecognized_keys' ? 'leave the field out, or correct its name' : hint,
    },
  )
}

/**
 * The JSON in some bytes. A number that would become another one is refused.
 * @param noun what it was to be, as in `the message is not JSON` @param empty what no text at all stands for @throws RuntimeError bad_request
 */
export const parseJson = (bytes: Uint8Array, noun: string, hint: string, empty?: object): unknown => {
  let json: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    json = empty !== undefined && text.trim() === '' ? empty : parseExact(text, noun)
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', `the ${noun} is not JSON`, { cause, hint })
  }
  checkDepth(json, noun)
  return json
}

/** Levels of lists and objects within each other: what checks them goes down with them, and has a stack that ends. */
const depthMax = 200

/** @param noun as that of {@link parseJson} @throws RuntimeError bad_request */
export const checkDepth = (json: unknown, noun: string): void => {
  let level = [json]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax)
      throw new RuntimeError('bad_request', `the ${noun} is nested more than ${depthMax} levels deep`, { hint: 'send it flatter, or as a text' })
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
}

type Issue = z.core.$ZodIssue

const units: Record<string, string> = { string: ' characters', array: ' entries' }
const types: Record<string, string> = { int: 'a whole number', array: 'a list', object: 'an object', record: 'an object', undefined: 'left out' }

/** As a predicate of the field: `must not be empty`. */
const inWords = (issue: Issue, input: unknown): string => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.path.length > 0 && at(input, issue.path) === undefined) return 'is missing'
      return `must be ${types[issue.expected] ?? `a ${issue.expected}`}`
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in units) return 'must not be empty'
      return `must ${issue.origin in units ? 'have' : 'be'} at least ${issue.minimum}${units[issue.origin] ?? ''}`
    case 'too_big':
      return `may ${issue.origin in units ? 'have' : 'be'} at most ${issue.maximum}${units[issue.origin] ?? ''}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'unrecognized_keys':
      return `${issue.path.length > 0 ? 'has an ' : ''}unknown field ${issue.keys.map((key) => `'${key.slice(0, 80)}'`).join(', ')}`
    default:
      return issue.message
  }
}

const at = (input: unknown, path: Issue['path']): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], input)
