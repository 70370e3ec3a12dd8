/** Tools that a client runs itself, as a client of the socket does it. */
import { expect, test } from 'vitest'
import { aTool, aToolGateway } from './a-tool-gateway.ts'

const clientTools = [
  { name: 'locate', description: 'where the user is', inputSchema: { type: 'object', properties: { exact: { type: 'boolean' } } } },
]
const locate = { name: 'locate', input: { exact: true } }
const aMap = async (calls: object[] = [locate], more = {}) => {
  const served = await aToolGateway({ script: [{ text: 'I look.', calls } as never, { text: 'in Bern' }], ...more })
  const begin = () => served.request('chat.send', { sessionKey: 'main', message: 'where am I?', idempotencyKey: 'a', clientTools })
  return { ...served, begin }
}

test('[CH-53] a call of a tool of the client ends the run with its name and arguments; the result resumes the conversation', async () => {
  const { begin, end, offered, request, shown } = await aMap()
  await begin()
  const asked = await end('a')

  expect(offered).toEqual([['locate']])
  expect(asked).toMatchObject({
    state: 'final',
    stopReason: 'tool_calls',
    pendingCalls: [{ callId: 'main/a:1:1', name: 'locate', input: { exact: true } }],
    message: {
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool', name: 'locate' },
      ],
    },
  })

  const { payload } = await request('tools.result', {
    sessionKey: 'main',
    results: [{ callId: 'main/a:1:1', output: { city: 'Bern' } }],
    idempotencyKey: 'b',
  })
  expect(payload).toMatchObject({ runId: 'b', status: 'started' })
  expect(await end('b')).toMatchObject({ state: 'final', stopReason: 'stop', message: { content: [{ text: 'in Bern' }] } })
  expect(shown[1]?.slice(1)).toMatchObject([
    { role: 'assistant', calls: [{ name: 'locate' }] },
    { role: 'tool', name: 'locate', output: { city: 'Bern' }, isError: false },
  ])
  expect(offered[1]).toEqual(['locate'])
  const { payload: history } = await request('chat.history', { sessionKey: 'main' })
  expect(history.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(history.waiting).toEqual([])
  expect((await request('trace.replay', { id: 'main' })).payload).toMatchObject({ verdict: 'identical' })
})

test('[CH-53] tools of the agent in the same answer run first', async () => {
  const { begin, end, request, results } = await aMap([{ name: 'look' }, locate], { tools: [aTool('look', () => 'a river')] })
  await begin()
  await end('a')

  await request('tools.result', { sessionKey: 'main', results: [{ callId: 'main/a:1:2', output: 'Bern' }], idempotencyKey: 'b' })
  await end('b')

  expect(results(1).map(({ output }) => output)).toEqual(['a river', 'Bern'])
})

test('[CH-52, CH-53] whoever says something else instead closes the call', async () => {
  const { begin, end, say, shown, request } = await aMap()
  await begin()
  await end('a')

  await say('never mind', 'b')
  await end('b')

  expect(shown[1]?.slice(2)).toMatchObject([
    { role: 'tool', isError: true, output: { error: { code: 'tool_lost' } } },
    { role: 'user', text: 'never mind' },
  ])
  expect(await request('tools.result', { sessionKey: 'main', results: [{ callId: 'main/a:1:1', output: 1 }] })).toMatchObject({
    ok: false,
    error: { code: 'conflict', hint: expect.stringContaining('pendingCalls') },
  })
})

test('[CH-53] a message that brings tools of its client has a turn of its own with them, and does not join the one that runs', async () => {
  const seen = Promise.withResolvers<void>()
  const { say, request, end, offered, event } = await aToolGateway({
    script: [{ calls: [{ name: 'look' }] }, { text: 'seen' }, { text: 'located' }],
    tools: [aTool('look', () => seen.promise.then(() => 'a river'))],
  })
  await say('look', 'a')
  await event('session.tool')

  const { payload } = await request('chat.send', { sessionKey: 'main', message: 'where am I?', idempotencyKey: 'b', clientTools })
  expect(payload.status).toBe('queued')
  seen.resolve()

  expect(await end('b')).toMatchObject({ state: 'final', message: { content: [{ text: 'located' }] } })
  expect(offered).toEqual([['look'], ['look'], ['look', 'locate']])
})

test('[CH-53] messages that are collected are one turn only where they bring the same tools', async () => {
  const seen = Promise.withResolvers<void>()
  const { say, request, end, offered, event } = await aToolGateway({
    script: [{ calls: [{ name: 'look' }] }, { text: 'seen' }, { text: 'plain' }, { text: 'located' }],
    tools: [aTool('look', () => seen.promise.then(() => 'a river'))],
  })
  await say('look', 'a')
  await event('session.tool')
  const more = { sessionKey: 'main', queueMode: 'collect' }

  await request('chat.send', { ...more, message: 'well?', idempotencyKey: 'b' })
  await request('chat.send', { ...more, message: 'where am I?', idempotencyKey: 'c', clientTools })
  seen.resolve()

  expect(await end('c')).toMatchObject({ state: 'final', message: { content: [{ text: 'located' }] } })
  expect(offered.slice(2)).toEqual([['look'], ['look', 'locate']])
})

test('[CH-53] a message with the tools that the running turn has joins it', async () => {
  const seen = Promise.withResolvers<void>()
  const { request, offered, event, end } = await aToolGateway({
    script: [{ calls: [{ name: 'look' }] }, { text: 'seen both' }],
    tools: [aTool('look', () => seen.promise.then(() => 'a river'))],
  })
  await request('chat.send', { sessionKey: 'main', message: 'look', idempotencyKey: 'a', clientTools })
  await event('session.tool')

  const { payload } = await request('chat.send', { sessionKey: 'main', message: 'and where?', idempotencyKey: 'b', clientTools })
  seen.resolve()

  expect(payload).toMatchObject({ status: 'steered', runId: 'a' })
  await end('a')
  expect(offered).toEqual([
    ['look', 'locate'],
    ['look', 'locate'],
  ])
})

test('[CH-53] the taking of notes before a compaction is offered no tools of the client, who could not be asked then', async () => {
  const { request, end, offered } = await aToolGateway({
    script: [{ text: 'one', usage: { inputTokens: 99_950, outputTokens: 5 } }, { text: 'NO_REPLY' }, { text: 'two' }],
    tools: [aTool('look')],
    agent: { context: { tokens: 100_000, memoryFlush: { reserveTokens: 0, softTokens: 100 } } },
  })
  const ask = async (message: string) => {
    await request('chat.send', { sessionKey: 'main', message, idempotencyKey: message, clientTools })
    return end(message)
  }
  await ask('a')

  expect(await ask('b')).toMatchObject({ state: 'final', message: { content: [{ text: 'two' }] } })

  expect(offered).toEqual([['look', 'locate'], ['look'], ['look', 'locate']])
})
