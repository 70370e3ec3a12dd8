/** What the model knows of the time, and how long a run may take. */
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import { agent } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const aTalk = async (more: Partial<Parameters<typeof agent>[0]> = {}) => {
  const clock = virtualClock()
  const asked: ModelRequest[] = []
  const { gateway } = await aGateway(
    { clock },
    {
      environment: { clock },
      agents: [agent({ name: 'main', model: 'test/model', instructions: 'Be kind.', ...more })],
      models: {
        'test/model': (request) => {
          asked.push(request)
          return { text: 'yes' }
        },
      },
    },
  )
  const socket = await aSocket(gateway.url)
  const say = async (message: string, id: string) => {
    await socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey: id })
    await socket.event('chat', ({ runId, state }) => runId === id && state === 'final')
  }
  return { clock, asked, say, ...socket }
}
const stamp = (at: number) => {
  const text = new Date(at).toISOString()
  return `[${new Date(at).toUTCString().slice(0, 3)} ${text.slice(0, 10)} ${text.slice(11, 16)} UTC]`
}

test('[CH-15] given "hi", the model is told when it was said and history shows "hi"; what was sent before is sent again byte for byte', async () => {
  const { clock, asked, say, request, event } = await aTalk()
  const first = clock.now()
  await say('hi', 'k1')
  await clock.advance(3_600_000)
  await say('and now?', 'k2')

  expect(asked[0]?.messages).toEqual([{ role: 'user', id: 'k1', text: 'hi', before: stamp(first) }])
  expect(asked[1]?.messages.slice(0, 1)).toEqual(asked[0]?.messages)
  expect(asked[1]?.messages.at(-1)).toMatchObject({ text: 'and now?', before: stamp(first + 3_600_000) })
  expect(asked.map(({ instructions }) => instructions)).toEqual(['Be kind.', 'Be kind.'])

  const { messages } = (await request('chat.history', { sessionKey: 'main' })).payload
  expect(messages.map(({ text }: { text: string }) => text)).toEqual(['hi', 'yes', 'and now?', 'yes'])
  expect(JSON.stringify(messages)).not.toContain(stamp(first))
  expect((await event('session.message')).payload.text).toBe('hi')
})

test('[CH-15] a text that has a stamp gets no other one, a command is read as it was typed, and the zone is what the agent says', async () => {
  const { asked, say, request } = await aTalk({ timeStamp: { timeZone: 'Asia/Tokyo' } })
  await say('[Mon 2026-01-05 14:03 UTC] hi', 'k1')
  await say('/status', 'k2')
  await say('hi', 'k3')

  expect(asked).toHaveLength(2)
  expect(asked[0]?.messages.at(-1)).not.toHaveProperty('before')
  expect(asked[1]?.messages.at(-1)).toMatchObject({
    text: 'hi',
    before: expect.stringMatching(/^\[[A-Z][a-z]{2} [\d-]{10} \d\d:\d\d Asia\/Tokyo\]$/),
  })
  expect((await request('chat.send', { sessionKey: 'main', message: 'hi' })).ok).toBe(true)
})

test('[CH-15] an agent may not want it, and a zone that nobody knows is refused', async () => {
  const { asked, say } = await aTalk({ timeStamp: false })
  await say('hi', 'k1')
  expect(asked[0]?.messages).toEqual([{ role: 'user', id: 'k1', text: 'hi' }])
  expect(() => agent({ name: 'main', timeStamp: { timeZone: 'Mars/Olympus' } })).toThrow(/timeStamp/)
})

test('[CH-16] a run that nobody ends is ended when its time is up, with the reason timeout, and the session is free again', async () => {
  const clock = virtualClock()
  let leaks = true
  const { gateway } = await aGateway(
    { clock },
    {
      environment: { clock },
      agents: [agent({ name: 'main', model: 'test/model', limits: { runTimeoutMs: 120_000, modelCall: { idleTimeoutMs: 10_000_000 } } })],
      models: { 'test/model': () => (leaks ? { text: 'so far', hang: true } : { text: 'here' }) },
    },
  )
  const { request, event, events } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'delta')
  await clock.advance(119_000)
  await request('health')
  expect(events('chat').filter(({ state }) => state !== 'delta')).toEqual([])

  await clock.advance(2_000)
  const { payload } = await event('chat', ({ state }) => state !== 'delta')
  expect(payload).toMatchObject({ runId: 'k1', state: 'error', stopReason: 'timeout', errorKind: 'timeout', error: { code: 'budget_time' } })
  expect((await request('sessions.get', { sessionKey: 'main' })).payload.run ?? null).toBeNull()
  // The mark stands in the journal: who asks late is told so as well.
  expect((await request('agent.wait', { sessionKey: 'main', runId: 'k1', timeoutMs: 0 })).payload).toMatchObject({ status: 'failed' })

  leaks = false
  await request('chat.send', { sessionKey: 'main', message: 'again', idempotencyKey: 'k2' })
  await event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')
})
