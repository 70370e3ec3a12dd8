/** `scripted/offline`: the stand-in that works without a key or a network. It understands little, but really calls the tools. */

import { definedOf } from '../../contracts/defined.ts'
import type { Clock } from '../../contracts/environment.ts'
import { withDigitsAsText } from '../../contracts/exact-json.ts'
import { fileLine } from '../../contracts/file.ts'
import type { AssistantMessage, ToolMessage } from '../../contracts/message.ts'
import type { Model, ModelFile, ModelMessage } from '../../contracts/model.ts'
import { isRecord } from '../../contracts/record.rules.ts'
import type { ScriptedResponse } from '../script.ts'
import { scriptedModel } from '../scripted.ts'
import { asksForSummary } from '../summary-prompt.rules.ts'
import { findRequests, type OfflineRequest, operand } from './requests.ts'
import { asksForStory, beginStory, isChapter, nextChapter, storyPace } from './story.ts'

export const offlineRef = 'scripted/offline'

const shownCharsMax = 4000

/** What it can do of itself with a tool. */
const abilities: Readonly<Record<string, string>> = {
  calculate: 'calculate',
  now: 'tell the time',
  list_files: 'list files of the workspace',
  read_file: 'read files of the workspace',
}

/** It promises nothing for which this agent has no tool. */
const introduction = (toolNames: readonly string[]): string => {
  const can = [...Object.keys(abilities).flatMap((name) => (toolNames.includes(name) ? [abilities[name]] : [])), 'tell a long story']
  const own = toolNames.filter((name) => !Object.hasOwn(abilities, name))
  const calls =
    toolNames.length === 0
      ? 'This agent has no tools. '
      : `I call a tool of this agent (${(own.length > 0 ? own : toolNames).slice(0, namedMax).join(', ')}${own.length > namedMax ? ', …' : ''}) when you write its name and its input as JSON: NAME {…}. `
  return (
    `I am the offline stand-in of Statecast, not a language model: I can ${can.length === 1 ? can[0] : `${can.slice(0, -1).join(', ')} and ${can.at(-1)}`}. ${calls}` +
    'To talk to a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY (or OPENAI_BASE_URL for a local server).'
  )
}
const namedMax = 8

/** @param deltaDelayMs between two words, so that streaming can be seen; default 5 */
export const offlineModel = ({ clock, deltaDelayMs = 5 }: { clock: Clock; deltaDelayMs?: number }): Model =>
  scriptedModel(
    ({ instructions, messages, tools }) => {
      if (asksForSummary(instructions)) return { text: summarised(messages), usage: estimate(messages, '') }
      const { slow, ...response } = decideOffline(
        messages,
        tools.map(({ name }) => name),
      )
      return { ...response, ...definedOf({ deltaDelayMs: deltaDelayMs > 0 ? (slow ? deltaDelayMs * storyPace : deltaDelayMs) : undefined }) }
    },
    {
      ref: offlineRef,
      clock,
    },
  )

/** The beginning of each line: the stand-in cannot tell what matters. */
const summarised = (messages: readonly ModelMessage[]): string =>
  messages
    .flatMap((message) => ('text' in message ? message.text.split('\n') : []))
    .filter((line) => line.trim() !== '')
    .map((line) => shortened(line, lineCharsMax))
    .slice(-linesMax)
    .join('\n')
const lineCharsMax = 60
const linesMax = 50

/**
 * What the stand-in answers; the same conversation always gets the same answer. It reports the tool results that have come since its last
 * message, then turns to what users have said since then, be it one message or several, and asks for the tools that this needs.
 */
export const decideOffline = (messages: readonly ModelMessage[], toolNames: readonly string[]): ScriptedResponse & { slow?: true } => {
  const last = messages.findLastIndex((message) => message.role === 'assistant')
  const news = messages.slice(last + 1)
  const results = news.filter((message) => message.role === 'tool')
  const users = news.filter((message) => message.role === 'user')
  const texts = users.filter(({ text, files }) => text !== '' || files === undefined).map(({ text }) => text)
  const said = messages[last]
  const asked = said?.role === 'assistant' ? said : undefined
  const calls: { name: string; input: unknown }[] = []
  const inStory = asked !== undefined && results.length > 0 && isChapter(asked)
  // A user who interrupts ends the story; then it does not mention the clock that was not looked at any more.
  const lines = inStory && texts.length > 0 ? [] : results.map((result) => report(result, asked))
  const chapter = inStory && texts.length === 0 ? nextChapter(asked) : undefined
  if (chapter) {
    lines.push(chapter.text)
    if (chapter.more) calls.push({ name: 'now', input: {} })
  }
  lines.push(...users.flatMap(({ files }) => (files ?? []).map(sawFile)))
  let slow = chapter !== undefined

  let previous = lastNumber(messages)
  for (const text of texts) {
    const named = namedCall(text, toolNames)
    if (named !== undefined) {
      calls.push(named)
      continue
    }
    if (asksForStory(text)) {
      const inOne = !toolNames.includes('now')
      lines.push(beginStory(inOne))
      if (!inOne) calls.push({ name: 'now', input: {} })
      slow = true
      continue
    }
    const understood = findRequests(text, previous)
    const { requests } = understood
    previous = understood.previous
    if (requests.length === 0) lines.push(chat(text, toolNames))
    for (const request of requests) {
      const call = callFor(request)
      if (call === undefined) lines.push('There is no earlier result to go on from.')
      else if (toolNames.includes(call.name)) calls.push(call)
      else lines.push(`For this I would need the tool ${call.name}, which this agent does not have.`)
    }
  }
  if (lines.length === 0 && calls.length === 0) lines.push(introduction(toolNames))
  const text = lines.join('\n')
  return {
    ...definedOf({ text: text === '' ? undefined : text, calls: calls.length === 0 ? undefined : calls, slow: slow || undefined }),
    usage: estimate(messages, text),
  }
}

