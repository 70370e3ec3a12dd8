/** Files that go with messages: over a socket, over HTTP, and to the model. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agent, type ModelRequest, scriptedModel } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { aGateway, token } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const idOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A node whose model keeps what it was asked. */
const aNode = async (options: { transport?: string; accepts?: { images?: boolean; pdf?: boolean } } = {}) => {
  const asked: ModelRequest[] = []
  const script = scriptedModel((request) => {
    asked.push(request)
    return { text: `answer ${asked.length}` }
  })
  const model = options.accepts ? { ...script, accepts: options.accepts } : script
  const node = await aGateway(
    {},
    {
      transport: options.transport ?? 'memory:',
      agents: [agent({ name: 'main', model: 'test/sees' })],
      models: { 'test/sees': model },
    },
  )
  const filesAsked = () => asked.flatMap(({ messages }) => messages.flatMap((message) => (message.role === 'user' ? (message.files ?? []) : [])))
  const say = async (message: string, attachments: unknown[], more = {}) => {
    const reply = await node.rpc('chat.send', { sessionKey: 'main', message, attachments, ...more })
    if (reply.status === 200) await node.rpc('agent.wait', { sessionKey: 'main', runId: reply.json.runId })
    return reply
  }
  const journal = async (): Promise<string> =>
    JSON.stringify(
      (await node.rpc('trace.frames', { id: 'main' })).json.frames.map(({ bytes }: any) => Buffer.from(bytes, 'base64').toString('latin1')),
    )
  return { ...node, asked, filesAsked, say, journal }
}
const get = (url: string, path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })

test('[CH-08, CH-10] an image that is sent over the socket reaches the model as an image; history and journal name it, and hold nothing of it', async () => {
  const { gateway, asked, journal, runtime } = await aNode()
  const { request, event } = await aSocket(gateway.url)
  await request('chat.subscribe', { sessionKey: 'main' })

  const sent = await request('chat.send', {
    sessionKey: 'main',
    message: 'what is this?',
    idempotencyKey: 'k1',
    attachments: [{ type: 'image', mimeType: 'image/png', fileName: 'dot.png', content: `data:image/png;base64,${png.toString('base64')}` }],
  })
  const told = await event('session.message', ({ id }) => id === 'k1')
  await event('chat', ({ state }) => state === 'final')
  const history = await request('chat.history', { sessionKey: 'main' })

  const file = { id: idOf(png), mimeType: 'image/png', bytes: png.length, fileName: 'dot.png' }
  expect(sent).toMatchObject({ ok: true, payload: { runId: 'k1', status: 'started' } })
  expect(sent.payload).not.toHaveProperty('warnings')
  expect(asked[0]?.messages.at(-1)).toMatchObject({ role: 'user', text: 'what is this?', files: [{ ...file, data: new Uint8Array(png) }] })
  expect(told.payload).toMatchObject({ text: 'what is this?', files: [file] })
  expect(history.payload.messages[0]).toEqual({ role: 'user', id: 'k1', text: 'what is this?', files: [file], at: expect.any(Number) })
  const written = await journal()
  expect(written).toContain(file.id)
  for (const trace of [png.toString('base64').slice(0, 40), 'IHDR']) expect(written).not.toContain(trace)
  expect(await runtime.replay({ kind: 'session', id: 'main' })).toMatchObject({ verdict: 'identical' })
})

test('[CH-10] a text that is labelled PNG is taken as the text that it is, and the answer and the log say so', async () => {
  const { say, asked, runtime } = await aNode()
  const warned: object[] = []
  const { log } = partsOf(runtime).environment
  const warn = log.warn.bind(log)
  log.warn = (fields, message) => {
    warned.push({ ...fields, message })
    warn(fields, message)
  }

  const { json } = await say('look', [{ mimeType: 'image/png', fileName: 'shot.png', content: base64('not a picture') }])

  expect(json.warnings).toEqual([{ fileName: 'shot.png', message: 'labelled image/png, but its content is text/plain: taken as that' }])
  expect(asked[0]?.messages.at(-1)).toMatchObject({ files: [{ mimeType: 'text/plain', data: new TextEncoder().encode('not a picture') }] })
  expect(warned).toContainEqual(expect.objectContaining({ fileName: 'shot.png', reason: expect.stringContaining('labelled image/png') }))
})

