import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../src/contracts/tool.ts'
import { createTools } from '../../src/tools/registry.ts'
import { checkedTools, tool } from '../../src/tools/tool.ts'
import { plan, virtualClock } from './fixtures.ts'

const definition = { name: 'add', description: 'adds', input: z.object({ a: z.number() }), execute: () => 1 }
const fail = (): never => {
  throw new TypeError('unreadable')
}

test('a tool takes the safe side in all that its author left out', () => {
  expect(tool(definition)).toMatchObject({ onCrash: 'once', timeoutMs: 60_000, attemptMax: 1, outputBytesMax: 1_048_576, approval: false })
})

test('the input of execute and approval has the type of the schema', () => {
  tool({ ...definition, execute: ({ a }) => a.toFixed(), approval: ({ a }) => a > 1 })
  // @ts-expect-error: there is no b
  tool({ ...definition, execute: ({ b }) => b })
})

test('the names of the AI SDK mean the same: types, approval and what the model sees follow from either', async () => {
  const pays = tool({
    name: 'pay',
    description: 'pays',
    inputSchema: z.object({ euros: z.number() }),
    needsApproval: ({ euros }) => euros > 100,
    execute: ({ euros }) => ({ paid: euros }),
  })
  const { execute, ...settings } = pays
  const ours = tool({ name: 'pay', description: 'pays', input: pays.input, approval: pays.approval, execute })

  expect(settings).toEqual({ ...ours, execute: undefined })
  expect([12, 480].map((euros) => plan(createTools([pays], { clock: virtualClock() }), 'pay', { euros }).needsApproval)).toEqual([false, true])
  expectTypeOf(pays).toEqualTypeOf<Tool<{ euros: number }, { paid: number }>>()
  tool({ ...definition, needsApproval: true })
  // @ts-expect-error: there is no pounds
  tool({ ...definition, needsApproval: ({ pounds }) => pounds > 1 })
})

test('both names at once do not compile, and are refused', () => {
  const { input, ...rest } = definition
  // @ts-expect-error: one of them is enough
  expect(() => tool({ ...rest, input, inputSchema: input })).toThrow(
    expect.objectContaining({ code: 'bad_request', field: 'inputSchema', hint: expect.stringContaining('leave one of them out') }),
  )
  // @ts-expect-error: one of them is enough
  expect(() => tool({ ...definition, approval: true, needsApproval: false })).toThrow(
    expect.objectContaining({ code: 'bad_request', field: 'needsApproval', hint: expect.stringContaining('leave one of them out') }),
  )
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
  ['a word as needsApproval', { needsApproval: 'yes' }, 'needsApproval', /neither/],
  ['an approval that takes time', { needsApproval: async () => false }, 'needsApproval', /async function/],
  ['a schema of another library', { input: undefined, inputSchema: { jsonSchema: {} } }, 'inputSchema', /not a zod schema/],
  ['something that is sent and no function', { sends: 5 }, 'sends', /not a function/],
  ['something that is sent after a while', { sends: async () => undefined }, 'sends', /answers at once/],
  ['a refinement that takes time', { input: z.object({ a: z.object({ b: z.string().refine(async () => true) }) }) }, 'input', /asynchronously/],
  ['a check that takes time', { input: z.object({ a: z.array(z.string().check(async () => undefined)) }) }, 'input', /asynchronously/],
  [
    'a transform that takes time',
    { input: undefined, inputSchema: z.object({ a: z.string().transform(async (b) => b) }) },
    'inputSchema',
    /asynchronously/,
  ],
  ['a preprocess that takes time', { input: z.object({ a: z.preprocess(async (b) => b, z.string()) }) }, 'input', /asynchronously/],
  ['an inputSchema that is no object', { input: undefined, inputSchema: z.string() }, 'inputSchema', /not an object/],
])('a tool with %s is refused, naming the field and what to write', (_, change, field, message) => {
  expect(() => tool({ ...definition, ...change })).toThrow(
    expect.objectContaining({ code: 'bad_request', field, message: expect.stringMatching(message), hint: expect.any(String) }),
  )
})

test('a bad name comes with one that works', () => {
  expect(() => tool({ ...definition, name: 'my tool.v2' })).toThrow(expect.objectContaining({ hint: 'for example "my_tool_v2"' }))
})

test.each([
  ['needApproval', 'needsApproval'],
  ['requireApproval', 'approval'],
  ['timeout', 'timeoutMs'],
  ['parameters', 'inputSchema: z.object'],
  ['outputSchema', 'not checked against a schema'],
  ['strict', 'there are: name, description, input'],
])('an option %s that nobody knows is refused instead of left out in silence: it may be an approval', (field, hint) => {
  const refusal = expect.objectContaining({ code: 'bad_request', field, hint: expect.stringContaining(hint) })

  expect(() => tool({ ...definition, [field]: true })).toThrow(refusal)
})

test('parameters, as an older AI SDK writes it, is answered with inputSchema', () => {
  const { input: parameters, ...rest } = definition

  expect(() => tool({ ...rest, parameters } as never)).toThrow(
    expect.objectContaining({ field: 'parameters', hint: expect.stringContaining('inputSchema') }),
  )
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a list', []],
  ['a word', 'add'],
  ['a getter that throws', Object.defineProperty({ ...definition }, 'approval', { get: fail, enumerable: true })],
  ['a proxy that throws', new Proxy(definition, { ownKeys: fail })],
  ['a setting that is no text', { ...definition, onCrash: Object.create(null) }],
])('%s instead of options is refused as a bad request', (_, given) => {
  expect(() => tool(given as never)).toThrow(expect.objectContaining({ code: 'bad_request', hint: expect.any(String) }))
})

test('an option is read once: what is checked is what holds', () => {
  let reads = 0
  const changing = {
    ...definition,
    get needsApproval() {
      return ++reads === 1
    },
  }

  expect(tool(changing)).toMatchObject({ approval: true })
  expect(reads).toBe(1)
})

test.each<[string, object, object]>([
  ['no time limit', { timeoutMs: undefined, attemptMax: undefined }, { timeoutMs: 60_000, attemptMax: 1 }],
  ['another rule of approval', { approval: undefined, needsApproval: false }, { approval: false }],
  ['another schema', { input: undefined, inputSchema: definition.input }, { input: definition.input }],
])('a copy of a tool with %s is checked as if it were new', (_, change, settings) => {
  const made = tool({ ...definition, approval: true })

  expect(checkedTools([{ ...made, ...change }])[0]).toMatchObject(settings)
  expect(checkedTools([made])[0]).toBe(made)
})
