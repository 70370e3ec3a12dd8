/** Hooks of extensions, in a chat over the socket. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chat } from '../../../src/chat.ts'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import { agent, type Extension, tool } from '../../../src/index.ts'
import { testChannel, testRuntime, virtualClock } from '../../../src/testing/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const all = async <One>(from: AsyncIterable<One>): Promise<One[]> => {
  const found: One[] = []
  for await (const one of from) found.push(one)
  return found
}

const aChat = async (...extensions: Extension[]) => {
  const asked: ModelRequest[] = []
  const look = tool({ name: 'look', description: 'looks', input: z.object({}), execute: () => ({ key: 'sk-secret', n: 1 }) })
  const { gateway, runtime } = await aGateway(
    {},
    {
      extensions: [chat(), ...extensions],
      agents: [agent({ name: 'main', model: 'test/looker', instructions: 'You look.', tools: [look] })],
      models: {
        'test/looker': (request: ModelRequest) => {
          asked.push(request)
          return request.messages.at(-1)?.role === 'tool' ? { text: 'seen' } : { calls: [{ name: 'look' }] }
        },
      },
    },
  )
  const socket = await aSocket(gateway.url)
  return {
    asked,
    runtime,
    ...socket,
    say: async (key = 'k1') => {
      await socket.request('chat.send', { sessionKey: 'main', message: 'look', idempotencyKey: key })
      return socket.event('chat', ({ state, runId }) => state !== 'delta' && runId === key)
    },
  }
}

test('[CH-22] observers hear what happens, in parallel; one that throws and one that never ends disturb nothing', async () => {
  const heard: string[] = []
  const names = ['received', 'sent', 'runEnd', 'sessionStart', 'sessionEnd', 'afterTool', 'gatewayStart', 'gatewayStop'] as const
  const watcher: Extension = {
    name: 'watcher',
    hooks: {
      observe: Object.fromEntries(
        names.map((name) => [name, (event: { session?: string }) => void heard.push(`${name} ${event.session ?? ''}`.trim())]),
      ),
    },
  }
  const throwing: Extension = {
    name: 'throwing',
    hooks: {
      observe: Object.fromEntries(
        names.map((name) => [
          name,
          () => {
            throw new Error('broken')
          },
        ]),
      ),
    },
  }
  const hanging: Extension = {
    name: 'hanging',
    hooks: { observe: Object.fromEntries(names.map((name) => [name, () => new Promise(() => undefined)])) },
  }
  const { say, request, runtime } = await aChat(throwing, hanging, watcher)

  const { payload } = await say()
  await request('sessions.reset', { sessionKey: 'main' })
  await expect.poll(() => heard.filter((one) => one.startsWith('sessionStart')).length).toBe(2)
  await runtime.close()

  expect(payload).toMatchObject({ state: 'final', message: { content: [{ type: 'tool' }, { text: 'seen' }] } })
  expect(heard).toEqual([
    'gatewayStart',
    'sessionStart main',
    'received main',
    'afterTool main',
    'sent main',
    'runEnd main',
    'sessionEnd main',
    'sessionStart main',
    'gatewayStop',
  ])
})

test('[CH-22] two that add to what the model is told do so in the order of their priority, once in a turn, and it is journalled', async () => {
  let count = 0
  const low: Extension = { name: 'low', hooks: { priority: 1, beforeAgent: async () => `low ${++count}` } }
  const high: Extension = { name: 'high', hooks: { priority: 9, beforeAgent: ({ agent: name }) => `high for ${name}` } }
  const broken: Extension = { name: 'broken', hooks: { priority: 5, beforeAgent: () => Promise.reject(new Error('broken')) } }
  const { say, asked, runtime } = await aChat(low, broken, high)

  await say('k1')
  await say('k2')

  const first = 'You look.\n\nhigh for main\n\nlow 1'
  const second = 'You look.\n\nhigh for main\n\nlow 2'
  expect(asked.map(({ instructions }) => instructions)).toEqual([first, first, second, second])
  const trace = JSON.stringify(await all(runtime.trace({ kind: 'session', id: 'main' })))
  expect(trace).toContain('high for main')
  await expect(runtime.replay({ kind: 'session', id: 'main' })).resolves.toBeDefined()
})

test('[CH-22] two that change the result of a tool do so one after the other, before it is kept', async () => {
  const redacting: Extension = {
    name: 'redacting',
    hooks: { priority: 9, toolResult: ({ output }) => ({ ...(output as object), key: '[hidden]' }) },
  }
  const counting: Extension = { name: 'counting', hooks: { toolResult: ({ output, tool: name }) => ({ name, was: output }) } }
  const { say, asked, events, runtime } = await aChat(counting, redacting)

  await say()

  const kept = { name: 'look', was: { key: '[hidden]', n: 1 } }
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', output: kept })
  expect(events('session.tool').at(-1)).toMatchObject({ output: kept })
  expect(JSON.stringify(await all(runtime.trace({ kind: 'session', id: 'main' })))).not.toContain('sk-secret')
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['is asynchronous', async () => 'later'],
  ['gives what cannot be kept', () => () => 1],
])('[CH-22] a result is not kept as it was where the one that is to change it %s', async (_, toolResult) => {
  const { say, asked } = await aChat({ name: 'guard', hooks: { toolResult } })

  await say()

  const last = asked[1]?.messages.at(-1)
  expect(last).toMatchObject({ role: 'tool', isError: true })
  expect(JSON.stringify(last)).toContain("the extension 'guard' failed to look at its result")
  expect(JSON.stringify(last)).not.toContain('sk-secret')
})

const history = async (request: (method: string, params: unknown) => Promise<{ payload?: unknown }>) =>
  JSON.stringify((await request('chat.history', { sessionKey: 'main' })).payload)

test('[CH-22] two that change what is said do so one after the other; people see what is left, in deltas, the final and the history', async () => {
  const seen: string[] = []
  const low: Extension = { name: 'low', hooks: { priority: 1, outgoing: ({ text }) => ({ text: `${text} (low)` }) } }
  const high: Extension = {
    name: 'high',
    hooks: {
      priority: 9,
      outgoing: async ({ text, agent: name, session }) => {
        seen.push(`${name} ${session} ${text}`)
        return { text: text.replace('seen', 'hidden') }
      },
    },
  }
  const silent: Extension = { name: 'silent', hooks: { outgoing: () => undefined } }
  const { say, request, frames, runtime } = await aChat(low, silent, high)

  const { payload } = await say()

  expect(payload).toMatchObject({ state: 'final', message: { content: [{ type: 'tool' }, { text: 'hidden (low)' }] } })
  expect(seen).toEqual(['main main seen'])
  expect(await history(request)).toContain('hidden (low)')
  expect(JSON.stringify(frames)).not.toContain('seen')
  expect(JSON.stringify(frames.filter(({ event }) => event === 'chat'))).toContain('"state":"delta"')
  const trace = JSON.stringify(await all(runtime.trace({ kind: 'session', id: 'main' })))
  expect(trace).toContain('"outgoing":[{"extension":"high","did":"changed"},{"extension":"low","did":"changed"}]')
  expect(trace).not.toContain('"seen"')
  await expect(runtime.replay({ kind: 'session', id: 'main' })).resolves.toBeDefined()
})

test('[CH-22] what an extension cancels is not sent, and nobody further is asked; the trace says who did that and why', async () => {
  const asked: string[] = []
  const strict: Extension = { name: 'strict', hooks: { priority: 9, outgoing: () => ({ cancel: true, reason: 'not for people' }) } }
  const behind: Extension = { name: 'behind', hooks: { outgoing: ({ text }) => void asked.push(text) } }
  const { say, request, frames, runtime } = await aChat(behind, strict)

  const { payload } = await say()

  expect(payload).toMatchObject({ state: 'final' })
  expect(JSON.stringify(payload)).not.toContain('"text"')
  expect(asked).toEqual([])
  expect(await history(request)).not.toContain('seen')
  expect(JSON.stringify(frames)).not.toContain('seen')
  const trace = JSON.stringify(await all(runtime.trace({ kind: 'session', id: 'main' })))
  expect(trace).toContain('"outgoing":[{"extension":"strict","did":"cancelled","reason":"not for people"}]')
})

test.each<[string, () => any]>([
  ['throws', () => Promise.reject(new Error('broken'))],
  ['answers with something else', () => 'seen'],
])('[CH-22] nobody sees what the extension could not look at that %s', async (_, outgoing) => {
  const { say, request, frames } = await aChat({ name: 'guard', hooks: { outgoing } })

  const { payload } = await say()

  expect(payload).toMatchObject({ state: 'error' })
  expect(JSON.stringify(payload)).toContain("the extension 'guard' failed to look at it")
  expect(await history(request)).not.toContain('seen')
  expect(JSON.stringify(frames)).not.toContain('"seen"')
})

test('[CH-22] a channel gets what the extension has left of an answer, and nothing of one that it cancels', async () => {
  const clock = virtualClock()
  const channel = testChannel(clock)
  const guard: Extension = {
    name: 'guard',
    hooks: { outgoing: ({ text }) => (text.includes('secret') ? { cancel: true } : { text: text.toUpperCase() }) },
  }
  await using kit = await testRuntime({
    clock,
    extensions: [chat({ channels: [channel], agents: { main: { delivery: { streaming: true } } } }), guard],
    agents: [agent({ name: 'main', model: 'test/says' })],
    models: { 'test/says': ({ messages }: ModelRequest) => ({ text: (messages.at(-1) as { text: string }).text }) },
  })
  const tell = async (text: string) =>
    kit.clock.until((await kit.clock.until(kit.session('main').send(text, { origin: { channel: 'test', to: 'room' } }))).result())

  expect(await tell('the secret')).toMatchObject({ outcome: 'silent' })
  expect(await tell('hello')).toMatchObject({ outcome: 'replied' })

  expect(channel.texts).toEqual(['HELLO'])
})

test('[CH-22] observers hear that a history was shortened, and that a session has ended when it is deleted', async () => {
  const heard: string[] = []
  const note = (name: string) => (event: { session?: string; reason?: string }) =>
    void heard.push(`${name} ${event.session} ${event.reason ?? ''}`.trim())
  const watcher: Extension = {
    name: 'watcher',
    hooks: { observe: { sessionStart: note('start'), sessionEnd: note('end'), compaction: note('compaction') } },
  }
  const { say, request } = await aChat(watcher)
  await say('k1')
  await say('k2')

  await request('sessions.compact', { sessionKey: 'main' })
  await request('sessions.delete', { sessionKey: 'main' })

  await expect.poll(() => heard).toEqual(['start main new', 'compaction main', 'end main deleted'])
})
