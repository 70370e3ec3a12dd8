/** Fetching what a stranger has linked to, from real servers of this machine. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { guardedFetch } from '../../../src/chat/understanding/guarded-fetch.ts'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const serve = async (listener: RequestListener) => {
  let count = 0
  const server = createServer((request, response) => {
    count++
    listener(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, place: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, asked: () => count }
}
/** A resolver that knows one answer after the other, and the last one for good. */
const resolver = (...answers: string[][]) => {
  let asked = 0
  const lookup = ((_name: string, _options: unknown, done: (error: null, found: unknown) => void) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as unknown as typeof import('node:dns').lookup
  return { lookup, asked: () => asked }
}
const get = (url: string, allow: string[] = [], lookup?: typeof import('node:dns').lookup) =>
  guardedFetch(url, { allow: new Set(allow), ...(lookup && { lookup }) }, AbortSignal.timeout(10_000))

test('a text of an allowed place is read, with its charset, and without its packing', async () => {
  const { url, place } = await serve((request, response) => {
    const plain = Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65])
    if (request.url === '/latin') response.writeHead(200, { 'content-type': 'text/plain; charset="iso-8859-1"' }).end(plain)
    else if (request.url === '/gzip') response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync('<p>hi'))
    else response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end(brotliCompressSync('{"a":1}'))
  })

  const read = await Promise.all(['/latin', '/gzip', '/br'].map((path) => get(url + path, [place])))

  expect(read.map(({ text, mimeType, cut }) => [text, mimeType, cut])).toEqual([
    ['grüße', 'text/plain', false],
    ['<p>hi', 'text/html', false],
    ['{"a":1}', 'application/json', false],
  ])
})

test('[CH-21] what is not allowed is refused before a byte of a request has left', async () => {
  const { url, asked } = await serve((_, response) => void response.end('secret'))

  await expect(get(url)).rejects.toMatchObject({ code: 'link_refused' })
  await expect(get(url.replace('127.0.0.1', '2130706433'))).rejects.toMatchObject({ code: 'link_refused' })

  expect(asked()).toBe(0)
})

test('[CH-21] a name that leads inside is refused, also where only one of its addresses does, or only the second answer', async () => {
  const { asked } = await serve((_, response) => void response.end('secret'))
  const inside = resolver(['127.0.0.1'])
  const mixed = resolver(['93.184.216.34', '10.0.0.1'])
  const mapped = resolver(['::ffff:127.0.0.1'])

  for (const { lookup } of [inside, mixed, mapped])
    await expect(get('http://rebound.example/', [], lookup)).rejects.toMatchObject({ code: 'link_refused' })

  // What is connected to is what was looked at: nobody asks a second time.
  expect([inside, mixed, mapped].map((one) => one.asked())).toEqual([1, 1, 1])
  expect(asked()).toBe(0)
})

test('[CH-21] each hop of a redirect is looked at anew, and there is an end to them', async () => {
  const inner = await serve((_, response) => void response.end('secret'))
  const outer = await serve((request, response) => {
    const targets: Record<string, string> = {
      '/in': inner.url,
      '/file': 'file:///etc/passwd',
      '/user': `http://a:b@127.0.0.1:${outer.port}/ok`,
      '/loop': '/loop',
    }
    const location = targets[request.url ?? ''] ?? (request.url === '/two' ? '/one' : request.url === '/one' ? '/ok' : undefined)
    if (location === undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end('arrived')
    else response.writeHead(302, { location }).end()
  })

  for (const path of ['/in', '/file', '/user']) await expect(get(outer.url + path, [outer.place])).rejects.toMatchObject({ code: 'link_refused' })
  await expect(get(`${outer.url}/loop`, [outer.place])).rejects.toMatchObject({ code: 'link_unavailable' })
  const arrived = await get(`${outer.url}/two`, [outer.place])

  expect(arrived).toMatchObject({ text: 'arrived', url: `${outer.url}/ok` })
  expect(inner.asked()).toBe(0)
})

test('[CH-21] a page is read as far as two mebibytes, however small it was packed', async () => {
  const { url, place } = await serve(
    (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'))),
  )

  const { text, cut } = await get(url, [place])

  expect([text.length, cut]).toEqual([2 * 1024 * 1024, true])
})

test('[CH-21] the server hears who asks and nothing else of us, also behind a redirect', async () => {
  const heard: string[][] = []
  const { url, place } = await serve((request, response) => {
    heard.push(Object.keys(request.headers).sort())
    if (request.url === '/') response.writeHead(302, { location: '/next', 'set-cookie': 'tracked=1' }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
  })

  await get(url, [place])

  expect(heard).toEqual(Array(2).fill(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']))
})

test('what is no text, no answer or no whole one is an error of its own', async () => {
  const { url, place } = await serve((request, response) => {
    if (request.url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end('x')
    else if (request.url === '/packed') response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('no gzip')
    else if (request.url === '/half') {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' }).write('half')
      setImmediate(() => response.destroy())
    } else response.writeHead(404).end()
  })

  const codes = await Promise.all(
    ['/image', '/packed', '/half', '/gone'].map((path) =>
      get(url + path, [place]).then(
        () => 'read',
        (error) => error.code,
      ),
    ),
  )

  expect(codes).toEqual(['unsupported', 'link_unavailable', 'link_unavailable', 'link_unavailable'])
})