test('[CH-10] what is neither image nor PDF nor text is left out with a warning; where nothing else was said, the message is refused', async () => {
  const { say, filesAsked, rpc } = await aNode()
  const zip = { fileName: 'all.zip', content: Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]).toString('base64') }

  const { json } = await say('look', [zip, { fileName: 'a.csv', mimeType: 'text/csv', content: base64('a,b') }])
  const alone = await say('', [zip])

  expect(json.warnings).toEqual([{ fileName: 'all.zip', message: expect.stringContaining('left out') }])
  expect(filesAsked()).toMatchObject([{ fileName: 'a.csv', mimeType: 'text/csv' }])
  expect([alone.status, alone.json.error.code, alone.json.error.field]).toEqual([400, 'bad_request', 'attachments'])
  expect((await rpc('chat.history', { sessionKey: 'main' })).json.messages).toHaveLength(2)
})

test('[CH-08] a message may consist of files alone', async () => {
  const { say, asked } = await aNode()

  const { json } = await say('', [{ fileName: 'dot.png', content: png.toString('base64') }], { idempotencyKey: 'only' })

  expect(json).toMatchObject({ runId: 'only', status: 'started' })
  expect(asked[0]?.messages.at(-1)).toMatchObject({ role: 'user', text: '', files: [{ fileName: 'dot.png' }] })
  expect((await say('', [])).json.error).toMatchObject({ code: 'bad_request', field: 'message' })
})

test.each([
  ['5,000,001 bytes', { content: Buffer.alloc(5_000_001, 65).toString('base64') }, 413, 'too_large', 'attachments.0.content'],
  ['what is no base64', { content: 'not base64!' }, 400, 'bad_request', 'attachments.0.content'],
  ['base64 that was cut off', { content: 'aGVsb' }, 400, 'bad_request', 'attachments.0.content'],
  ['a data URL without base64', { content: 'data:text/plain,hello' }, 400, 'bad_request', 'attachments.0.content'],
  ['nothing at all', { content: '' }, 400, 'bad_request', 'attachments.0.content'],
  ['an address', { content: 'https://example.org/a.png' }, 400, 'bad_request', 'attachments.0.content'],
  ['an id that nobody has uploaded', { id: 'a'.repeat(64) }, 404, 'not_found', 'attachments.0.id'],
  ['neither content nor id', { fileName: 'a.png' }, 400, 'bad_request', 'attachments.0'],
  ['a field too many', { content: 'aGVsbG8=', path: '/etc/passwd' }, 400, 'bad_request', 'attachments.0.path'],
])('[CH-10] %s is refused, and nothing is said', async (_, attachment, status, code, field) => {
  const { rpc, asked } = await aNode()

  const reply = await rpc('chat.send', { sessionKey: 'main', message: 'look', attachments: [attachment] })

  expect([reply.status, reply.json.error.code, reply.json.error.field]).toEqual([status, code, field])
  expect(asked).toEqual([])
  expect((await rpc('chat.history', { sessionKey: 'main' })).status).toBe(404)
})

test('[CH-10] 5,000,000 bytes are taken, and eleven files are not', async () => {
  const { say, filesAsked, rpc } = await aNode()

  const largest = await say('look', [{ fileName: 'a.txt', content: Buffer.alloc(5_000_000, 65).toString('base64') }])
  const many = await rpc('chat.send', { sessionKey: 'main', message: 'x', attachments: Array.from({ length: 11 }, () => ({ content: 'aGk=' })) })

  expect(largest.status).toBe(200)
  expect(filesAsked()).toMatchObject([{ bytes: 5_000_000 }])
  expect([many.status, many.json.error.field]).toEqual([400, 'attachments'])
})

