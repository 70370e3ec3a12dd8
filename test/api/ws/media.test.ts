/** Images, recordings and videos of messages, which somebody looks at before the model is asked: over a socket, with real models of a script. */
import { expect, test } from 'vitest'
import { type ChatOptions, chat } from '../../../src/chat.ts'
import { agent, type ModelRequest, scriptedModel } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from './a-socket.ts'

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
/** A content of its own for each number. */
const wav = (number = 0) => Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(32, number)])
const mp4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42', 'latin1'), Buffer.alloc(32)])
const attached = (content: Buffer, fileName: string, mimeType = '') => ({
  content: content.toString('base64'),
  fileName,
  ...(mimeType && { mimeType }),
})

const aNode = async (media: ChatOptions['media'], models: Record<string, (request: ModelRequest) => any> = {}, accepts = {}) => {
  const asked: ModelRequest[] = []
  const main = scriptedModel((request) => {
    asked.push(request)
    const last = request.messages.at(-1)
    return last?.role === 'user' && last.text === 'hang' ? { text: 'so far', hang: true } : { text: `answer ${asked.length}` }
  })
  const node = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/main' })],
      models: { 'test/main': { ...main, accepts }, ...models },
      extensions: [chat(media === undefined ? {} : { media })],
    },
  )
  const socket = await aSocket(node.gateway.url)
  await socket.request('chat.subscribe', { sessionKey: 'main' })
  const send = (message: string, idempotencyKey: string, attachments: unknown[] = []) =>
    socket.request('chat.send', { sessionKey: 'main', message, idempotencyKey, attachments })
  const ended = (id: string) => socket.event('chat', ({ runId, state }) => runId === id && state !== 'delta')
  const last = () => {
    const message = asked.at(-1)?.messages.at(-1)
    return message?.role === 'user' ? message : undefined
  }
  return { ...node, ...socket, asked, send, ended, last }
}

test('[CH-20] given the first candidate fails, then the text of the second is in the prompt, cut at 500 characters, and the image still goes along', async () => {
  const calls: string[] = []
  const { send, ended, last } = await aNode(
    { image: ['test/blind', { model: 'test/small', bytesMax: 10 }, 'test/sees'] },
    {
      'test/blind': () => {
        calls.push('blind')
        throw new Error('no eyes')
      },
      'test/small': () => (calls.push('small'), { text: 'never' }),
      'test/sees': ({ messages }) => {
        calls.push('sees')
        const [message] = messages
        return { text: message?.role === 'user' && message.files?.[0]?.data ? `a dot ${'.'.repeat(1000)}` : 'nothing' }
      },
    },
  )

  await send('what is this?', 'k1', [attached(png, 'dot.png')])
  await ended('k1')

  expect(calls).toEqual(['blind', 'sees'])
  expect(last()).toMatchObject({ text: 'what is this?', files: [{ mimeType: 'image/png', data: expect.anything() }] })
  expect(last()?.after).toMatch(/^What is to be seen in the image "dot.png" .*\n```\na dot \.{493}…\n```$/)
})

test('[CH-20] where nobody can say anything, the model is asked all the same', async () => {
  const { send, ended, asked, last } = await aNode({ image: [{ name: 'broken', describe: () => Promise.reject(new Error('no')) }] })

  await send('what is this?', 'k1', [attached(png, 'dot.png')])
  await ended('k1')

  expect([asked.length, last()?.after]).toEqual([1, undefined])
})

test('[CH-20, CH-10] recordings and videos are taken in where somebody says what is in them; without that they are left out', async () => {
  const heard: string[] = []
  const describe = ({ mimeType, fileName }: { mimeType: string; fileName: string }) => (heard.push(mimeType), `it is ${fileName}`)
  const on = await aNode({ audio: [{ name: 'ears', describe }], video: [{ name: 'eyes', describe }] }, {}, { audio: true })
  const off = await aNode({ image: [{ name: 'eyes', describe }] })

  await on.send('listen', 'k1', [attached(wav(), 'a.wav', 'audio/wav'), attached(mp4, 'b.mp4')])
  await on.ended('k1')
  const refused = await off.send('listen', 'k1', [attached(wav(), 'a.wav')])

  expect(heard.toSorted()).toEqual(['audio/wav', 'video/mp4'])
  expect(on.last()?.after).toMatch(/recording "a.wav".*it is a.wav.*video "b.mp4".*it is b.mp4/s)
  // What the model itself can hear it is given as well.
  expect(on.last()?.files).toMatchObject([
    { mimeType: 'audio/wav', data: expect.anything() },
    { mimeType: 'video/mp4', missing: expect.anything() },
  ])
  expect(refused.payload.warnings).toMatchObject([{ fileName: 'a.wav', message: expect.stringContaining('left out') }])
})

test('[CH-20] two are looked at at once, and their order is that of the message', async () => {
  let now = 0
  let most = 0
  const describe = async ({ fileName }: { fileName: string }) => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setImmediate(resolve))
    now--
    return `saw ${fileName}`
  }
  const { send, ended, last } = await aNode({ audio: [{ name: 'ears', describe }] })

  await send(
    'listen',
    'k1',
    [1, 2, 3, 4, 5].map((number) => attached(wav(number), `${number}.wav`)),
  )
  await ended('k1')

  expect(most).toBe(2)
  expect([...(last()?.after ?? '').matchAll(/saw (\d)/g)].map(([, number]) => number)).toEqual(['1', '2', '3', '4', '5'])
})

test('[CH-20] a recording that says a command is that command, and the model is not asked', async () => {
  const { send, ended, event, asked, request } = await aNode({ audio: [{ name: 'ears', describe: () => 'Slash status.' }] })

  const sent = await send('', 'k1', [attached(wav(), 'voice.wav')])
  await ended('k1')
  const answered = await event('chat', ({ runId, state }) => runId === 'k1:spoken' && state === 'final')
  const history = await request('chat.history', { sessionKey: 'main' })

  expect(sent.payload.status).toBe('started')
  expect(JSON.stringify(answered.payload.message)).toContain('test/main')
  expect(asked).toEqual([])
  expect(history.ok).toBe(true)
})

test('[CH-20] a stop word that is spoken stops the run that goes on', async () => {
  const { send, ended, event, asked } = await aNode({ audio: [{ name: 'ears', describe: () => 'Stop!' }] })
  await send('hang', 'k1')
  await event('chat', ({ message }) => JSON.stringify(message ?? '').includes('so far'))

  const sent = await send('', 'k2', [attached(wav(), 'voice.wav')])
  const end = await ended('k1')

  expect(sent.payload.status).toBe('steered')
  expect(end.payload.state).toBe('aborted')
  expect(asked).toHaveLength(1)
})

test('[CH-20] what is spoken beside words, or is more than a command, is told to the model', async () => {
  const { send, ended, asked } = await aNode({
    audio: [{ name: 'ears', describe: ({ fileName }) => (fileName === 'a.wav' ? 'stop' : 'please stop talking') }],
  })

  await send('hear this', 'k1', [attached(wav(1), 'a.wav')])
  await ended('k1')
  await send('', 'k2', [attached(wav(2), 'b.wav')])
  await ended('k2')

  expect(asked.map(({ messages }) => messages.at(-1))).toMatchObject([
    { text: 'hear this', after: expect.stringContaining('stop') },
    { text: '', after: expect.stringContaining('please stop talking') },
  ])
})
