/** Runs that somebody ends by saying so. */
import { expect, test } from 'vitest'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

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
