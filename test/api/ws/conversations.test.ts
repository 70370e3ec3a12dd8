/** What holds of a conversation whoever looks at it, and by whatever door. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, type Channel, type Payload, type Route, tool } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

test('[CH-72] the transcript is made again from the events alone, in a store that knew nothing', async () => {
  const [{ gateway: from, rpc: exported }, { gateway: to, rpc: imported }] = [await aGateway(), await aGateway()]
  const { request, event } = await aSocket(from.url)
  await request('chat.send', { sessionKey: 'main', message: 'danger', idempotencyKey: 'k1' })
  const { approval } = (await event('approval.requested')).payload
  await request('approvals.resolve', { sessionKey: 'main', callId: approval.callId, decision: 'deny', inputHash: approval.inputHash, note: 'no' })
  await event('chat', ({ runId, state }) => runId === 'k1' && state === 'final')
  await request('chat.send', { sessionKey: 'main', message: 'what now?', idempotencyKey: 'k2' })
  await event('chat', ({ runId, state }) => runId === 'k2' && state === 'final')

  const { frames } = (await exported('trace.frames', { id: 'main' })).json
  await imported('trace.import', {
    id: 'main',
    frames: frames.map(({ seq, bytes }: { seq: number; bytes: string }) => ({ seq, bytes })),
    wakeAt: null,
  })

  const history = async ({ url }: { url: string }) => (await (await aSocket(url)).request('chat.history', { sessionKey: 'main' })).payload.messages
  const kept = await history(from)
  expect(kept.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'])
  expect(await history(to)).toEqual(kept)
})

type World = Awaited<ReturnType<typeof aGateway>>
/** @returns the payload of a success, or the error with what says so at that door */
type Ask = (command: string, input: object) => Promise<any>

const overHttp = async ({ rpc }: World): Promise<Ask> => {
  return async (command, input) => {
    const { status, json } = await rpc(command, input)
    return status === 200 ? json : { refused: status, ...json.error }
  }
}
const onTheSocket = async ({ gateway }: World): Promise<Ask> => {
  const { request } = await aSocket(gateway.url)
  return async (command, input) => {
    const { ok, payload, error } = await request(command, input)
    return ok ? payload : { refused: ok, ...error }
  }
}

test.each([
  ['over HTTP', overHttp, 504],
  ['on the socket', onTheSocket, false],
] as const)(
  '[CH-11, CH-12, CH-77] %s a message is acknowledged before its answer, a repeat runs nothing, and waiting stops nothing',
  async (_, door, refused) => {
    const world = await aGateway()
    const ask = await door(world)
    const watcher = await aSocket(world.gateway.url)
    await watcher.request('chat.subscribe', { sessionKey: 'main' })
    const send = () => ask('chat.send', { sessionKey: 'main', message: 'hang', idempotencyKey: 'k1' })
    const wait = (timeoutMs?: number) => ask('agent.wait', { sessionKey: 'main', runId: 'k1', ...(timeoutMs === undefined ? {} : { timeoutMs }) })

    const first = await send()
    const meanwhile = await send()
    const tooEarly = await wait(0)
    const view = await ask('sessions.get', { sessionKey: 'main' })
    await watcher.event('chat', ({ message }) => message?.content.some((block) => block.type === 'text'))
    const stopped = await ask('chat.abort', { sessionKey: 'main' })
    const outcome = await wait()
    await watcher.event('chat', ({ state }) => state === 'aborted')
    const afterwards = await send()

    expect(first).toEqual({ id: 'k1', runId: 'k1', status: 'started', seq: 1 })
    expect(meanwhile).toMatchObject({ runId: 'k1', status: 'in_flight', duplicate: true })
    expect(tooEarly).toMatchObject({ refused, code: 'timeout', retryable: true, hint: expect.stringContaining('wait again') })
    expect(view.run).toMatchObject({ runId: 'k1' })
    expect(stopped).toMatchObject({ aborted: true, runIds: ['k1'] })
    expect(outcome).toMatchObject({ runId: 'k1', status: 'cancelled', text: 'so far' })
    expect(await wait(0)).toEqual(outcome)
    expect(afterwards).toMatchObject({
      runId: 'k1',
      status: 'error',
      duplicate: true,
      cached: true,
      outcome: { status: 'cancelled', text: 'so far' },
    })
    expect(watcher.events('session.message').filter(({ id }) => id === 'k1')).toHaveLength(1)
  },
)