test('[CH-10] names come without paths, line ends and characters that turn the direction of writing', async () => {
  const { say, filesAsked, gateway } = await aNode()
  const names = ['../../etc/passwd', 'C:\\temp\\a.txt', 'a\r\nSet-Cookie: x=1', 'photo\u202Egnp.exe', '...', 'a"b;ü.txt']

  await say(
    'look',
    names.map((fileName, index) => ({ fileName, content: base64(`text ${index}`) })),
  )

  expect(filesAsked().map(({ fileName }) => fileName)).toEqual(['passwd', 'a.txt', 'aSet-Cookie_ x=1', 'photognp.exe', 'file.txt', 'a_b;ü.txt'])
  const { headers } = await get(gateway.url, `/sessions/main/files/${idOf(Buffer.from('text 5'))}`)
  expect(headers.get('content-disposition')).toBe(`attachment; filename="a_b;_.txt"; filename*=UTF-8''a_b%3B%C3%BC.txt`)
})

test('[CH-10] a large file is uploaded first and named by its id; only its session gives it back, harmless whatever it is', async () => {
  const { gateway, call, say, filesAsked } = await aNode()
  const page = '<script>alert(1)</script>'

  const image = await call('POST', '/files?name=big.png', { body: png, headers: { 'content-type': 'image/png' } })
  const text = await call('POST', '/files', {
    body: JSON.stringify({ content: base64(page), fileName: 'page.html', mimeType: 'text/html' }),
    headers: { 'content-type': 'application/json' },
  })
  const early = await get(gateway.url, `/sessions/main/files/${image.json.id}`)
  const { json } = await say('look', [{ id: image.json.id }, { id: text.json.id, fileName: 'mine.html' }])

  expect(image.json).toEqual({ id: idOf(png), mimeType: 'image/png', bytes: png.length, fileName: 'big.png' })
  expect(early.status).toBe(404)
  expect(json).not.toHaveProperty('warnings')
  expect(filesAsked()).toMatchObject([{ fileName: 'big.png' }, { fileName: 'mine.html', mimeType: 'text/html' }])
  const shown = await get(gateway.url, `/sessions/main/files/${image.json.id}`)
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': expect.stringMatching(/^inline; filename="big.png"/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
  })
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
  const saved = await get(gateway.url, `/files/${text.json.id}?sessionKey=main`)
  expect([saved.headers.get('content-type'), saved.headers.get('content-disposition')?.slice(0, 10), await saved.text()]).toEqual([
    'text/plain; charset=utf-8',
    'attachment',
    page,
  ])
  expect((await get(gateway.url, `/sessions/other/files/${image.json.id}`)).status).toBe(404)
  expect((await fetch(`${gateway.url}/sessions/main/files/${image.json.id}`)).status).toBe(401)
  expect((await fetch(`${gateway.url}/files?name=x`, { method: 'POST', body: png })).status).toBe(401)
})

test('[CH-10] an upload of 5,000,001 bytes is refused, and so is one that no model could read', async () => {
  const { call } = await aNode()

  const large = await call('POST', '/files?name=a.txt', { body: Buffer.alloc(5_000_001, 65) })
  const zip = await call('POST', '/files?name=a.zip', { body: Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]) })

  expect([large.status, large.json.error]).toMatchObject([
    413,
    { code: 'too_large', message: 'a file may have 5000000 bytes, this one has 5000001', hint: expect.stringContaining('make it smaller') },
  ])
  expect(zip.json.error).toMatchObject({
    code: 'bad_request',
    message: '"a.zip" cannot be sent to a model',
    hint: expect.stringContaining('an image'),
  })
})

