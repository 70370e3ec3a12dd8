/** People who talk through a channel are asked about tool calls there, and answer there. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chat } from '../../../src/chat.ts'
import type { ModelRequest } from '../../../src/contracts/model.ts'
import type { Origin } from '../../../src/contracts/reply.ts'
import { agent, tool } from '../../../src/index.ts'
import { testChannel, testRuntime, virtualClock } from '../../../src/testing/index.ts'
import { aGateway } from '../../api/http/harness.ts'
import { aSocket } from '../../api/ws/a-socket.ts'

const aConversation = async (more: { showsApprovals?: boolean; calls?: number } = {}) => {
  const { calls = 1, ...channelOptions } = more
  const ran: unknown[] = []
  const clock = virtualClock()
  const channel = testChannel(clock, channelOptions)
  const remove = tool({
    name: 'remove',
    description: 'removes a file',
    input: z.object({ path: z.string() }),
    needsApproval: true,
    execute: (input) => ran.push(input),
  })
  const kit = await testRuntime({
    clock,
    extensions: [chat({ channels: [channel] })],
    agents: [agent({ name: 'main', model: 'test/m', tools: [remove] })],
    models: {
      'test/m': ({ messages }: ModelRequest) => {
        const results = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'tool').length
        if (results > 0) return { text: 'done' }
        return { calls: Array.from({ length: calls }, (_, nth) => ({ name: 'remove', input: { path: `${nth}.txt` } })) }
      },
    },
  })
  const send = async (text: string, idempotencyKey: string, origin: Partial<Origin> = {}) =>
    kit.clock.until(
      kit
        .session('main')
        .send(text, { idempotencyKey, origin: { channel: 'test', to: 'room', sender: 'ann', messageId: idempotencyKey, ...origin } }),
    )
  const asked = async (count = 1) => {
    const questions = () => channel.texts.filter((text) => text.includes('/approve'))
    await kit.clock.until(() => questions().length >= count)
    return questions().map((text) => /\/approve (\S+)/.exec(text)?.[1] as string)
  }
  const answered = async (text: string, id: string, origin: Partial<Origin> = {}) =>
    (await kit.clock.until((await send(text, id, origin)).result())).text
  return { kit, channel, ran, send, asked, answered }
}

test('[CH-43] who talks through a channel is told there which call waits, with what, and how to answer; a yes runs it', async () => {
  const { kit, channel, ran, send, asked, answered } = await aConversation()
  await using _ = kit
  const run = await send('tidy up', 'm1')

  const [code] = await asked()
  expect(channel.texts).toEqual([`May this tool run? remove: {"path":"0.txt"}\nAnswer /approve ${code} once, always or deny.`])
  expect(channel.sends[0]).toMatchObject({ kind: 'tool', route: { channel: 'test', to: 'room' } })
  expect(ran).toEqual([])

  expect(await answered(`/approve ${code} once`, 'm2')).toBe('remove: allowed once.')
  await kit.clock.until(run.result())

  expect(ran).toEqual([{ path: '0.txt' }])
  expect(channel.texts.at(-1)).toBe('done')
  expect((await kit.clock.until(kit.session('main').view())).record.allowedTools ?? []).toEqual([])
  expect(await kit.runtime.replay(kit.session('main').address)).toMatchObject({ verdict: 'identical' })
})

test('[CH-43] a no on the channel ends the call, and the model is told so', async () => {
  const { kit, ran, send, asked, answered } = await aConversation()
  await using _ = kit
  const run = await send('tidy up', 'm1')
  await asked()

  expect(await answered('/approve deny', 'm2')).toBe('remove: denied.')

  await kit.clock.until(run.result())
  expect(ran).toEqual([])
})

test('[CH-43] always on the channel is for all calls of that tool in the conversation', async () => {
  const { kit, channel, ran, send, asked, answered } = await aConversation()
  await using _ = kit
  const run = await send('tidy up', 'm1')
  const [code] = await asked()
  await answered(`/approve ${code} always`, 'm2')
  await kit.clock.until(run.result())

  await kit.clock.until((await send('once more', 'm3')).result())

  expect(ran).toHaveLength(2)
  expect(channel.texts.filter((text) => text.startsWith('May this tool'))).toHaveLength(1)
})

test('[CH-43] of several calls the one that is named is decided; without a name nothing is', async () => {
  const { kit, ran, send, asked, answered } = await aConversation({ calls: 2 })
  await using _ = kit
  const run = await send('tidy up', 'm1')
  const [first, second] = await asked(2)

  expect(await answered('/approve once', 'm2')).toContain('more than one call waits')
  expect(await answered('/approve zzz once', 'm3')).toContain("no call 'zzz' waits")
  expect(await answered('/approve maybe', 'm4')).toContain("'maybe' is not an answer")
  expect(await answered('/approve', 'm5')).toContain(`/approve ${first}`)
  expect(ran).toEqual([])

  await answered(`/approve ${second} yes`, 'm6')
  await answered(`/approve ${first} no`, 'm7')
  await kit.clock.until(run.result())
  expect(ran).toEqual([{ path: '1.txt' }])
})

test('[CH-43] a stranger, and who may not approve, decides nothing', async () => {
  const { kit, ran, send, asked, answered } = await aConversation()
  await using _ = kit
  await send('tidy up', 'm1')
  const [code] = await asked()

  await answered(`/approve ${code} once`, 'm2', { authorised: false })
  expect(await answered(`/approve ${code} once`, 'm3', { approves: false })).toBe('Approval: you may not decide about tool calls.')

  expect(ran).toEqual([])
  expect((await kit.clock.until(kit.session('main').view())).approvals).toHaveLength(1)
})

test('[CH-43] a channel that shows calls that wait by itself gets no message about them', async () => {
  const { kit, channel, send } = await aConversation({ showsApprovals: true })
  await using _ = kit
  const run = await send('tidy up', 'm1')
  await kit.clock.until(async () => (await kit.session('main').view()).approvals.length > 0)
  await kit.clock.until((await send('/approve once', 'm2')).result())
  await kit.clock.until(run.result())

  expect(channel.texts).toEqual(['remove: allowed once.', 'done'])
})

test('[CH-43] over the socket /approve needs the scope approve, as approvals.resolve does, whatever origin is given', async () => {
  const { gateway, rpc } = await aGateway()
  const { json } = await rpc('tokens.create', { name: 'writer', scopes: ['write'] })
  const writer = await aSocket(gateway.url, { auth: { token: json.token }, scopes: ['read', 'write'] })
  const lesser = await aSocket(gateway.url, { scopes: ['read', 'write'] })
  const owner = await aSocket(gateway.url)
  const say = async (socket: typeof owner, message: string, idempotencyKey: string, more: object = {}) =>
    socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey, ...more })
  await say(owner, 'danger', 'k1')
  await owner.event('approval.requested')
  const final = async (socket: typeof owner, id: string) =>
    JSON.stringify((await socket.event('chat', ({ runId, state }) => runId === id && state === 'final')).payload)

  await say(writer, '/approve once', 'k2', { origin: { channel: 'web', to: 'main', approves: true } })
  expect(await final(writer, 'k2')).toContain('you may not decide')
  await say(lesser, '/approve once', 'k3')
  expect(await final(lesser, 'k3')).toContain('you may not decide')
  const { json: direct } = await rpc('approvals.list', { sessionKey: 'main' })
  expect(direct.approvals).toHaveLength(1)

  await say(owner, '/approve once', 'k4')
  expect(await final(owner, 'k4')).toContain('danger: allowed once.')
  expect(await final(owner, 'k1')).toContain('done')
  expect(owner.frames.filter(({ event }) => event === 'chat').map(({ payload }) => JSON.stringify(payload))).not.toContainEqual(
    expect.stringContaining('May this tool run'),
  )
})
