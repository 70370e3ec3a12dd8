/** Files by the doors that other programs use: OpenAI's API, `useChat`, the terminal. */
import { expect, test } from 'vitest'
import { agent, type ModelRequest } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const url = `data:image/png;base64,${png}`

const aNode = async () => {
  const asked: ModelRequest[] = []
  const node = await aGateway(
    {},
    {
      agents: [agent({ name: 'main', model: 'test/sees' })],
      models: {
        'test/sees': (request) => {
          asked.push(request)
          return { text: 'seen' }
        },
      },
    },
  )
  const post = (path: string, body: unknown) => node.call('POST', path, { body: JSON.stringify(body) })
  const last = () => asked.at(-1)?.messages.findLast(({ role }) => role === 'user')
  return { ...node, post, last }
}

test('[CH-10] pictures and files of a chat completion reach the model; addresses are refused with a hint', async () => {
  const { post, last } = await aNode()
  const chat = (content: unknown) => post('/v1/chat/completions', { model: 'main', messages: [{ role: 'user', content }] })

  const seen = await chat([
    { type: 'text', text: 'what is this?' },
    { type: 'image_url', image_url: { url } },
    { type: 'file', file: { filename: 'notes.txt', file_data: `data:text/plain;base64,${Buffer.from('my notes').toString('base64')}` } },
  ])
  const remote = await chat([{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }])
  const broken = await chat([{ type: 'image_url', image_url: { url: 'data:image/png;base64,%%' } }])

  expect(seen.json.choices[0].message.content).toBe('seen')
  expect(last()).toMatchObject({
    text: 'what is this?',
    files: [
      { mimeType: 'image/png', bytes: 70 },
      { fileName: 'notes.txt', mimeType: 'text/plain' },
    ],
  })
  expect([remote.status, remote.json.error.param, remote.json.error.message]).toEqual([
    400,
    'messages[0].content[0].image_url',
    expect.stringContaining('data URL'),
  ])
  expect(broken.status).toBe(400)
})

test('[CH-10] pictures and files of a response reach the model, and of earlier messages it is told that they were sent', async () => {
  const { post, last } = await aNode()

  const { status } = await post('/v1/responses', {
    model: 'main',
    input: [
      { role: 'user', content: [{ type: 'input_file', filename: 'old.txt', file_data: 'b2xk' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I see' }] },
      { role: 'user', content: [{ type: 'input_image', image_url: url }] },
    ],
  })

  expect(status).toBe(200)
  expect(last()).toMatchObject({ text: expect.stringContaining('old.txt was sent here'), files: [{ mimeType: 'image/png' }] })
  expect(last()).toHaveProperty('files.length', 1)
})

test('[CH-10] file parts of useChat reach the model; addresses are refused', async () => {
  const { post, last } = await aNode()
  const say = (parts: unknown[]) => post('/api/chat', { id: 'main', trigger: 'submit-message', messages: [{ id: 'u1', role: 'user', parts }] })

  const { status } = await say([
    { type: 'file', mediaType: 'image/png', filename: 'dot.png', url },
    { type: 'text', text: 'what is this?' },
  ])
  const remote = await say([{ type: 'file', mediaType: 'image/png', url: 'https://example.org/a.png' }])

  expect(status).toBe(200)
  expect(last()).toMatchObject({ text: 'what is this?', files: [{ fileName: 'dot.png', mimeType: 'image/png' }] })
  expect([remote.json.error.code, remote.json.error.field]).toEqual(['unsupported', 'messages.0.parts.0.url'])
})
