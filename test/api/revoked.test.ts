/** What is being answered when a token is revoked: nothing more is told, at whichever door it was asked. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, command, type Extension } from '../../src/index.ts'
import { virtualClock } from '../../src/testing/index.ts'
import { aGateway } from './http/harness.ts'
import { aSocket } from './ws/a-socket.ts'

const key = 'agent:main:web:mine'

/** A node whose model says something when it is let, and a token of its own. */
const aNode = async () => {
  const clock = virtualClock()
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const made = await aGateway(
    { clock },
    {
      agents: [agent({ name: 'main', model: 'test/gated' })],
      models: {
        'test/gated': async () => {
          asked.resolve()
          await gate.promise
          return { text: 'the secret' }
        },
      },
    },
  )
  const { token } = (await made.rpc('tokens.create', { name: 'page', scopes: ['write'], sessions: ['agent:main:web:*'] })).json
  const headers = { authorization: `Bearer ${token}` }
  const post = (path: string, body: object) => made.call('POST', path, { headers, body: JSON.stringify(body) })
  const revoke = () => made.rpc('tokens.revoke', { id: 'page' })
  return { ...made, clock, token: token as string, headers, post, revoke, asked: asked.promise, answer: gate.resolve }
}

const chat = { model: 'main', messages: [{ role: 'user', content: 'hello' }] }
const page = { id: key, trigger: 'submit-message', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }

const streams: [door: string, body: object][] = [
  ['/api/chat', page],
  ['/v1/chat/completions', { ...chat, stream: true }],
  ['/v1/responses', { model: 'main', input: 'hello', stream: true }],
]

test.each(streams)('[INV-19] a stream of %s ends when its token is revoked, also while nothing is said', async (path, body) => {
  const { post, revoke, clock, asked } = await aNode()
  const answered = post(path, body)
  await asked

  await revoke()
  await clock.advance(30_000)

  expect((await answered).text).toContain('the token is over')
})

test.each(streams)('[INV-19] what is said next ends a stream of %s whose token is revoked, and is not told', async (path, body) => {
  const { post, revoke, answer, asked } = await aNode()
  const answered = post(path, body)
  await asked

  await revoke()
  answer()

  const { text } = await answered
  expect(text).toContain('the token is over')
  expect(text).not.toContain('secret')
})

test.each([
  ['/v1/chat/completions', chat],
  ['/v1/responses', { model: 'main', input: 'hello' }],
])('[INV-19] a whole answer of %s is not told to a token that was revoked', async (path, body) => {
  const { post, revoke, answer, asked } = await aNode()
  const answered = post(path, body)
  await asked

  await revoke()
  answer()

  const { status, text } = await answered
  expect([status, text.includes('secret')]).toEqual([401, false])
})

test('[INV-19] who waits for a run with a token that is revoked is refused, soon or with its outcome', async () => {
  const { post, revoke, answer, asked, clock } = await aNode()
  await post('/rpc/chat.send', { sessionKey: key, message: 'hello', idempotencyKey: 'm1' })
  const wait = { sessionKey: key, runId: 'm1', timeoutMs: 3_600_000 }
  await asked
  const soon = post('/rpc/agent.wait', wait)
  // It is being waited for when something that was asked later is answered.
  await post('/rpc/sessions.get', { sessionKey: key })

  await revoke()
  await clock.advance(30_000)
  expect((await soon).status).toBe(401)
  answer()
})

test('[INV-19] a command that was carried out says so, also where it ends the token of who asked', async () => {
  const { rpc, call } = await aNode()
  const { token } = (await rpc('tokens.create', { name: 'admin', scopes: ['admin'] })).json
  const revoked = await call('POST', '/rpc/tokens.revoke', { headers: { authorization: `Bearer ${token}` }, body: '{"id":"admin"}' })

  expect([revoked.status, revoked.json.name]).toEqual([200, 'admin'])
})

test('[INV-19] an outcome that is waited for on a socket is not told to a token that was revoked', async () => {
  const { gateway, rpc, token, revoke, answer, asked } = await aNode()
  const { request, closed, frames } = await aSocket(gateway.url, { auth: { token } })
  await rpc('chat.send', { sessionKey: key, message: 'hello', idempotencyKey: 'm1' })
  await asked
  const waiting = request('agent.wait', { sessionKey: key, runId: 'm1' })
  await request('sessions.get', { sessionKey: key })

  await revoke()
  answer()

  expect((await closed).code).toBe(1008)
  expect(JSON.stringify(frames)).not.toContain('secret')
  void waiting
})

test('[INV-19] events end when the token is revoked, though nothing happens in the session', async () => {
  const { gateway, headers, revoke, clock } = await aNode()
  const response = await fetch(`${gateway.url}/sessions/${key}/events`, { headers })
  const all = response.text()

  await revoke()
  await clock.advance(30_000)

  expect(await all).toContain(': listening')
})

test('[INV-19] an answer ends with the time of its token', async () => {
  const clock = virtualClock()
  const { rpc, gateway } = await aGateway({ clock }, { environment: { clock } })
  const { token } = (await rpc('tokens.create', { name: 'short', scopes: ['read'], expiresInMs: 60_000 })).json
  const response = await fetch(`${gateway.url}/sessions/${key}/events`, { headers: { authorization: `Bearer ${token}` } })
  const all = response.text()

  await clock.advance(90_000)

  expect(await all).toContain(': listening')
})

test('[INV-19] what a command of an extension has waited for is not told to a token that was revoked, over HTTP and over the socket; what it has changed is', async () => {
  const gate = Promise.withResolvers<void>()
  let asked = 0
  const begun = Promise.withResolvers<void>()
  const run = async () => {
    if (++asked === 3) begun.resolve()
    await gate.promise
    return { told: 'the secret' }
  }
  const shop: Extension = {
    name: 'shop',
    commands: {
      'shop.wait': command({ input: z.strictObject({}), scope: 'read', run }),
      'shop.buy': command({ input: z.strictObject({}), scope: 'write', run }),
    },
  }
  const { rpc, call, gateway } = await aGateway({ clock: virtualClock() }, { extensions: [shop] })
  const { token } = (await rpc('tokens.create', { name: 'page', scopes: ['write'] })).json
  const { request } = await aSocket(gateway.url, { auth: { token } })
  const post = (name: string) => call('POST', `/rpc/${name}`, { headers: { authorization: `Bearer ${token}` }, body: '{}' })
  const answers = [post('shop.wait'), post('shop.buy')]
  const reply = request('shop.wait', {})
  await begun.promise

  await rpc('tokens.revoke', { id: 'page' })
  gate.resolve()

  const [waited, bought] = await Promise.all(answers)
  expect(waited).toMatchObject({ status: 401, text: expect.not.stringContaining('secret') })
  expect(bought).toMatchObject({ status: 200, json: { told: 'the secret' } })
  expect(await reply).toMatchObject({ ok: false, error: { code: 'unauthorised' } })
})
