/** A program that says it is an MCP server, and means harm or has gone wrong. It does one deed, by name. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const deed = process.argv[2] ?? ''
const say = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message }).replaceAll('"MAX"', '18446744073709551615')}\n`)
const object = { type: 'object' }

/** Lists within lists, `depth` of them. */
const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) })
/** Definitions of which each names the next one twice: a thousand letters that unfold to 2^30. */
const doubling = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [`d${at}`, { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]),
)
const polluting = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as object

const echo = { ...object, properties: { text: { type: 'string' } } }

const toolsOf: Record<string, () => unknown[]> = {
  echoes: () => [
    { name: 'b', inputSchema: echo },
    { name: 'a', inputSchema: echo },
  ],
  names: () => [
    { name: 'a\u001b[31mb\u0000', description: 'tells \u001b[2Ja terminal\u202e', inputSchema: object },
    { name: 'a b', inputSchema: object },
    { name: 'a.b', inputSchema: object },
    { name: 'n'.repeat(500), inputSchema: object },
    { name: '…', inputSchema: object },
  ],
  many: () => Array.from({ length: 10_000 }, (_, at) => ({ name: `t${at}`, description: 'one of many', inputSchema: object })),
  wordy: () => [{ name: 'wordy', description: 'w'.repeat(10 * 1024 * 1024), inputSchema: object }],
  talkative: () => [{ name: 'talkative', description: 'w'.repeat(1024 * 1024), inputSchema: object }],
  bombs: () => [
    { name: 'deep', inputSchema: { ...object, properties: { a: nested(500) } } },
    { name: 'wide', inputSchema: { ...object, properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, {}])) } },
    { name: 'polluting', inputSchema: polluting },
    { name: 'text', inputSchema: { ...object, properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
    { name: 'doubling', inputSchema: { ...object, properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...doubling, d30: { type: 'string' } } } },
    { name: 'circle', inputSchema: { ...object, properties: { a: { $ref: '#/$defs/c' } }, $defs: { c: { allOf: [{ $ref: '#/$defs/c' }] } } } },
  ],
  // Each beside one that is as it should be.
  odd: () => [
    { name: 'good', inputSchema: object },
    { name: 'untyped-output', inputSchema: object, outputSchema: { properties: {} } },
    { name: 'open', inputSchema: {} },
    { name: 'silent' },
    { name: 'undescribed', description: null, inputSchema: object },
    { name: 'numbered', description: 7, inputSchema: object, annotations: { readOnlyHint: 'yes' }, title: 3, _meta: 'x', icons: 'none' },
    { name: 'arrayed', inputSchema: { type: 'array' } },
    { inputSchema: object },
    { name: '' },
    { name: 5, inputSchema: object },
    null,
    'text',
  ],
  digits: () => [
    { name: 'find', inputSchema: { ...object, properties: { id: { type: 'integer', maximum: 'MAX' } } }, annotations: { readOnlyHint: true } },
  ],
}

if (deed === 'garbage') process.stdout.write(`starting …\n${'\u0000\u00ff{'.repeat(1000)}\n[1,2\n"text"\n{"jsonrpc":"1.0"}\n`)
if (deed === 'dies') {
  process.stderr.write('api_key=sk-123456789012345678901234567890\n')
  process.exit(7)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (deed === 'silent' || id === undefined) continue
  if (method === 'initialize')
    say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } } })
  // As servers of 2025 do that end at the first question that they do not know.
  else if (method === 'server/discover' && deed.startsWith('strict')) process.exit(1)
  else if (method === 'server/discover') say({ id, error: { code: -32_601, message: 'Method not found' } })
  else if (method === 'tools/list') {
    // Pages without an end.
    if (deed === 'pages')
      say({ id, result: { tools: [{ name: `p${params?.cursor ?? 0}`, inputSchema: object }], nextCursor: String(Number(params?.cursor ?? 0) + 1) } })
    else if (deed === 'shapeless') say({ id, result: { tools: 'none' } })
    else say({ id, result: { tools: toolsOf[deed]?.() ?? [{ name: 'do', inputSchema: object, annotations: { readOnlyHint: true } }] } })
  } else if (deed === 'endless') {
    const piece = 'x'.repeat(1024 * 1024)
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
    for (let count = 0; count < 1024; count++) if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  } else if (deed === 'digits')
    // As programs write it whose integers have 64 bits.
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"id":1497549923779084388,"small":7}}}\n`)
  else if (deed === 'asks') say({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
  else if (deed === 'answers-shapeless') say({ id, result: { content: 7 } })
  else if (deed === 'refuses') say({ id, error: { code: -32_602, message: 'no city of that name' } })
  else if (deed !== 'hangs')
    say({ id, result: { content: [{ type: 'text', text: deed === 'echoes' ? JSON.stringify(params.arguments) : `done ${method}` }] } })
}
