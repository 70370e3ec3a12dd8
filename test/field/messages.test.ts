/**
 * A message to a session is the same text whatever door it comes by: composed, without characters that no screen shows; a NUL is refused [CH-09]. What an
 * author's own machine gets is as it was sent.
 */
import { describe, expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { agent } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { aGateway } from '../api/http/harness.ts'
import { aSocket } from '../api/ws/a-socket.ts'
import { aFolder, statecast, testApp } from '../cli/run.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()

const typed = 'a\u0007b cafe\u0301\u001b[31m\u0085 \t👩‍👩‍👧\r\n'
const read = 'ab café[31m \t👩‍👩‍👧\r\n'
/** A stream drops a second message of one id. */
let letters = 0
const withNul = 'a\0b'

/** A gateway whose model keeps what it was told last. */
const aNode = async (transport: { transport?: string } = {}) => {
  const asked: string[] = []
  const machine = setup({ types: { context: {} as { heard: string[] }, events: {} as { type: 'say'; text: string } } }).createMachine({
    context: { heard: [] },
    on: { say: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.text] }) } },
  })
  const served = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/model' })],
      models: {
        'test/model': ({ messages }) => {
          const last = messages.at(-1)
          asked.push(last?.role === 'user' ? last.text : '')
          return { text: 'yes' }
        },
      },
      machines: { parrot: machine },
      agentProtocol: { owner: 'alice' },
      ...transport,
    },
  )
  const post = (path: string, body: object) => served.call('POST', path, { body: JSON.stringify(body) })
  return { ...served, asked, post }
}
type Served = Awaited<ReturnType<typeof aNode>>

/** @returns what the sender is told: a status, or a code */
const doors: Record<string, (node: Served, text: string) => Promise<unknown>> = {
  'chat.send': async ({ post }, message) => (await post('/rpc/chat.send', { sessionKey: 's', message })).status,
  'chat.send of the socket': async ({ gateway }, message) => {
    const { request } = await aSocket(gateway.url)
    const answer = await request('chat.send', { sessionKey: 's', message, idempotencyKey: 'k' })
    return answer.ok ? 200 : answer.error.code
  },
  'actors.send': async ({ post }, text) => (await post('/rpc/actors.send', { kind: 'session', id: 's', event: { type: 'message', text } })).status,
  'the AI SDK': async ({ post }, text) =>
    (await post('/api/chat', { id: 's', trigger: 'submit-message', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }] })).status,
  'chat completions': async ({ post }, content) =>
    (await post('/v1/chat/completions', { model: 'main', messages: [{ role: 'user', content }] })).status,
  responses: async ({ post }, input) => (await post('/v1/responses', { model: 'main', input })).status,
  'the library': async ({ runtime }, text) =>
    runtime
      .session('s')
      .send(text)
      .then((run) => run.result())
      .then(
        () => 200,
        ({ code }) => code,
      ),
  'a subject': async ({ runtime }, text) => {
    await runtime.publish('statecast.in.session.s', new TextEncoder().encode(JSON.stringify({ type: 'message', text })), `letter-${++letters}`)
    const { inbox } = partsOf(runtime).transport
    if (text.includes('\0')) await expect.poll(() => inbox.deadLetters()).toHaveLength(1)
    return text.includes('\0') ? 'bad_request' : 200
  },
  'the agent protocol': async ({ runtime }, prompt) => {
    const { bus } = partsOf(runtime).transport
    const data = new TextEncoder().encode(JSON.stringify({ prompt }))
    for await (const { headers } of bus.requestMany('agents.prompt.main.alice.main', data, { timeoutMs: 60_000 })) {
      const code = headers?.['Nats-Service-Error-Code']
      if (code !== undefined) return Number(code)
      if (headers === undefined) break
    }
    return 200
  },
}

describe.each(Object.keys(doors))('[CH-09] by %s', (door) => {
  test('the model reads the text cleaned', async () => {
    const node = await aNode()

    expect(await doors[door]!(node, typed)).toBe(200)
    await expect.poll(() => node.asked.at(-1)?.trim()).toBe(read.trim())
  })

  test('a NUL is refused', async () => {
    const node = await aNode()

    expect(await doors[door]!(node, withNul)).toSatisfy((told) => told === 400 || told === 'bad_request')
    expect(node.asked).toEqual([])
  })
})

describe.each(['a subject', 'the agent protocol'])('[CH-09] by %s of a NATS server', (door) => {
  test('the model reads the text cleaned', async () => {
    const node = await aNode({ transport: server.url })

    expect(await doors[door]!(node, typed)).toBe(200)
    await expect.poll(() => node.asked.at(-1)?.trim()).toBe(read.trim())
    expect(JSON.stringify(await node.runtime.session(door === 'a subject' ? 's' : 'main').history())).not.toContain('\\u0007')
  })

  test('a NUL is refused', async () => {
    const node = await aNode({ transport: server.url })

    expect(await doors[door]!(node, withNul)).toSatisfy((told) => told === 400 || told === 'bad_request')
    expect(node.asked).toEqual([])
  })
})

test('[CH-09] a terminal is such a door', async () => {
  const folder = aFolder()
  const { stdout } = await statecast({ folder, input: 'cafe\u0301 a\u0007b\n' }, 'chat', '--app', testApp)

  expect(stdout).toContain('echo café ab')
})

test("an event of an author's own machine passes unchanged", async () => {
  const { post, runtime } = await aNode()

  expect((await post('/rpc/actors.send', { kind: 'parrot', id: 'p', event: { type: 'say', text: `${typed}\u0000` } })).status).toBe(200)
  expect((await runtime.actor('parrot', 'p').snapshot()).context).toEqual({ heard: [`${typed}\u0000`] })
})
