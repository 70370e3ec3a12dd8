/** A conversation as the AI SDK wants it. */

import type {
  JSONObject,
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import type { AnswerFormat } from '../contracts/answer-format.ts'
import { definedOf } from '../contracts/defined.ts'
import type { AssistantMessage, Message, ToolMessage } from '../contracts/message.ts'
import type { ModelMessage, ModelRequest } from '../contracts/model.ts'
import { partsOfFile } from './file-parts.ts'
import type { LanguageModel } from './sdk-model.ts'
import { isFrom, isReasoned, isUnsigned, type SentBack, sentBack } from './sent-back.ts'

type UserTurn = Extract<LanguageModelV4Message, { role: 'user' }>
type AssistantTurn = Extract<LanguageModelV4Message, { role: 'assistant' }>
type ToolTurn = Extract<LanguageModelV4Message, { role: 'tool' }>

type Asked = Pick<LanguageModel, 'provider' | 'modelId'>

/** Some rules are of one provider alone. */
export const callOptions = (
  { instructions, messages, tools, toolChoice, format, settings }: ModelRequest,
  model: Asked,
): LanguageModelV4CallOptions => ({
  prompt: promptOf(instructions, messages, model),
  ...(tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, inputSchema }) => ({ type: 'function' as const, name, description, inputSchema })),
        toolChoice: choiceOf(toolChoice),
      }),
  ...definedOf({
    temperature: settings.temperature,
    maxOutputTokens: settings.maxOutputTokens,
    reasoning: reasoningFor(settings, messages, toolChoice, model),
  }),
  ...definedOf({ responseFormat: format && formatOf(format) }),
  ...definedOf({ providerOptions: optionsFor(model.provider, format) }),
})

/**
 * Turns of users and of tools that follow each other are merged: some providers refuse two of a role in a row. Every tool call gets its
 * result right behind it, because all providers refuse a call without one; a stopped turn may have left one behind. Results without their
 * call are left out. No text is blank, and none that an answer would go on from ends in white space: Anthropic refuses the whole request
 * for either, and with it all later turns of the conversation.
 */
const promptOf = (instructions: string, messages: readonly ModelMessage[], model: Asked): LanguageModelV4Message[] => {
  const prompt: LanguageModelV4Message[] = isBlank(instructions) ? [] : [{ role: 'system', content: instructions }]
  const idOf = callIds(model.provider)
  const back = sentBack(messages, model)
  messages.forEach((message, index) => {
    if (message.role === 'user')
      addUser(
        prompt,
        [message.before ?? '', message.text, message.after ?? ''].filter((part) => !isBlank(part)).join('\n\n'),
        (message.files ?? []).flatMap(partsOfFile),
      )
    if (message.role === 'summary') addUser(prompt, `Summary of the conversation so far (earlier messages were removed):\n\n${message.text}`)
    if (message.role !== 'assistant') return
    const calls = message.calls.map((call): SentCall => ({ ...call, sentId: idOf(call.callId), sentName: toolName(call.name) }))
    addAssistant(prompt, message.text, calls, back?.(message, index))
    if (calls.length > 0) addResults(prompt, calls, messages, index + 1)
  })
  trimLast(prompt)
  return prompt
}

type SentCall = AssistantMessage['calls'][number] & { sentId: string; sentName: string }

/** Blank text: white space, and characters that are invisible. */
const isBlank = (text: string): boolean => !/[^\s\p{Z}\p{Cc}\p{Cf}]/u.test(text)

/** A model may ask for a tool by a name that no tool can have; what it wrote is refused by all providers when it is sent back. */
const toolName = (name: string): string => name.slice(0, 64).replace(/[^A-Za-z0-9_-]/g, '_') || 'unnamed'

/**
 * Ids as their server made them, but for Anthropic, which refuses characters that others use, and the same id twice: a conversation that
 * another model began must not end there.
 */
const callIds = (provider = ''): ((callId: string) => string) => {
  if (!provider.includes('anthropic')) return (callId) => callId
  const used = new Set<string>()
  return (callId) => {
    const wanted = callId.replace(/[^A-Za-z0-9_-]/g, '_') || 'call'
    let unique = wanted
    for (let suffix = 2; used.has(unique); suffix++) unique = `${wanted}-${suffix}`
    used.add(unique)
    return unique
  }
}

/** Searches up to the next answer only: servers that restart the numbers of their calls reuse ids later in the conversation. */
const addResults = (prompt: LanguageModelV4Message[], calls: readonly SentCall[], messages: readonly Message[], from: number): void => {
  const results = new Map<string, ToolMessage>()
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role === 'assistant') break
    if (message?.role === 'tool') results.set(message.callId, message)
  }
  const content = calls.map(({ callId, sentId, sentName }): ToolTurn['content'][number] => {
    const result = results.get(callId)
    const output: LanguageModelV4ToolResultOutput =
      result === undefined ? { type: 'error-text', value: 'no result: the call was stopped' } : outputOf(result)
    return { type: 'tool-result', toolCallId: sentId, toolName: sentName, output }
  })
  prompt.push({ role: 'tool', content })
}

