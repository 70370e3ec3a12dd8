/** A web chat as `useChat` has it, on a real gateway; and a model whose words the test writes. */
import { AbstractChat, type ChatInit, type ChatState, DefaultChatTransport, type UIMessage } from 'ai'
import { z } from 'zod'
import type { GatewayLimits } from '../../../src/api/http/limits.ts'
import type { ModelResponse } from '../../../src/contracts/model.ts'
import { agent, createRuntime, type RuntimeOptions, tool } from '../../../src/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { allFramesIn } from '../../support/event-stream.ts'
import { gatewayOn, token } from '../gateway-on.ts'

const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }

/** One call of a model, which says what the test wants and when. */
export type Pen = {
  /** What it was last told by the user or a tool. */
  asked: string
  write(text: string, kind?: 'text' | 'reasoning'): void
  call(name: string, input?: unknown): void
  end(changes?: Partial<ModelResponse>): void
  fail(error: Error): void
}

/** Calls of the model come in as they are made. */
export const penModel = () => {
  const waiting: Pen[] = []
  const takers: ((pen: Pen) => void)[] = []
  const call = (
    { messages }: { messages: readonly { role: string; text?: string; output?: unknown }[] },
    { onDelta, signal }: { onDelta: (delta: { kind: 'text' | 'reasoning'; text: string }) => void; signal: AbortSignal },
  ): Promise<ModelResponse> => {
    const done = Promise.withResolvers<ModelResponse>()
    const response: ModelResponse = {
      text: '',
      reasoning: '',
      calls: [],
      usage: { ...noUsage, inputTokens: 3, outputTokens: 4 },
      finish: 'stop',
      model: 'test/pen',
      partial: false,
    }
    signal.addEventListener('abort', () => done.resolve({ ...response, partial: true }))
    const last = messages.at(-1)
    const pen: Pen = {
      asked: last?.text ?? String(last?.output),
      write: (text, kind = 'text') => {
        response[kind] += text
        onDelta({ kind, text })
      },
      call: (name, input = {}) => void response.calls.push({ callId: `c${response.calls.length + 1}`, name, input: JSON.stringify(input) }),
      end: (changes) => done.resolve({ ...response, finish: response.calls.length > 0 ? 'tool-calls' : 'stop', ...changes }),
      fail: done.reject,
    }
    const taker = takers.shift()
    if (taker) taker(pen)
    else waiting.push(pen)
    return done.promise
  }
  const next = (): Promise<Pen> => {
    const pen = waiting.shift()
    return pen ? Promise.resolve(pen) : new Promise((resolve) => void takers.push(resolve))
  }
  return {
    model: { ref: 'test/pen', call },
    next,
    get waiting() {
      return waiting.length
    },
  }
}

export const danger = (execute: () => unknown = () => 'done') =>
  tool({ name: 'danger', description: 'needs a person', input: z.object({ what: z.string().optional() }), approval: true, execute })
export const step = (execute: () => unknown = () => 'next') => tool({ name: 'step', description: 'one of many', input: z.object({}), execute })

/** @param again on the store of another life */
export const aNode = async (options: Partial<RuntimeOptions> & { limits?: Partial<GatewayLimits> } = {}) => {
  const { limits, ...own } = options
  const pen = penModel()
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 'test/pen', tools: [danger(), step()] })],
    models: { 'test/pen': pen.model },
    ...own,
  })
  const gateway = await gatewayOn(runtime, limits === undefined ? {} : { limits })
  afterThisTest(async () => {
    await gateway.close()
    await runtime.close()
  })
  const headers = { authorization: `Bearer ${token}` }
  const post = (body: unknown) =>
    fetch(`${gateway.url}/api/chat`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
  const resume = (id: string) => fetch(`${gateway.url}/api/chat/${encodeURIComponent(id)}/stream`, { headers })
  const transport = () => new DefaultChatTransport({ api: `${gateway.url}/api/chat`, headers })
  const chat = (init: Partial<ChatInit<UIMessage>> = {}) => new Chat({ id: 'main', transport: transport(), ...init })
  return { runtime, gateway, pen, post, resume, transport, chat }
}

class State implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready'
  error: Error | undefined
  messages: UIMessage[] = []
  pushMessage = (message: UIMessage) => void this.messages.push(structuredClone(message))
  popMessage = () => void this.messages.pop()
  replaceMessage = (index: number, message: UIMessage) => void (this.messages[index] = structuredClone(message))
  snapshot = <T>(thing: T): T => structuredClone(thing)
}

/** As the hook of a framework makes one. */
export class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    const state = new State()
    state.messages = messages
    super({ ...init, state })
  }
  /** The texts of the newest message, a part each. */
  get texts(): string[] {
    return this.lastMessage?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) ?? []
  }
  /** The newest tool call. */
  get tool(): any {
    return this.lastMessage?.parts.findLast(({ type }) => type.startsWith('tool-'))
  }
}

export const user = (text: string, id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', text }] })
export const said = (text: string, id?: string, sessionKey = 'main') => ({ id: sessionKey, messages: [user(text, id)], trigger: 'submit-message' })

/** The parts of a response, and how it ended. */
export const partsIn = async (response: Response): Promise<any[]> => (await allFramesIn(response)).map(({ data }) => data)
