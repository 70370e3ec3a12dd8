/** What those who watch a session are told of its tool calls. */
import { expect, test } from 'vitest'
import { aSocket } from './a-socket.ts'
import { aTool, aToolGateway } from './a-tool-gateway.ts'

const picture = { type: 'image', mimeType: 'image/png', data: Buffer.alloc(3000, 7).toString('base64') }
const held = () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { promise, release: () => resolve('at last') }
}

test('[CH-51] an event holds the size of a picture and not its data, at most 8,000 characters of text and a short line of an error', async () => {
  const broken = aTool('broken', () => {
    throw new Error('e'.repeat(3000))
  })
  const { ask, events, results } = await aToolGateway({
    script: [{ calls: [{ name: 'look' }, { name: 'print' }, { name: 'list' }, { name: 'broken' }] }, { text: 'ok' }],
    tools: [
      aTool('look', () => [{ type: 'text', text: 'a cat' }, picture]),
      aTool('print', () => 'p'.repeat(20_000)),
      aTool('list', () => ({ rows: Array(9000).fill(1) })),
      broken,
    ],
  })

  await ask('go')

  const shown = Object.fromEntries(events('session.tool').flatMap(({ toolName, output }) => (output === undefined ? [] : [[toolName, output]])))
  expect(shown.look).toEqual([
    { type: 'text', text: 'a cat' },
    { type: 'image', mimeType: 'image/png', omitted: true, bytes: 3000 },
  ])
  expect(shown.print).toHaveLength(8000)
  expect(shown.print).toMatch(/20000 characters in all\)$/)
  expect(shown.list).toHaveLength(8000)
  expect((shown.broken as { error: { message: string } }).error.message).toHaveLength(400)
  // The model has had all of it that it may read.
  expect(results(1)[0]?.output).toEqual([{ type: 'text', text: 'a cat' }, picture])
})

const base64 = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 251)).toString('base64')
const png = `iVBORw0KGgo${base64.slice(0, 3989)}`
const bare = { omitted: true, bytes: 3000 }
/**
 * A file as tools, MCP servers and providers write it, and what of it clients get.
 * Sources: coder/xum#1193, RooCodeInc/Roo-Code#1962, alexandriashai/cbrowser#107, CherryHQ/cherry-studio#3360, Mintplex-Labs/anything-llm#5273.
 */
const files: [string, unknown, unknown][] = [
  ['MCP image', { type: 'image', mimeType: 'image/png', data: base64 }, { type: 'image', mimeType: 'image/png', ...bare }],
  ['MCP audio', { type: 'audio', mimeType: 'audio/wav', data: base64 }, { type: 'audio', mimeType: 'audio/wav', ...bare }],
  [
    'MCP resource',
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', blob: base64 } },
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', ...bare } },
  ],
  [
    'Anthropic block',
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: base64 } },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', ...bare } },
  ],
  [
    'Anthropic document',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', ...bare } },
  ],
  [
    'OpenAI part',
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    { type: 'image_url', image_url: { url: '[image/png, 3000 bytes]' } },
  ],
  [
    'OpenAI audio',
    { type: 'input_audio', input_audio: { data: base64, format: 'wav' } },
    { type: 'input_audio', input_audio: { format: 'wav', ...bare } },
  ],
  ['OpenAI picture', { data: [{ b64_json: base64 }] }, { data: [bare] }],
  ['Gemini part', { inlineData: { mimeType: 'image/png', data: base64 } }, { inlineData: { mimeType: 'image/png', ...bare } }],
  ['AI SDK media', { type: 'media', mediaType: 'image/png', data: base64 }, { type: 'media', mediaType: 'image/png', ...bare }],
  ['AI SDK image', { type: 'image', image: base64 }, { type: 'image', ...bare }],
  [
    'resource whose blob is an address',
    { uri: 'a:b', mimeType: 'image/png', blob: `data:image/png;base64,${base64}` },
    { uri: 'a:b', mimeType: 'image/png', blob: '[image/png, 3000 bytes]' },
  ],
  ['MCP image without a type', { type: 'image', data: base64 }, { type: 'image', ...bare }],
  ['buffer of Node', Buffer.from(base64, 'base64').toJSON(), { type: 'Buffer', ...bare }],
  ['address within a text', `see ![a](data:image/png;base64,${base64}) here`, 'see ![a]([image/png, 3000 bytes]) here'],
  ['address in capitals', { url: `DATA:image/PNG;charset=utf-8;BASE64,${base64}` }, { url: '[image/png, 3000 bytes]' }],
  ['drawing in plain text', { icon: `data:image/svg+xml,${'%3Cg/%3E'.repeat(40)}` }, { icon: '[image/svg+xml, 320 bytes]' }],
  ['JSON text of a server', JSON.stringify({ shot: png }), '{"shot":"[image/png, 3000 bytes]"}'],
  ['picture without a word on its type', { screenshot: png }, { screenshot: '[image/png, 3000 bytes]' }],
  [
    'picture six levels down',
    { a: [{ b: [{ c: [{ d: { mimeType: 'image/png', data: base64 } }] }] }] },
    { a: [{ b: [{ c: [{ d: { mimeType: 'image/png', ...bare } }] }] }] },
  ],
]

