/** A conversation as the AI SDK wants it. */
import type { JSONObject, JSONValue, LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { AssistantMessage, Message, ToolMessage } from '../contracts/message.ts'
import type { ModelRequest } from '../contracts/model.ts'

type UserTurn = Extract<LanguageModelV4Message, { role: 'user' }>
type AssistantTurn = Extract<LanguageModelV4Message, { role: 'assistant' }>
type ToolTurn = Extract<LanguageModelV4Message, { role: 'tool' }>

/** The options of one call, without its signal. */
export const callOptions = ({ instructions, messages, tools, settings }: ModelRequest): LanguageModelV4CallOptions => ({
  prompt: promptOf(instructions, messages),
  ...(tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, inputSchema }) => ({ type: 'function' as const, name, description, inputSchema })),
        toolChoice: { type: 'auto' as const },
      }),
  ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  ...(settings.maxOutputTokens === undefined ? {} : { maxOutputTokens: settings.maxOutputTokens }),
  ...(settings.reasoning === undefined ? {} : { reasoning: settings.reasoning }),
})

/**
 * Turns of users and of tools that follow each other are merged: some providers refuse two of a role in a row. Every tool call gets its
 * result right behind it, because all providers refuse a call without one; a stopped turn may have left one behind. Results without their
 * call are left out.
 */
export const promptOf = (instructions: string, messages: readonly Message[]): LanguageModelV4Message[] => {
  const prompt: LanguageModelV4Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }]
  messages.forEach((message, index) => {
    if (message.role === 'user') addUser(prompt, [message.before ?? '', message.text].filter((part) => part !== '').join('\n\n'))
    if (message.role === 'summary') addUser(prompt, `Summary of the conversation so far (earlier messages were removed):\n\n${message.text}`)
    if (message.role !== 'assistant') return
    addAssistant(prompt, message)
    if (message.calls.length > 0) addResults(prompt, message, messages, index + 1)
  })
  return prompt
}

/** Looks up to the next answer only: servers that number their calls anew reuse ids later in the conversation. */
const addResults = (prompt: LanguageModelV4Message[], { calls }: AssistantMessage, messages: readonly Message[], from: number): void => {
  const results = new Map<string, ToolMessage>()
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role === 'assistant') break
    if (message?.role === 'tool') results.set(message.callId, message)
  }
  const content = calls.map(({ callId, name }): ToolTurn['content'][number] => {
    const result = results.get(callId)
    const output: LanguageModelV4ToolResultOutput =
      result === undefined ? { type: 'error-text', value: 'no result: the call was stopped' } : outputOf(result)
    return { type: 'tool-result', toolCallId: callId, toolName: name, output }
  })
  prompt.push({ role: 'tool', content })
}

const addUser = (prompt: LanguageModelV4Message[], text: string): void => {
  // Some providers refuse a text that is empty.
  const part: UserTurn['content'][number] = { type: 'text', text: text === '' ? '(empty message)' : text }
  const last = prompt.at(-1)
  if (last?.role === 'user') last.content.push(part)
  else prompt.push({ role: 'user', content: [part] })
}

// Reasoning is not sent back: providers want it signed, and the signature is not kept.
const addAssistant = (prompt: LanguageModelV4Message[], { text, calls }: AssistantMessage): void => {
  const content: AssistantTurn['content'] = []
  if (text !== '') content.push({ type: 'text', text })
  for (const { callId, name, input } of calls) content.push({ type: 'tool-call', toolCallId: callId, toolName: name, input: objectOf(input) })
  const last = prompt.at(-1)
  // A turn that was stopped before its first word says nothing.
  if (content.length === 0) return
  if (last?.role === 'assistant') last.content.push(...content)
  else prompt.push({ role: 'assistant', content })
}

/** Providers accept only objects as the input of a call; what the model wrote instead is shown to it under a name. */
const objectOf = (input: unknown): JSONObject =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as JSONObject) : { invalid: input as JSONValue }

const outputOf = ({ output, isError }: ToolMessage): LanguageModelV4ToolResultOutput => {
  const value = (output ?? null) as JSONValue
  if (typeof value === 'string') return { type: isError ? 'error-text' : 'text', value }
  return { type: isError ? 'error-json' : 'json', value }
}
