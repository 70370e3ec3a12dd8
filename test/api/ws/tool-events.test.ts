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
