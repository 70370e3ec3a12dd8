import { expect, test } from 'vitest'
import { aGateway } from '../http/harness.ts'

const says = async ({ rpc }: Awaited<ReturnType<typeof aGateway>>, message: string, idempotencyKey: string) => {
  await rpc('chat.send', { sessionKey: 'main', message, idempotencyKey })
  await rpc('agent.wait', { sessionKey: 'main', runId: idempotencyKey })
}

test('a history says when its messages were said, and how the runs ended that answered them', async () => {
  const gateway = await aGateway()
  const before = Date.now()
  await says(gateway, 'first', 'k1')
  await says(gateway, 'second', 'k2')

  const { messages, runs } = (await gateway.rpc('chat.history', { sessionKey: 'main', details: true })).json

  expect(messages.map(({ id }: { id: string }) => id)).toEqual(['k1', 'k1:1', 'k2', 'k2:1'])
  for (const { at } of messages) expect(at).toBeGreaterThanOrEqual(before)
  expect(runs).toMatchObject([
    { runId: 'k1', ids: ['k1'], answerId: 'k1:1', status: 'completed', outcome: 'replied', model: 'test/echo', usage: expect.any(Object) },
    { runId: 'k2', answerId: 'k2:1' },
  ])
})

test('no more runs are named than the newest messages are of', async () => {
  const gateway = await aGateway()
  for (const [index, message] of ['one', 'two', 'three'].entries()) await says(gateway, message, `k${index}`)

  const { messages, runs } = (await gateway.rpc('chat.history', { sessionKey: 'main', details: true, limit: 2 })).json

  expect(messages).toHaveLength(2)
  expect(runs.map(({ runId }: { runId: string }) => runId)).toEqual(['k2'])
})

test('a run that was stopped says so, with what it had said', async () => {
  const gateway = await aGateway()
  await gateway.rpc('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
  await expect.poll(async () => (await gateway.rpc('sessions.get', { sessionKey: 'main' })).json.run?.runId).toBe('k1')
  await gateway.rpc('chat.abort', { sessionKey: 'main' })
  await gateway.rpc('agent.wait', { sessionKey: 'main', runId: 'k1' })

  const { runs } = (await gateway.rpc('chat.history', { sessionKey: 'main', details: true })).json

  expect(runs).toMatchObject([{ runId: 'k1', status: 'cancelled', outcome: 'aborted' }])
})