test('[CH-10] the type that curl makes up for --data-binary is no label', async () => {
  const { call } = await aNode()

  const { json } = await call('POST', '/files?name=shot.png', { body: png, headers: { 'content-type': 'application/x-www-form-urlencoded' } })

  expect(json).toEqual({ id: idOf(png), mimeType: 'image/png', bytes: png.length, fileName: 'shot.png' })
})

test('[CH-10] the scope write is needed to put a file, read to get one', async () => {
  const { gateway } = await aNode()
  const { request } = await aSocket(gateway.url, { scopes: ['read'] })

  expect((await request('files.put', { content: 'aGk=' })).error.code).toBe('forbidden')
  expect((await request('files.list', { sessionKey: 'main' })).payload).toEqual({ files: [] })
})

test('[CH-10] a model that takes no images is told that there is one; a PDF goes to those that say that they read it', async () => {
  const blind = await aNode({ accepts: { images: false } })
  const reader = await aNode({ accepts: { pdf: true } })
  const files = [
    { fileName: 'dot.png', content: png.toString('base64') },
    { fileName: 'paper.pdf', content: base64('%PDF-1.7 …') },
  ]

  await blind.say('look', files)
  await reader.say('look', files)

  expect(blind.filesAsked()).toMatchObject([{ missing: 'cannot be read by this model' }, { missing: 'cannot be read by this model' }])
  expect(reader.filesAsked().map(({ data }) => data?.length)).toEqual([png.length, 12])
})

test('[CH-10] a file that has gone is a word to the model and no failure of the turn', async () => {
  const { say, filesAsked, runtime } = await aNode()
  await say('look', [{ fileName: 'dot.png', content: png.toString('base64') }])

  await partsOf(runtime).transport.blobs.delete(idOf(png))
  const { json } = await say('and now?', [])

  expect(json.status).toBe('started')
  expect(filesAsked().at(-1)).toMatchObject({ fileName: 'dot.png', missing: 'is no longer there' })
})

test('[CH-10] with its session a file goes, unless another one names it; a repeated message names it once', async () => {
  const { say, rpc, runtime } = await aNode()
  const mine = { fileName: 'mine.txt', content: base64('mine') }
  const shared = { fileName: 'dot.png', content: png.toString('base64') }
  await say('look', [mine, shared], { idempotencyKey: 'k1' })
  const again = await say('look', [mine, shared], { idempotencyKey: 'k1' })
  await rpc('chat.send', { sessionKey: 'other', message: 'x', attachments: [shared] })
  const { transport, environment } = partsOf(runtime)
  // A day later nobody is about to send what was uploaded.
  for (const { key } of await transport.registry.list('uploaded.')) await transport.registry.delete(key)

  await rpc('sessions.delete', { sessionKey: 'main' })

  expect(again.json).toMatchObject({ duplicate: true, status: 'ok' })
  expect([await transport.blobs.has(idOf(Buffer.from('mine'))), await transport.blobs.has(idOf(png))]).toEqual([false, true])
  expect((await rpc('files.list', { sessionKey: 'main' })).json.files).toEqual([])
  expect(environment.clock.now()).toBeGreaterThan(0)
})

test('[CH-10] after a restart the file is there, private on the disk, and the model gets it with the next message', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const before = await aNode({ transport: `embedded:${folder}` })
  await before.say('look', [{ fileName: 'dot.png', content: png.toString('base64') }])
  await before.gateway.close()
  await before.runtime.close()

  const after = await aNode({ transport: `embedded:${folder}` })
  await after.say('and again?', [])

  expect(after.filesAsked()).toMatchObject([{ fileName: 'dot.png', data: new Uint8Array(png) }])
  expect((await get(after.gateway.url, `/sessions/main/files/${idOf(png)}`)).status).toBe(200)
  const file = join(folder, 'blobs', idOf(png).slice(0, 2), idOf(png))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file)).toEqual(png)
  expect(readdirSync(join(folder, 'blobs', 'partial'))).toEqual([])
})
