/** Builders for tests of models: time that stands still, a request, a call whose deltas are kept. */
import type { Clock } from '../../src/contracts/environment.ts'
import { isRuntimeError, type RuntimeError } from '../../src/contracts/errors.ts'
import type { AssistantMessage, Message } from '../../src/contracts/message.ts'
import type { Model, ModelDelta, ModelRequest, ModelResponse } from '../../src/contracts/model.ts'

export type VirtualClock = Clock & { advance(ms: number): Promise<void>; pending(): number }

/** Time that passes only in `advance`, which lets everything that is due happen in order. */
export const virtualClock = (startMs = Date.UTC(2026, 0, 31, 8, 5)): VirtualClock => {
  let now = startMs
  let count = 0
  const timers = new Map<number, { at: number; callback: () => void }>()
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    now: () => now,
    setTimeout: (callback, ms) => {
      timers.set(++count, { at: now + ms, callback })
      return count
    },
    clearTimeout: (handle) => void timers.delete(handle as number),
    pending: () => timers.size,
    advance: async (ms) => {
      const end = now + ms
      await settle()
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0]
        if (due === undefined) break
        timers.delete(due[0])
        now = due[1].at
        due[1].callback()
        await settle()
      }
      now = end
    },
  }
}

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
