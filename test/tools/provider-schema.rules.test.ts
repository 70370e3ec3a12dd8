import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { inputSchemaOf } from '../../src/tools/json-schema.ts'
import { schemaFor } from '../../src/tools/provider-schema.rules.ts'
import { casesOf } from '../support/property.ts'

const models = ['anthropic/claude', 'openai/gpt', 'openai-compatible/gemini-3', 'google/gemini-3', 'xai/grok-5', 'ollama/llama']

test('what a provider refuses is left out for it alone', () => {
  const schema = inputSchemaOf('t', z.object({ url: z.url().max(100), at: z.int().min(1).max(9), kind: z.literal('a') }))

  expect(schemaFor(schema, 'anthropic/claude')).toMatchObject({
    properties: { url: { format: 'uri', maxLength: 100 }, at: { minimum: 1 }, kind: { const: 'a' } },
  })
  expect(schemaFor(schema, 'xai/grok-5').properties).toMatchObject({ url: { type: 'string', format: 'uri' } })
  expect(JSON.stringify(schemaFor(schema, 'xai/grok-5'))).not.toContain('maxLength')
  expect(schemaFor(schema, 'google/gemini-3')).toEqual({
    type: 'object',
    properties: { url: { type: 'string' }, at: { type: 'integer' }, kind: { type: 'string', enum: ['a'] } },
    required: ['url', 'at', 'kind'],
  })
})

test('names of an author are no keywords, whatever they are', () => {
  const schema = inputSchemaOf('t', z.object({ pattern: z.string(), format: z.object({ default: z.number() }), maxLength: z.string() }))

  for (const model of models)
    expect(schemaFor(schema, model)).toMatchObject({ properties: { pattern: {}, format: { properties: { default: {} } }, maxLength: {} } })
})

test('a choice at the top becomes one object with all that any has', () => {
  const schema = {
    anyOf: [
      { type: 'object', properties: { a: {}, id: {} }, required: ['a', 'id'] },
      { type: 'object', properties: { b: {}, id: {} }, required: ['b', 'id'] },
    ],
  }

  for (const model of models) expect(schemaFor(schema, model)).toEqual({ type: 'object', properties: { a: {}, b: {}, id: {} }, required: ['id'] })
})

test('a schema without properties has none, and says so', () => {
  expect(schemaFor({ type: 'object' }, 'openai/gpt')).toEqual({ type: 'object', properties: {} })
})

test('where references are not known they are followed, and recursive ones end', () => {
  const Folder = z.object({ name: z.string(), get inner() { return z.array(Folder) } }) // biome-ignore format: one line shows it
  const schema = inputSchemaOf('t', z.object({ top: Folder }))

  expect(JSON.stringify(schemaFor(schema, 'google/gemini-3'))).not.toContain('$ref')
  expect(schemaFor(schema, 'google/gemini-3')).toMatchObject({
    properties: { top: { properties: { name: { type: 'string' }, inner: { type: 'array' } } } },
  })
  expect(JSON.stringify(schemaFor(schema, 'openai/gpt'))).toContain('$ref')
})

test('references that double with each step do not fill the memory', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { type: 'object', properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } } },
    ]),
  )

  const made = schemaFor({ type: 'object', properties: { top: { $ref: '#/$defs/d0' } }, $defs }, 'google/gemini-3')

  expect(JSON.stringify(made).length).toBeLessThan(2_000_000)
})

test('whatever the schema: it is an object with properties, done once is done, and nothing given is changed', () => {
  const leaf = fc.record({ type: fc.constantFrom('string', 'integer'), minLength: fc.nat() }, { requiredKeys: [] })
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ maxDepth: 2, withCrossShrink: true }, leaf, tie('inner')),
    inner: fc.record(
      {
        type: fc.constantFrom('object', 'array', ['string', 'null']),
        properties: fc.dictionary(fc.constantFrom('a', 'pattern', '$ref', 'format', 'x'), tie('schema'), { maxKeys: 3 }),
        required: fc.array(fc.constantFrom('a', 'x'), { maxLength: 3 }),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/none', 'https://example.com'),
        pattern: fc.string(),
        const: fc.anything({ maxDepth: 1 }),
        $schema: fc.string(),
      },
      { requiredKeys: [] },
    ),
  }))
  fc.assert(
    fc.property(schema as fc.Arbitrary<Record<string, unknown>>, fc.constantFrom(...models), (given, model) => {
      const before = JSON.stringify(given)
      const made = schemaFor(given, model)
      expect(made).toMatchObject({ type: 'object', properties: expect.any(Object) })
      expect(Object.keys(made)).not.toEqual(expect.arrayContaining(['anyOf']))
      expect(JSON.stringify(schemaFor(made, model))).toBe(JSON.stringify(made))
      expect(JSON.stringify(given)).toBe(before)
      if (model.startsWith('google')) expect(keywordsIn(made)).not.toEqual(expect.arrayContaining(['$ref']))
    }),
    casesOf(import.meta.url),
  )
})

/** All keywords, without the names that stand under `properties` and without data. */
const keywordsIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(keywordsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([keyword, inner]) => {
    if (['const', 'enum', 'required'].includes(keyword)) return [keyword]
    return [keyword, ...(keyword === 'properties' ? Object.values(inner as object).flatMap(keywordsIn) : keywordsIn(inner))]
  })
}
