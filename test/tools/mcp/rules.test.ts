/** Names, schemas and results of MCP servers, within our bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineReader } from '../../../src/tools/mcp/line-reader.ts'
import { nameTools } from '../../../src/tools/mcp/names.rules.ts'
import { checkMcp } from '../../../src/tools/mcp/options.ts'
import { outputOf } from '../../../src/tools/mcp/result.rules.ts'
import { boundedSchema, checkableSchema, descriptionOf } from '../../../src/tools/mcp/schema.rules.ts'
import { casesOf } from '../../support/property.ts'

test('whatever a server calls its tools, each has one name that providers take, and keeps it', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 90 })), fc.uniqueArray(fc.string({ maxLength: 5 })), (first, later) => {
      const known = new Map<string, string>()
      nameTools('desk', first, known)
      const before = new Map(known)
      nameTools('desk', [...later, ...first], known)
      expect([...known.values()].every((name) => /^desk__[A-Za-z0-9_-]{1,58}$/.test(name))).toBe(true)
      expect(new Set(known.values()).size).toBe(known.size)
      for (const [name, given] of before) expect(known.get(name)).toBe(given)
    }),
    casesOf(import.meta.url),
  )
})

test('the order in which a server lists them does not matter', () => {
  const [one, other] = [new Map<string, string>(), new Map<string, string>()]
  nameTools('s', ['a.b', 'a b', 'a_b'], one)
  nameTools('s', ['a_b', 'a.b', 'a b'], other)

  expect(new Map(one)).toEqual(new Map(other))
  expect([...one.values()].sort()).toEqual(['s__a_b', 's__a_b_2', 's__a_b_3'])
})

test.each([
  ['is no object', { type: 'string' }, 'object'],
  ['is nothing', undefined, 'object'],
  ['has a key __proto__', JSON.parse('{"type":"object","properties":{"a":{"__proto__":{}}}}'), '__proto__'],
  ['is deep', { type: 'object', a: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) }, 'deep'],
  ['is long', { type: 'object', enum: ['x'.repeat(70_000)] }, 'characters'],
])('a schema that %s is none', (_, schema, word) => {
  expect(boundedSchema(schema)).toEqual({ problem: expect.stringContaining(word) })
})

test('references that come to an end are followed, and patterns are left to the server', () => {
  const model = { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string', pattern: '^(a+)+$' } } }

  expect(checkableSchema(model)).toEqual({ ...model, $defs: { A: { type: 'string' } } })
  expect(checkableSchema({ type: 'object', properties: { a: { $ref: '#' } } })).toBeUndefined()
  expect(checkableSchema({ type: 'object', properties: { pattern: { type: 'string' } } })).toEqual({
    type: 'object',
    properties: { pattern: { type: 'string' } },
  })
})

test('a description says what can be read, and falls back to the name', () => {
  expect(descriptionOf('a\u001b[2J\u202eb\nc\u{e0041}', 'x')).toBe('a[2Jb\nc')
  expect(descriptionOf(undefined, 'x\u0007y')).toBe('xy')
})

test.each([
  [
    'text',
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    'a\nb',
  ],
  ['nothing', {}, ''],
  ['what is structured', { content: [], structuredContent: { a: 1 } }, { a: 1 }],
  [
    'both, where they differ',
    { content: [{ type: 'text', text: 'one' }], structuredContent: { a: 1 } },
    { text: 'one', structuredContent: { a: 1 } },
  ],
  [
    'a file, as text and within a structure',
    { content: [{ type: 'text', text: 'hello file' }], structuredContent: { content: 'hello file' } },
    'hello file',
  ],
  [
    'a number that the text has by chance',
    { content: [{ type: 'text', text: 'order 12' }], structuredContent: { count: 1 } },
    { text: 'order 12', structuredContent: { count: 1 } },
  ],
  [
    'a text within a structure that says more',
    { content: [{ type: 'text', text: 'hello' }], structuredContent: { content: 'hello', lines: 1 } },
    { content: 'hello', lines: 1 },
  ],
  [
    'a value of the structure, with indents',
    { content: [{ type: 'text', text: '[\n  { "name": "Ada" }\n]' }], structuredContent: { entities: [{ name: 'Ada' }], total: 1 } },
    { entities: [{ name: 'Ada' }], total: 1 },
  ],
  ['a sound', { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }, '[audio audio/wav, 3 bytes, not kept]'],
  [
    'a file',
    { content: [{ type: 'resource', resource: { uri: 'file:///a', blob: 'AAA=', mimeType: 'x/y' } }] },
    '[resource file:///a x/y, 2 bytes, not kept]',
  ],
  ['a link', { content: [{ type: 'resource_link', uri: 'file:///a', name: 'A' }] }, '[resource file:///a "A"]'],
  ['something new', { content: [{ type: 'hologram' }] }, '[hologram, not kept]'],
])('a result of %s', (_, result, output) => {
  expect(outputOf(result)).toEqual(output)
})

/** 300 bytes that are no text. */
const blob = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 89) % 256)).toString('base64')

