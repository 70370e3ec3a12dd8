/**
 * Whatever comes from a provider is a sign of life: comments keep connections open (WHATWG HTML §9.2.7), Anthropic sends pings.
 * Sources: AntigmaLabs/ante#187, 1jehuang/jcode#976, BlockRunAI/Franklin#74 (FC-13).
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createModels } from '../../src/models/models.ts'
import { systemClock } from '../../src/models/sleep.ts'
import { aRequest, start, user } from '../models/fixtures.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { anEnvironment } from '../transport/harness.ts'

const idleTimeoutMs = 800
/** Pieces that say nothing, until the idle limit is over twice. */
const keepAlive = async (response: ServerResponse, piece: string): Promise<void> => {
  for (let count = 0; count < 20; count++) {
    response.write(piece)
    await pause(100)
  }
}
const openAiAnswer = [
  'data: {"id":"1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"here"},"finish_reason":null}]}\n\n',
  'data: {"id":"1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
]
const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'm',
  stop_reason: null,
  usage: { input_tokens: 1, output_tokens: 0 },
}
const anthropicBegin = event('message_start', { message })
const anthropicAnswer = [
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'here' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) + event('message_stop', {}),
]

/** @param serve writes the body, behind the headers */
const aModel = async (ref: string, serve: (response: ServerResponse) => Promise<void>) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    void serve(response).then(() => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisTest(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'k', ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'k' }
  const model = await createModels({ environment: { ...anEnvironment(), clock: systemClock, random: { next: () => 0.5 } }, env }).get(ref)
  const request = aRequest({ messages: [user('hi')] })
  return start(model, { ...request, limits: { ...request.limits, idleTimeoutMs } }).response
}

test.concurrent.each([
  ['comments before the first piece', 'openai-compatible/m', ': keep-alive\n\n', '', openAiAnswer],
  ['empty lines', 'openai-compatible/m', '\n', '', openAiAnswer],
  ['half a line', 'openai-compatible/m', ':', '', ['\n\n', ...openAiAnswer]],
  ['comments in mid-answer', 'openai-compatible/m', ': OPENROUTER PROCESSING\n\n', openAiAnswer[0]!, openAiAnswer.slice(1)],
  ['pings', 'anthropic/claude-test', event('ping', {}), anthropicBegin, anthropicAnswer],
])('%s of %s are no silence', async (_, ref, piece, begin, answer) => {
  const response = await aModel(ref, async (body) => {
    body.write(begin)
    await keepAlive(body, piece)
    for (const part of answer) body.write(part)
  })

  expect(response).toMatchObject({ text: 'here', partial: false })
})

test.concurrent('silence is silence, also behind the headers', async () => {
  await expect(aModel('openai-compatible/m', () => pause(10 * idleTimeoutMs))).rejects.toMatchObject({
    code: 'provider_timeout',
    data: { limit: 'idle' },
  })
})
