/** One connection that asks for more than its share holds up nobody else. */
import { expect, test, vi } from 'vitest'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

/** Histories are answered once the gate is open; keeps whose were begun, in their order. */
const aGatedGateway = async () => {
  const { gateway, runtime } = await aGateway()
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const command = runtime.command.bind(runtime) as (...given: any[]) => Promise<any>
  vi.spyOn(runtime, 'command').mockImplementation(async (...given: any[]) => {
    if (given[0] === 'chat.history') {
      begun.push(given[1].sessionKey)
      await gate.promise
    }
    return command(...given)
  })
  return { url: gateway.url, open: () => gate.resolve(), begun }
}
type Client = Awaited<ReturnType<typeof aSocket>>
const ask = ({ send }: Client, count: number, sessionKey: string) => {
  for (let at = 0; at < count; at++) send({ type: 'req', id: `q${at}`, method: 'chat.history', params: { sessionKey } })
}
const answered = ({ until }: Client, id: string) => until((frame) => frame.type === 'res' && frame.id === id)

test('[CH-06] of 200 histories that are asked for at once, 64 are answered and all others refused', async () => {
  const { url, open } = await aGatedGateway()
  const client = await aSocket(url)

  await client.request('chat.send', { sessionKey: 'mine', message: 'hello', idempotencyKey: 'k1' })
  await client.event('chat', ({ state }) => state === 'final')

  ask(client, 200, 'mine')
  await answered(client, 'q199')
  open()
  const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => answered(client, `q${at}`)))

  expect(answers.slice(0, 64).every(({ ok }) => ok)).toBe(true)
  expect(answers.slice(64).every(({ error }) => error?.code === 'rate_limited' && error.retryable)).toBe(true)
  // What has been answered counts no more.
  expect(await client.request('chat.history', { sessionKey: 'mine' })).toMatchObject({ ok: true })
})

test('[CH-06] who asks after 64 histories of another connection has its turn after one of them', async () => {
  const { url, open, begun } = await aGatedGateway()
  const [greedy, modest] = [await aSocket(url), await aSocket(url)]

  ask(greedy, 64, 'mine')
  // One too many: its refusal says that all before it have been heard.
  expect(await greedy.request('health')).toMatchObject({ ok: false, error: { code: 'rate_limited' } })
  ask(modest, 1, 'other')
  expect(await modest.request('health')).toMatchObject({ ok: true })
  open()
  await Promise.all([answered(greedy, 'q63'), answered(modest, 'q0')])

  // Four are made at once.
  expect(begun.indexOf('other')).toBe(5)
  expect(begun).toHaveLength(65)
})