test.each<[string, object]>([
  [
    'a part within the structure',
    {
      content: [{ type: 'image', data: blob, mimeType: 'image/png' }],
      structuredContent: { content: [{ type: 'image', data: blob, mimeType: 'image/png' }] },
    },
  ],
  ['a typed field', { structuredContent: { file: { mimeType: 'image/png', data: blob }, lines: 1 } }],
  ['a block as Anthropic writes it', { structuredContent: { source: { type: 'base64', media_type: 'image/png', data: blob } } }],
  ['a resource within the structure', { structuredContent: { contents: [{ uri: 'file:///a', mimeType: 'image/png', blob }] } }],
  ['an encoded file', { structuredContent: { name: 'a', encoding: 'base64', content: blob } }],
  ['a field without a type', { structuredContent: { screenshot: blob } }],
  ['a data URL', { content: [{ type: 'text', text: `see data:image/png;base64,${blob} here` }] }],
  ['the JSON of a structure', { content: [{ type: 'text', text: JSON.stringify({ mimeType: 'image/png', data: blob }, null, 2) }] }],
  [
    'that JSON beside the structure',
    {
      content: [{ type: 'text', text: JSON.stringify({ mimeType: 'image/png', data: blob }) }],
      structuredContent: { mimeType: 'image/png', data: blob },
    },
  ],
  ['a text of nothing else', { content: [{ type: 'text', text: blob }] }],
  ['a resource of text', { content: [{ type: 'resource', resource: { uri: 'a', text: `data:image/png;base64,${blob}` } }] }],
])('binary data reaches the model once, as a note of type and size: %s', (_, result) => {
  const output = JSON.stringify(outputOf(result))

  expect(output).not.toContain(blob.slice(0, 40))
  expect(output.match(/300 bytes, not kept/g)).toHaveLength(1)
})

test.each([
  'the quick brown fox '.repeat(40),
  'x'.repeat(4000),
  'ACGT'.repeat(400),
  'deadBEEF0123'.repeat(6),
  Buffer.from('A text that was encoded twice is a text. '.repeat(20)).toString('base64'),
  '/usr/local/lib/node/modules/'.repeat(10),
])('a text that is no binary data stays as it is: %.30s', (text) => {
  expect(outputOf({ content: [{ type: 'text', text }] })).toBe(text)
})

test('lines are read wherever they are cut, and the id of one that is too long is found at either end', () => {
  const heard: unknown[] = []
  const reader = new LineReader({
    message: (message) => heard.push(message),
    garbage: () => heard.push('garbage'),
    endless: () => heard.push('endless'),
  })
  const long = 'x'.repeat(9 * 1024 * 1024)
  const text = [
    '{"jsonrpc":"2.0","id":1,"result":"ä"}',
    'hello',
    `{"jsonrpc":"2.0","id":2,"result":"${long}"}`,
    `{"result":"${long}","jsonrpc":"2.0","id":3}`,
    `{"result":"${long}","id":"4","jsonrpc":"2.0"}`,
    '{"jsonrpc":"2.0","id":5,"result":1}',
    '',
  ].join('\n')
  const bytes = Buffer.from(text)

  for (let at = 0; at < bytes.length; at += 65_537) reader.read(bytes.subarray(at, at + 65_537))

  expect(heard).toMatchObject([
    { id: 1, result: 'ä' },
    'garbage',
    { id: 2, error: { code: -32_950 } },
    { id: 3, error: { code: -32_950 } },
    'garbage',
    { id: 5 },
  ])
})

test.each([
  [{ servers: { a: {} } }, 'mcp.servers.a.command'],
  [{ servers: { a: { url: 'ftp://x' } } }, 'mcp.servers.a.url'],
  [{ servers: { a: { url: 'http://user:secret@x/' } } }, 'mcp.servers.a.url'],
  [{ servers: { a: { command: 'x', approval: 'sometimes' } } }, 'mcp.servers.a.approval'],
  [{ servers: { a: { command: 'x', timeoutMs: 0 } } }, 'mcp.servers.a.timeoutMs'],
  [{ servers: { a: { command: 'x', secret: 1 } } }, 'mcp.servers.a.secret'],
  [{ servers: { a__b: { command: 'x' } } }, 'mcp.servers.a__b'],
  [{ servers: { '': { command: 'x' } } }, 'mcp.servers.'],
  [{ server: {} }, 'mcp.server'],
])('of the configuration %j the field at fault is named', (given, field) => {
  expect(() => checkMcp(given as never)).toThrow(expect.objectContaining({ code: 'bad_request', field, hint: expect.any(String) }))
})
