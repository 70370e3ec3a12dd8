/** The fake models of the OpenAI Agents SDK. */
import { setTracingDisabled, Usage } from '@openai/agents'
import { answer, done } from '../world.mjs'

setTracingDisabled(true)

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''))
const seen = ({ systemInstructions, input }) => [
  ...(systemInstructions ? [{ role: 'system', text: systemInstructions }] : []),
  ...(typeof input === 'string'
    ? [{ role: 'user', text: input }]
    : input.filter(({ role }) => role).map(({ role, content }) => ({ role, text: textOf(content) }))),
]
let calls = 0
const response = (output) => ({
  usage: new Usage({ requests: 1, inputTokens: 10, outputTokens: 10, totalTokens: 20 }),
  responseId: `response-${++calls}`,
  output,
})
const message = (text) => ({
  type: 'message',
  id: `message-${++calls}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
})
const call = (name, input) => {
  const callId = `call-${name}-${done().length}`
  return { type: 'function_call', id: callId, callId, name, status: 'completed', arguments: JSON.stringify(input) }
}
const results = ({ input }) => (typeof input === 'string' ? [] : input.filter(({ type }) => type === 'function_call_result'))
const fake = (respond) => ({
  getResponse: async (request) => response(await respond(request)),
  getStreamedResponse() {
    throw new Error('nobody streams here')
  },
})

/** Says what the world has for that job. */
export const model = (job) => fake(async (request) => [message(await answer(job, seen(request)))])

/** Calls tools first, then says what it says of their results. @param first makes the calls of what the world answers to `job` @param then job of the answer at the end */
export const caller = (job, first, then) =>
  fake(async (request) => {
    const found = results(request)
    if (found.length === 0) return first(await answer(job, seen(request))).map(({ name, input }) => call(name, input))
    const text = JSON.stringify(found.map(({ output }) => output?.text ?? output))
    return [message(then ? await answer(then, [{ role: 'user', text }]) : text)]
  })