test.each(files)('[CH-51, CH-74] of a file as %s, event and history hold type and size; the model has its data', async (_, file, light) => {
  const { ask, events, results, request } = await aToolGateway({
    script: [{ calls: [{ name: 'look', input: { given: file } }] }, { text: 'ok' }],
    tools: [aTool('look', () => ({ part: file }))],
  })

  await ask('go')

  const [event] = events('session.tool').filter(({ output }) => output !== undefined)
  expect(event).toMatchObject({ input: { given: light }, output: { part: light } })
  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages[1].calls[0].input).toEqual({ given: light })
  expect(messages[2].output).toEqual({ part: light })
  expect(JSON.stringify(results(1)[0]?.output)).toContain(JSON.stringify(file).slice(-200))
})

test.each<[string, unknown]>([
  ['a hash', { mimeType: 'text/plain', data: 'a'.repeat(64) }],
  ['a text with a type', { mimeType: 'text/plain', content: 'one two, three. '.repeat(20) }],
  ['a long word', { data: 'x'.repeat(300) }],
  ['a path', `/9j/${'folder/'.repeat(10)}`],
  ['a sentence on addresses', 'an address such as data:image/png;base64,iVBORw0KGgo is short, '.repeat(3)],
])('[CH-51] %s is no file, and stays', async (_, output) => {
  const { ask, events } = await aToolGateway({ script: [{ calls: [{ name: 'look' }] }, { text: 'ok' }], tools: [aTool('look', () => output)] })

  await ask('go')

  expect(events('session.tool').find((event) => event.output !== undefined)?.output).toEqual(output)
})

test('[CH-50] a page that comes back while a tool runs is told what runs, and its end with the output; another session hears nothing', async () => {
  const work = held()
  const { gateway, socket, say, event } = await aToolGateway({
    script: [{ calls: [{ name: 'work' }] }, { text: 'ok' }],
    tools: [aTool('work', () => work.promise)],
  })
  await say('go')
  await event('session.tool')
  socket.close()

  const page = await aSocket(gateway.url, { scopes: ['read'] })
  const stranger = await aSocket(gateway.url)
  await stranger.request('chat.subscribe', { sessionKey: 'other' })
  const { payload } = await page.request('chat.subscribe', { sessionKey: 'main' })
  work.release()
  await page.event('chat', ({ state }) => state === 'final')

  expect(payload.tools).toMatchObject([{ toolName: 'work', state: 'running' }])
  expect(page.events('session.tool')).toMatchObject([{ callId: payload.tools[0].callId, state: 'done', output: 'at last' }])
  expect(stranger.events('session.tool')).toEqual([])
})
