/** Links in messages, which somebody looks up before the model is asked: over a socket, with pages of a real server. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type ChatOptions, chat } from '../../../src/chat.ts'
import { agent, type ModelRequest } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

/** Pages of this machine, and what was asked for. */
const aSite = async (listener: RequestListener) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    listener(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, place, url: `http://${place}` }
}
const pages: RequestListener = (request, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>Page ${request.url}</title><script>no()</script><p>Tea &amp; cake`)

const aNode = async (links: ChatOptions['links'], hold: { model?: () => Promise<unknown> } = {}) => {
  const asked: ModelRequest[] = []
  const node = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/reads' })],
      models: {
        'test/reads': async (request: ModelRequest) => {
          asked.push(request)
          await hold.model?.()
          return { text: `answer ${asked.length}` }
        },
      },
      extensions: [chat(links === undefined ? {} : { links })],
    },
  )
  const socket = await aSocket(node.gateway.url)
  await socket.request('chat.subscribe', { sessionKey: 'main' })
  const say = async (message: string, idempotencyKey: string) => {
    const sent = await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey })
    await socket.event('chat', ({ runId, state }) => runId === idempotencyKey && state !== 'delta')
    return sent
  }
  const told = () => asked.flatMap(({ messages }) => messages.flatMap((one) => (one.role === 'user' ? [one.after ?? ''] : []))).join('\n')
  return { ...node, ...socket, asked, say, told }
}

test('[CH-21] of five links three are read, and what they say is told to the model and to nobody else', async () => {
  const site = await aSite(pages)
  const { say, told, request } = await aNode({ allow: [site.place] })

  await say(`see ${['a', 'b', 'b', 'c', 'd', 'e'].map((name) => `${site.url}/${name}`).join(', ')}.`, 'k1')
  const history = await request('chat.history', { sessionKey: 'main' })

  expect(site.asked.toSorted()).toEqual(['/a', '/b', '/c'])
  for (const name of ['a', 'b', 'c']) expect(told()).toContain(`The link ${site.url}/${name} was looked up`)
  expect(told()).toContain('Page /a\nTea & cake')
  expect(told()).not.toContain('no()')
  expect(JSON.stringify(history.payload)).not.toContain('Tea')
})

test('[CH-21] links of Markdown and to this machine are not looked up, nor is any where nobody is configured for it', async () => {
  const site = await aSite(pages)
  const on = await aNode(true)
  const off = await aNode(undefined)

  await on.say(`[tea](${site.url}/tea) ${site.url}/own http://localhost:1/x http://[::1]/y http://2130706433/z`, 'k1')
  await off.say(`${site.url}/off`, 'k1')

  expect([site.asked, on.told(), off.told()]).toEqual([[], '', ''])
})

test('[CH-21] a link into a private network is refused, and the answer comes all the same', async () => {
  const { say, told, asked, request } = await aNode(true)

  await say('what is http://10.0.0.1/ and http://169.254.169.254/latest/meta-data/ and http://[fd00::1]/?', 'k1')
  const { payload } = await request('trace.spans', { sessionKey: 'main', runId: 'k1' })

  expect([asked.length, told()]).toEqual([1, ''])
  expect(payload.runs[0].stages.find(({ name }: any) => name === 'links')).toMatchObject({ outcome: 'error' })
})

test('[CH-21, CH-19] looking up is a stage of the run, between its session and its model', async () => {
  const site = await aSite(pages)
  const { say, request } = await aNode({ allow: [site.place] })

  await say(`${site.url}/a ${site.url}/b`, 'k1')
  const { payload } = await request('trace.spans', { sessionKey: 'main', runId: 'k1' })

  const { session, links, model } = Object.fromEntries(payload.runs[0].stages.map((stage: any) => [stage.name, stage]))
  expect(links).toMatchObject({ outcome: 'ok', attributes: { count: 2 } })
  expect([session.end <= links.start, links.start < links.end, links.end <= model.start]).toEqual([true, true, true])
})

test('[CH-21] where one handler fails the next one is asked, and one of our own may fetch as we do', async () => {
  const site = await aSite(pages)
  const calls: string[] = []
  const { say, told } = await aNode({
    allow: [site.place],
    handlers: [
      { name: 'broken', read: (url) => (calls.push(url), Promise.reject(new Error('no'))) },
      { name: 'short', read: async (url, { read }) => `in short: ${(await read(url)).length} characters` },
      'read',
    ],
  })

  await say(`${site.url}/a`, 'k1')

  expect(calls).toEqual([`${site.url}/a`])
  expect(told()).toContain('in short: 18 characters')
})

test('[CH-21] a link of a message that joins a run is looked up while the model is still busy, once, and is told with it', async () => {
  const site = await aSite(pages)
  const first = Promise.withResolvers<void>()
  const { request, event, asked } = await aNode({ allow: [site.place] }, { model: () => (asked.length === 1 ? first.promise : Promise.resolve()) })

  await request('chat.send', { sessionKey: 'main', message: 'begin', idempotencyKey: 'k1' })
  const joined = await request('chat.send', { sessionKey: 'main', message: `and ${site.url}/late`, idempotencyKey: 'k2' })
  first.resolve()
  await event('chat', ({ runId, state }) => runId === 'k1' && state === 'final')

  expect(joined.payload.status).toBe('steered')
  expect(site.asked).toEqual(['/late'])
  expect(asked[1]?.messages.at(-1)).toMatchObject({ text: expect.stringContaining('/late'), after: expect.stringContaining('Page /late') })
})

test('[CH-21] a run whose links hang can be stopped, and its connections with it', async () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const site = await aSite((request) => {
    request.on('close', ended.resolve)
    begun.resolve()
  })
  const { request, event, asked } = await aNode({ allow: [site.place] })

  await request('chat.send', { sessionKey: 'main', message: `${site.url}/hangs`, idempotencyKey: 'k1' })
  await begun.promise
  await request('chat.send', { sessionKey: 'main', message: '/stop', idempotencyKey: 'k2' })
  await event('chat', ({ runId, state }) => runId === 'k1' && state === 'aborted')
  await ended.promise

  expect(asked).toEqual([])
})
