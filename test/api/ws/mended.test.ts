/** What attackers have found in the doors of a gateway. */
import { expect, test } from 'vitest'
import { aGateway } from '../http/harness.ts'
import { aSocket, rawSocket } from './a-socket.ts'

test('a frame whose params are a list is refused by its id', async () => {
  const { gateway } = await aGateway()
  const { send, until } = await aSocket(gateway.url)

  send({ type: 'req', id: 'mine', method: 'health', params: [] })

  expect(await until(({ id }) => id === 'mine')).toMatchObject({ ok: false, error: { code: 'bad_request', field: 'params' } })
})

test('an upgrade to an address without a host is answered as any that is not there', async () => {
  const { gateway } = await aGateway()

  expect(await rawSocket(gateway.url, { path: '//' }).refused).toBe(404)
})

test('files of the page that are not there are 404, however often somebody asks, and are no wrong tokens', async () => {
  const { call } = await aGateway()
  const headers = { authorization: '' }

  for (let count = 0; count < 30; count++) expect((await call('GET', '/assets/none.js', { headers })).status).toBe(404)
  expect((await call('POST', '/rpc/health', { headers })).status).toBe(401)
})

test('a title has no characters that turn the writing around', async () => {
  const { gateway } = await aGateway()
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'open \u202egpj.exe\u202c now', idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  const { sessions } = (await request('sessions.list', { details: true })).payload

  expect(sessions).toMatchObject([{ title: 'open gpj.exe now', last: 'echo open gpj.exe now' }])
})

test('[CH-06] where there is no room left for answers that nobody reads, a large one is refused for the moment and a small one is not', async () => {
  const { gateway } = await aGateway({ answers: { unsentBytesMax: 6_000 } })
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'x'.repeat(8_000), idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  expect(await request('chat.history', { sessionKey: 'main' })).toMatchObject({ ok: false, error: { code: 'overloaded', retryable: true } })
  expect(await request('chat.message', { sessionKey: 'main', messageId: 'k1', limit: 100 })).toMatchObject({ ok: true, payload: { next: 100 } })
})