const sawFile = (file: ModelFile): string =>
  file.data ? `I got the file ${fileLine(file)}.` : `The file ${fileLine(file)} ${file.missing ?? 'is not given'}.`

/** A tool that the user names, with its input as JSON: the way to try a tool of one's own without a model. */
const namedCall = (text: string, toolNames: readonly string[]): { name: string; input: unknown } | undefined => {
  const [, name, json] = /^\s*(?:call\s+)?([A-Za-z0-9_-]{1,64})\s*(\{.*\})\s*$/s.exec(text) ?? []
  if (name === undefined || json === undefined || !toolNames.includes(name)) return undefined
  try {
    return { name, input: JSON.parse(withDigitsAsText(json)) as unknown }
  } catch {
    return undefined
  }
}

const callFor = (request: OfflineRequest): { name: string; input: unknown } | undefined => {
  switch (request.kind) {
    case 'calculate':
      return { name: 'calculate', input: { expression: request.expression } }
    case 'now':
      return { name: 'now', input: request.timeZone === undefined ? {} : { timeZone: request.timeZone } }
    case 'read':
      return { name: 'read_file', input: { path: request.path } }
    case 'list':
      return { name: 'list_files', input: request.path === undefined ? {} : { path: request.path } }
    case 'no-result':
      return undefined
  }
}

const chat = (text: string, toolNames: readonly string[]): string => {
  const quoted = text.trim().replace(/\s+/g, ' ')
  return quoted === ''
    ? introduction(toolNames)
    : `You said: "${quoted.length > 100 ? `${quoted.slice(0, 100)}…` : quoted}". ${introduction(toolNames)}`
}

const report = (result: ToolMessage, asked: AssistantMessage | undefined): string => {
  const input = asked?.calls.find(({ callId }) => callId === result.callId)?.input
  if (result.isError) return `${describe(result.name, input)} failed: ${errorText(result.output)}`
  const output = isRecord(result.output) ? result.output : {}
  switch (result.name) {
    case 'calculate':
      if (typeof output.value === 'number') return `${String(output.expression)} = ${figure(output.value)}`
      break
    case 'now':
      if (typeof output.local === 'string') return `It is ${output.local} (${String(output.timeZone)}).`
      break
    case 'read_file':
      if (typeof output.text === 'string') return `${String(output.path)}:\n${shortened(output.text)}`
      break
    case 'list_files':
      if (Array.isArray(output.entries)) return listing(output.path, output.entries, output.truncated === true)
      break
  }
  return `${result.name}: ${shortened(typeof result.output === 'string' ? result.output : JSON.stringify(result.output))}`
}

const listing = (path: unknown, entries: unknown[], truncated: boolean): string => {
  const names = entries.filter(isRecord).map((entry) => `${String(entry.name)}${entry.kind === 'folder' ? '/' : ''}`)
  const folder = path === '.' ? 'the workspace' : String(path)
  return names.length === 0 ? `There are no files in ${folder}.` : `Files in ${folder}: ${names.join(', ')}${truncated ? ', and more' : ''}`
}

const describe = (name: string, input: unknown): string => {
  const subject = isRecord(input) ? (input.expression ?? input.path ?? input.timeZone) : undefined
  return typeof subject === 'string' ? `${name} (${subject.slice(0, 200)})` : name
}

/** The message of an error, in whichever of our shapes it comes: text, a body, or a body under `error`. */
const errorText = (output: unknown): string => {
  if (typeof output === 'string') return shortened(output)
  if (!isRecord(output)) return 'no reason was given'
  if (isRecord(output.error) || typeof output.error === 'string') return errorText(output.error)
  return typeof output.message === 'string' ? shortened(output.message) : shortened(JSON.stringify(output))
}

/** The newest number that `calculate` returned in this conversation, as an operand. */
const lastNumber = (messages: readonly ModelMessage[]): string | undefined => {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (
      message?.role === 'tool' &&
      message.name === 'calculate' &&
      !message.isError &&
      isRecord(message.output) &&
      typeof message.output.value === 'number'
    )
      return operand(String(message.output.value))
  }
  return undefined
}

// 15 digits are what a double holds for certain: 0.1 + 0.2 is 0.3 to people.
const figure = (value: number): string => String(Number(value.toPrecision(15)))

const shortened = (text: string, charsMax = shownCharsMax): string => (text.length > charsMax ? `${text.slice(0, charsMax)}…` : text)

/** Four characters a token, so that budgets and meters have something to show. */
const estimate = (messages: readonly ModelMessage[], text: string) => ({
  inputTokens: Math.ceil(messages.reduce((chars, message) => chars + ('text' in message ? message.text.length : 40), 0) / 4),
  outputTokens: Math.ceil(text.length / 4) + 1,
})
