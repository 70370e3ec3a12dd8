/** Hooks of extensions, in a chat over the socket. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chat } from '../../../src/chat.ts'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import { agent, type Extension, tool } from '../../../src/index.ts'
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
