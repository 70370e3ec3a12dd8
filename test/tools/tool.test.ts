import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../src/contracts/tool.ts'
import { tool } from '../../src/tools/tool.ts'

const definition = { name: 'add', description: 'adds', input: z.object({ a: z.number() }), execute: () => 1 }

test('a tool takes the safe side in all that its author left out', () => {
  expect(tool(definition)).toMatchObject({ onCrash: 'once', timeoutMs: 60_000, attemptMax: 1, outputBytesMax: 1_048_576, approval: false })
})

test('the input of execute and approval has the type of the schema', () => {
  tool({ ...definition, execute: ({ a }) => a.toFixed(), approval: ({ a }) => a > 1 })
  // @ts-expect-error: there is no b
  tool({ ...definition, execute: ({ b }) => b })
})

test('a tool knows what goes in and what comes out, and goes into a list of tools all the same', () => {
  const adds = tool({ name: 'add', description: 'adds', input: z.object({ a: z.number().default(1) }), execute: async ({ a }) => ({ sum: a }) })
  const list: readonly Tool[] = [adds, tool(definition)]

  expect(list).toHaveLength(2)
  expectTypeOf(adds).toEqualTypeOf<Tool<{ a: number }, { sum: number }>>()
  expectTypeOf<Awaited<ReturnType<typeof adds.execute>>>().toEqualTypeOf<{ sum: number }>()
  expectTypeOf<Parameters<typeof adds.execute>[0]>().toEqualTypeOf<{ a: number }>()
})

test.each<[string, object, string, RegExp]>([
  ['no name', { name: '' }, 'name', /1 to 64/],
  ['a space in its name', { name: 'my tool' }, 'name', /1 to 64/],
  ['a name of 65 characters', { name: 'x'.repeat(65) }, 'name', /1 to 64/],
  ['a name that is no text', { name: 7 }, 'name', /1 to 64/],
  ['no description', { description: ' ' }, 'description', /needs a description/],
  ['an input that is no schema', { input: { a: 'number' } }, 'input', /not a zod schema/],
  ['an input that is no object', { input: z.string() }, 'input', /not an object/],
  ['a choice as its input', { input: z.union([z.object({}), z.string()]) }, 'input', /not an object/],
  ['nothing to execute', { execute: undefined }, 'execute', /not a function/],
  ['an unknown crash policy', { onCrash: 'maybe' }, 'onCrash', /not a crash policy/],
  ['no time', { timeoutMs: 0 }, 'timeoutMs', /is 0/],
  ['more time than a timer holds', { timeoutMs: 2 ** 31 }, 'timeoutMs', /2147483648/],
  ['half an attempt', { attemptMax: 0.5 }, 'attemptMax', /0\.5/],
  ['no room for output', { outputBytesMax: Number.NaN }, 'outputBytesMax', /NaN/],
  ['a word as approval', { approval: 'yes' }, 'approval', /neither/],
])('a tool with %s is refused, naming the field and what to write', (_, change, field, message) => {
  expect(() => tool({ ...definition, ...change })).toThrow(
    expect.objectContaining({ code: 'bad_request', field, message: expect.stringMatching(message), hint: expect.any(String) }),
  )
})

test('a bad name comes with one that works', () => {
  expect(() => tool({ ...definition, name: 'my tool.v2' })).toThrow(expect.objectContaining({ hint: 'for example "my_tool_v2"' }))
})