/** A channel that keeps what it was given. */
const aChannel = (id: string, broken = false) => {
  const sent: { text?: string | undefined; to: string }[] = []
  const channel: Channel = {
    id,
    markdown: false,
    textMax: 4000,
    send: (payload: Payload, { route }: { route: Route }) => {
      if (broken) throw new Error('the line is down')
      sent.push({ text: payload.text, to: route.to })
    },
  }
  return { channel, sent }
}

const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => 'seen' })
const talkative: Parameters<typeof aGateway>[1] = {
  agents: [agent({ name: 'main', model: 'test/two', tools: [look] })],
  models: {
    'test/two': ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'It is there.' } : { text: 'I look.', calls: [{ name: 'look' }] }),
  },
}

test('[CH-23] an answer goes to the channel that asked, and to no other one', async () => {
  const [asking, other] = [aChannel('asking'), aChannel('other')]
  const { gateway } = await aGateway({}, { ...talkative, channels: [asking.channel, other.channel] })
  const { request, event } = await aSocket(gateway.url)
  const say = async (id: string, channel: string, to: string) => {
    await request('chat.send', { sessionKey: 'main', message: 'look', idempotencyKey: id, origin: { channel, to } })
    await event('chat', ({ runId, state }) => runId === id && state === 'final')
  }

  await say('k1', 'other', 'bob')
  const before = other.sent.length
  await say('k2', 'asking', 'ada')

  expect(asking.sent.map(({ text }) => text).join(' ')).toMatch(/I look\..*It is there\./)
  expect(new Set(asking.sent.map(({ to }) => to))).toEqual(new Set(['ada']))
  expect(before).toBeGreaterThan(0)
  expect(other.sent).toHaveLength(before)
})

test('[CH-23] a way that fails is told in the trace, and the answer stands in the history', async () => {
  const down = aChannel('down', true)
  const { gateway, rpc } = await aGateway({}, { ...talkative, channels: [down.channel] })
  const { request, event } = await aSocket(gateway.url)

  await request('chat.send', { sessionKey: 'main', message: 'look', idempotencyKey: 'k1', origin: { channel: 'down', to: 'ada' } })
  await event('chat', ({ state }) => state === 'final')

  const { entries } = (await rpc('trace.read', { id: 'main' })).json
  expect(entries.filter(({ event }: { event: string }) => event === 'block.failed')).not.toEqual([])
  expect((await request('chat.history', { sessionKey: 'main' })).payload.messages.at(-1)).toMatchObject({ role: 'assistant', text: 'It is there.' })
})

test('[CH-14] with deliver an answer leaves by the last route of its own channel; a conversation that is shared lets nothing out', async () => {
  const { channel, sent } = aChannel('signal')
  const { gateway } = await aGateway({}, { ...talkative, channels: [channel] })
  const { request, event } = await aSocket(gateway.url)
  const say = async (sessionKey: string, id: string, more: Record<string, unknown>) => {
    await request('chat.send', { sessionKey, message: 'look', idempotencyKey: id, ...more })
    await event('chat', ({ runId, state }) => runId === id && state === 'final')
  }
  for (const key of ['agent:main:signal:ada', 'main']) await say(key, `first ${key}`, { origin: { channel: 'signal', to: 'ada', messageId: key } })
  const before = sent.length

  await say('main', 'shared', { deliver: true })
  await say('agent:main:signal:ada', 'inside', {})
  const inside = sent.length
  await say('agent:main:signal:ada', 'outside', { deliver: true })

  expect(before).toBeGreaterThan(0)
  expect(inside).toBe(before)
  expect(sent.slice(before).map(({ to }) => to)).toEqual(sent.slice(before).map(() => 'ada'))
  expect(sent.slice(before).map(({ text }) => text)).toContain('It is there.')
})
