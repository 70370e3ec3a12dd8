/** Runs that end by themselves, and what a client asks when it starts. */
import { expect, test } from 'vitest'
import { agent } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

/** Its model may say nothing for a day. */
const patient = agent({ name: 'main', model: 'test/echo', limits: { modelCall: { idleTimeoutMs: 86_400_000, totalTimeoutMs: 86_400_000 } } })

test('[CH-16] a run that nobody ends is ended when its time is over, and says that it was the time', async () => {
  const clock = virtualClock()
  const { gateway } = await aGateway({}, { agents: [patient], environment: { clock } })
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1', timeoutMs: 300_000 })
  await event('chat', ({ message }) => JSON.stringify(message).includes('so far'))

  await clock.advance(299_000)
  const before = await request('sessions.get', { sessionKey: 'main' })
  await clock.advance(61_000)
  const { payload } = await event('chat', ({ state }) => state !== 'delta')

  expect(before.payload.run).toMatchObject({ runId: 'k1' })
  expect(payload).toMatchObject({ runId: 'k1', state: 'error', errorKind: 'timeout' })
  expect((await request('sessions.get', { sessionKey: 'main' })).payload.run).toBeNull()
})

test('[CH-96] what a client asks when it starts is answered over one socket, and no model is opened for it', async () => {
  let opened = 0
  const { gateway } = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/counted' })],
      models: {
        'test/counted': () => {
          opened++
          return { text: 'hi' }
        },
      },
    },
  )
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hello', idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  const answers = await Promise.all([
    request('config.get'),
    request('chat.history', { sessionKey: 'main' }),
    request('models.list'),
    request('models.list'),
    request('agents.list'),
    request('sessions.list', { details: true }),
  ])

  expect(answers.map(({ ok }) => ok)).toEqual(answers.map(() => true))
  expect(answers[1]?.payload.messages).toHaveLength(2)
  expect(answers[2]?.payload).toEqual(answers[3]?.payload)
  expect(opened).toBe(1)
})

test.each(['/stop', 'stop'])(
  '[CH-18] %s as a message ends the run that goes on and those that wait, and is answered with their ids',
  async (word) => {
    const { gateway } = await aGateway()
    const { request, event } = await aSocket(gateway.url)
    await request('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
    await event('chat', ({ message }) => JSON.stringify(message).includes('so far'))
    await request('chat.send', { sessionKey: 'main', message: 'and then', idempotencyKey: 'k2', queueMode: 'followup' })

    const stopped = await request('chat.send', { sessionKey: 'main', message: word, idempotencyKey: 'k3' })
    await event('chat', ({ runId, state }) => runId === 'k1' && state === 'aborted')
    const again = await request('chat.send', { sessionKey: 'main', message: word, idempotencyKey: 'k4' })

    expect(stopped.payload).toMatchObject({ aborted: true, runIds: ['k1', 'k2'] })
    expect(again.payload).toMatchObject({ aborted: false, runIds: [] })
  },
)
