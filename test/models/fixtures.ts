/** Builders for tests of models: time that stands still, a request, a call whose deltas are kept. */
import { isRuntimeError, type RuntimeError } from '../../src/contracts/errors.ts'
import type { AssistantMessage, Message } from '../../src/contracts/message.ts'
import type { Model, ModelDelta, ModelRequest, ModelResponse } from '../../src/contracts/model.ts'

export { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.ts'

let idCount = 0
export const user = (text: string): Message => ({ role: 'user', id: `user-${++idCount}`, text })
export const assistant = (text: string, calls: AssistantMessage['calls'] = []): Message => ({
  role: 'assistant',
  id: `assistant-${++idCount}`,
  text,
  calls,
})
export const result = (callId: string, name: string, output: unknown, isError = false): Message => ({ role: 'tool', callId, name, output, isError })

export const aRequest = ({
  limits,
  ...request
}: Partial<Omit<ModelRequest, 'limits'>> & { limits?: Partial<ModelRequest['limits']> } = {}): ModelRequest => ({
  instructions: '',
  messages: [user('hello')],
  tools: [],
  settings: {},
  limits: { idleTimeoutMs: 10_000, totalTimeoutMs: 60_000, outputCharsMax: 100_000, ...limits },
  ...request,
})

export type Call = { deltas: ModelDelta[]; abort: () => void; signal: AbortSignal; response: Promise<ModelResponse>; error: Promise<RuntimeError> }

/** Calls a model and keeps its deltas. `error` resolves with the typed error, and rejects when the call succeeds or throws anything else. */
export const start = (model: Model, request: ModelRequest = aRequest(), onDelta: (delta: ModelDelta) => void = () => undefined): Call => {
  const controller = new AbortController()
  const deltas: ModelDelta[] = []
  const response = model.call(request, {
    signal: controller.signal,
    onDelta: (delta) => {
      deltas.push(delta)
      onDelta(delta)
    },
  })
  const error = response.then(
    (answer) => Promise.reject(new Error(`the call succeeded: ${JSON.stringify(answer)}`)),
    (thrown: unknown) => {
      if (isRuntimeError(thrown)) return thrown
      throw thrown
    },
  )
  error.catch(() => undefined)
  return { deltas, abort: () => controller.abort(), signal: controller.signal, response, error }
}