const addUser = (prompt: LanguageModelV4Message[], text: string, files: UserTurn['content'] = []): void => {
  const words: UserTurn['content'] = isBlank(text) ? (files.length > 0 ? [] : [{ type: 'text', text: '(empty message)' }]) : [{ type: 'text', text }]
  const parts = [...files, ...words]
  const last = prompt.at(-1)
  if (last?.role === 'user') last.content.push(...parts)
  else prompt.push({ role: 'user', content: parts })
}

/** @param back what the provider wants back with it; without that, reasoning is not sent */
const addAssistant = (prompt: LanguageModelV4Message[], text: string, calls: readonly SentCall[], back: SentBack | undefined): void => {
  const content: AssistantTurn['content'] = []
  const say = (words: string, more: object = {}): void => void (isBlank(words) || content.push({ type: 'text', text: words, ...more }))
  const open = new Map(calls.map((call) => [call.callId, call]))
  const call = ({ callId, sentId, sentName, input }: SentCall, more: object = {}): void => {
    open.delete(callId)
    content.push({ type: 'tool-call', toolCallId: sentId, toolName: sentName, input: objectOf(input), ...more })
  }
  for (const part of back?.parts ?? [{ type: 'text' as const, text }]) {
    const more = definedOf({ providerOptions: part.options })
    if (part.type === 'text') say(part.text, more)
    else if (part.type === 'reasoning') content.push({ type: 'reasoning', text: part.text, ...more })
    else {
      const wanted = open.get(part.callId)
      if (wanted) call(wanted, more)
    }
  }
  for (const one of open.values()) call(one)
  // A turn that was stopped before its first word has no text.
  if (content.length === 0) return
  const last = prompt.at(-1)
  if (last?.role === 'assistant' && back?.options === undefined) last.content.push(...content)
  else prompt.push({ role: 'assistant', content, ...definedOf({ providerOptions: back?.options }) })
}

const choiceOf = (choice: ModelRequest['toolChoice']): LanguageModelV4ToolChoice =>
  choice === undefined ? { type: 'auto' } : choice === 'required' ? { type: 'required' } : { type: 'tool', toolName: choice.name }

const formatOf = ({ schema, name, description }: AnswerFormat): NonNullable<LanguageModelV4CallOptions['responseFormat']> => ({
  type: 'json',
  ...definedOf({ schema, name, description }),
})

/** Anthropic's models, also where others serve them. */
const isAnthropic = ({ provider, modelId }: Asked): boolean => /anthropic|claude/i.test(`${provider} ${modelId}`)

/** Whether its provider refuses a step that was reasoned when it comes back without its reasoning. */
export const checksReasoning = ({ reasoning }: LanguageModelV4CallOptions, model: Asked): boolean =>
  reasoning !== undefined && reasoning !== 'none' && isAnthropic(model)

/**
 * A tool loop cannot be sent as reasoned where its first step comes from another model, from an earlier version that kept no signatures, or from the middle
 * of a loop that was compacted: the loop ends without reasoning, and the next message has it again.
 */
const reasoningFor = (
  { reasoning }: ModelRequest['settings'],
  messages: readonly ModelMessage[],
  choice: ModelRequest['toolChoice'],
  model: Asked,
): ModelRequest['settings']['reasoning'] => {
  if (reasoning === undefined || reasoning === 'none' || !isAnthropic(model)) return reasoning
  // Claude refuses to think where it has to call a tool.
  if (choice !== undefined) return 'none'
  const begin = messages.findLastIndex(({ role }) => role === 'user') + 1
  const at = messages.findIndex((message, index) => index >= begin && message.role === 'assistant' && message.calls.length > 0)
  const step = messages[at]
  if (step === undefined || (isFrom(step, model) && (isReasoned(step) || (messages[at - 1]?.role === 'user' && !isUnsigned(step))))) return reasoning
  return 'none'
}

/** The journal is the only history: a provider of responses sends what it would keep, encrypted. Strict schemas are for callers that wrote them so. */
const optionsFor = (provider: string | undefined, format: AnswerFormat | undefined): LanguageModelV4CallOptions['providerOptions'] => {
  const [name = '', api] = (provider ?? '').split('.')
  const options = definedOf({
    store: api === 'responses' ? false : undefined,
    strictJsonSchema: format?.schema === undefined ? undefined : (format.strict ?? false),
  })
  if (Object.keys(options).length === 0) return undefined
  const own = name === 'openai-compatible' ? 'openaiCompatible' : name
  // A provider of responses by another name, such as Azure's, reads those of OpenAI too.
  return api === 'responses' ? { openai: options, [own]: options } : { [own]: options }
}

const trimLast = (prompt: readonly LanguageModelV4Message[]): void => {
  const last = prompt.at(-1)
  const part = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (part?.type === 'text') part.text = part.text.trimEnd()
}

/** Providers accept only objects as the input of a call; what the model wrote instead is shown to it under a name. */
const objectOf = (input: unknown): JSONObject =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as JSONObject) : { invalid: input as JSONValue }

const outputOf = ({ output, isError }: ToolMessage): LanguageModelV4ToolResultOutput => {
  const value = (output ?? null) as JSONValue
  if (typeof value !== 'string') return { type: isError ? 'error-json' : 'json', value }
  // Providers refuse an empty error, and text that is only white space.
  const text = isBlank(value) ? '(empty result)' : value
  return { type: isError ? 'error-text' : 'text', value: text }
}
