/** A gateway whose agent answers by what it is asked, and the real client of OpenAI in front of it. */
import OpenAI from 'openai'
import { z } from 'zod'
import type { ServeOptions } from '../../../src/api/http/serve.ts'
import type { Message } from '../../../src/contracts/message.ts'
import { agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import type { ScriptedResponse } from '../../../src/models/script.ts'
import { aGateway, token } from '../http/harness.ts'

const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5 }

/** What the user said last, without what stands ahead of it. */
const asked = (messages: readonly Message[]): string => {
  const last = messages.findLast(({ role }) => role === 'user')
  return last?.role === 'user' ? (last.text.split('\n').at(-1) ?? '') : ''
}

/** @property prompts what the model was shown by each of its calls */
export const anOpenAiGateway = async (options: Partial<ServeOptions> = {}) => {
  const prompts: Message[][] = []
  const answer = (messages: Message[]): ScriptedResponse => {
    prompts.push(messages)
    const text = asked(messages)
    const result = messages.at(-1)
    if (result?.role === 'tool') return { text: result.isError ? `refused: ${JSON.stringify(result.output)}` : 'it is sunny', usage }
    if (text === 'think') return { reasoning: 'let me see', text: 'forty-two', usage }
    if (text === 'weather') return { text: 'I look it up.', calls: [{ name: 'weather' }], usage }
    if (text === 'danger') return { calls: [{ name: 'danger' }] }
    if (text === 'slow') return { text: 'one word after the other', deltaDelayMs: 20 }
    if (text === 'hang') return { text: 'so far', hang: true }
    if (text === 'long') return { text: 'once upon a', finish: 'length' }
    if (text === 'filtered') return { text: 'no', finish: 'content-filter' }
    if (text === 'break') return { text: 'so far', error: { code: 'provider_rejected', message: 'no more' } }
    if (text === 'busy') return { error: { code: 'provider_overflow', message: 'too much' } }
    return { text: `echo ${text}`, usage }
  }
  const danger = tool({ name: 'danger', description: 'needs a person', input: z.object({}), approval: true, execute: () => 'done' })
  const weather = tool({ name: 'weather', description: 'how it is outside', input: z.object({}), execute: () => 'sunny' })
  const app: RuntimeOptions = {
    agents: [agent({ name: 'main', model: 'test/echo', tools: [danger, weather] }), agent({ name: 'other', model: 'test/echo' })],
    models: { 'test/echo': ({ messages }) => answer(messages) },
  }
  const served = await aGateway(options, app)
  const client = (more: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI =>
    new OpenAI({ apiKey: token, baseURL: `${served.gateway.url}/v1`, maxRetries: 0, ...more })
  const keys = async (): Promise<string[]> => {
    const { sessions } = await served.runtime.command<{ sessions: { key: string }[] }>('sessions.list')
    return sessions.map(({ key }) => key)
  }
  return { ...served, client, prompts, keys }
}

/** All that an iterable gives. */
export const all = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}
