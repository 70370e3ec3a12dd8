/**
 * A kind of zod for which no JSON is valid is refused where it is written, with what to write instead.
 * Sources: triggerdotdev/trigger.dev#4939, mastra-ai/mastra#17020 (FC-16).
 */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/index.ts'
import { agent, lenient } from '../../src/ladder/index.ts'

class Money {}
const refused: [string, z.ZodType, string][] = [
  ['z.date()', z.date(), 'z.coerce.date()'],
  ['z.bigint()', z.bigint(), 'z.coerce.bigint()'],
  ['z.map()', z.map(z.string(), z.number()), 'z.record('],
  ['z.set()', z.set(z.string()), 'z.array('],
  ['z.file()', z.file(), 'path'],
  ['z.symbol()', z.symbol(), 'z.enum('],
  ['z.undefined()', z.undefined(), '.optional()'],
  ['z.void()', z.void(), '.optional()'],
  ['z.nan()', z.nan(), 'z.null()'],
  ['z.instanceof(URL)', z.instanceof(URL), 'plain values'],
  ['z.instanceof(Money)', z.instanceof(Money), 'plain values'],
]
/** Where in an input it may stand. */
const places: [string, (schema: z.ZodType) => z.ZodType, string][] = [
  ['a field', (schema) => z.object({ at: schema }), 'at'],
  ['an optional one', (schema) => z.object({ at: schema.optional() }), 'at'],
  ['a list in a field', (schema) => z.object({ in: z.object({ all: z.array(schema) }) }), 'in.all.[]'],
  ['a field with a default', (schema) => z.object({ at: schema.nullable().default(null) }), 'at'],
]
const taken: [string, z.ZodType][] = [
  ['dates that are coerced', z.object({ at: z.coerce.date() })],
  ['big numbers that are coerced', z.object({ at: z.coerce.bigint() })],
  ['dates out of a text', z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })],
  ['dates behind a pipe', z.object({ at: z.string().pipe(z.coerce.date()) })],
  ['what is made ready first', z.object({ at: z.preprocess((text) => new Date(String(text)), z.date()) })],
  [
    'codecs, by their input',
    z.object({ at: z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }) }),
  ],
  ['custom checks', z.object({ at: z.custom<string>((value) => typeof value === 'string') })],
  ['nothing as one of several', z.object({ at: z.union([z.string(), z.undefined()]) })],
  [
    'the usual',
    z.object({
      a: z.string().min(1),
      b: z.number().int().optional(),
      c: z.enum(['x']),
      d: z.record(z.string(), z.any()),
      e: z.tuple([z.null(), z.unknown()]),
    }),
  ],
]

describe.each(refused)('%s', (kind, schema, cure) => {
  test.each(places)('is refused in %s of a tool, and of an answer', (_, place, at) => {
    const input = place(schema) as z.ZodObject
    const define = () => tool({ name: 'act', description: 'acts', input, execute: () => 1 })
    const says = { message: expect.stringContaining(`no JSON fits ${kind} at ${at}`), hint: expect.stringContaining(cure) }

    expect(define).toThrow(expect.objectContaining({ code: 'bad_request', ...says }))
    expect(() => agent({ name: 'clerk', model: 'test/a', output: input })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', ...says }))
    expect(() => agent({ name: 'clerk', model: 'test/a', output: lenient(input) })).toThrow(expect.objectContaining(says))
  })
})

test.each(taken)('%s are taken', (_, input) => {
  expect(tool({ name: 'act', description: 'acts', input: input as z.ZodObject, execute: () => 1 }).name).toBe('act')
  expect(agent({ name: 'clerk', model: 'test/a', output: input })).toBeDefined()
})
