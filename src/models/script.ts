/** Scripts: what a scripted model answers, written in code, JSON or YAML. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { z } from 'zod'
import { messageOf, RuntimeError } from '../contracts/errors.ts'
import { tokensMax } from '../contracts/message.ts'
import { providerCodes, providerError } from './provider-error.ts'

/** Loaded on first use: most apps read no YAML, and the package is a tenth of the modules that `import 'statecast'` would load. */
const yaml = (): typeof Yaml => createRequire(import.meta.url)('yaml') as typeof Yaml

const scriptBytesMax = 4 * 1024 * 1024

const ms = z.number().min(0).max(3_600_000)
const tokens = z.number().int().min(0).max(tokensMax)

const ScriptedError = z
  .strictObject({
    code: z.enum(providerCodes).optional(),
    status: z.int().min(400).max(599).optional().describe('an HTTP status, where the code follows from it'),
    message: z.string().optional(),
    retryAfterMs: ms.optional(),
  })
  .refine((error) => error.code !== undefined || error.status !== undefined, { error: 'give a code or a status' })
export type ScriptedError = z.infer<typeof ScriptedError>

/** One answer. In the order of time: delay, `errors`, reasoning, text, then how it goes wrong, else calls and the end. */
export const ScriptedResponse = z
  .strictObject({
    text: z.string().optional(),
    reasoning: z.string().optional(),
    calls: z
      .array(z.strictObject({ name: z.string().min(1), input: z.unknown().optional(), callId: z.string().min(1).optional() }))
      .max(1000)
      .optional(),
    rawCalls: z
      .array(z.strictObject({ name: z.string(), input: z.string(), callId: z.string().optional() }))
      .max(1000)
      .optional()
      .describe('calls whose input is sent as it stands, broken JSON included'),
    usage: z
      .strictObject({
        inputTokens: tokens.optional(),
        outputTokens: tokens.optional(),
        cachedInputTokens: tokens.optional(),
        reasoningTokens: tokens.optional(),
        cacheWriteTokens: tokens.optional(),
      })
      .optional(),
    finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'other']).optional(),
    delayMs: ms.optional().describe('before the first token'),
    deltaDelayMs: ms.optional().describe('between tokens'),
    chunks: z.array(z.string()).optional().describe('the text, cut as it is to be streamed; instead of text'),
    chunkSize: z.int().min(1).optional().describe('characters per delta; default: a word'),
    error: ScriptedError.optional().describe('fails, every time, after the text if there is one'),
    errors: z.array(ScriptedError).max(100).optional().describe('fails once with each of these, in this process, then answers'),
    hang: z.boolean().optional().describe('goes silent after the text'),
    cutAfter: z.int().min(0).optional().describe('the stream stops after so many characters of text, in mid-answer'),
    garbage: z.boolean().optional().describe('something unreadable follows the text'),
    endless: z.boolean().optional().describe('repeats the text for ever'),
  })
  .refine((response) => response.text === undefined || response.chunks === undefined, { error: 'give text or chunks, not both', path: ['chunks'] })
export type ScriptedResponse = z.input<typeof ScriptedResponse>

const Script = z.array(ScriptedResponse).max(100_000)
export type Script = readonly ScriptedResponse[]

/** Checks a script written in code. @throws RuntimeError bad_request naming each field at fault, such as `[2].calls[0].name` */
export const checkScript = (script: unknown, name = 'the script'): Script => {
  const result = Script.safeParse(script)
  if (result.success) return result.data
  throw invalid(name, result.error, () => undefined)
}

/** Checks what a script function answered. @throws RuntimeError provider_malformed naming the field at fault */
export const checkAnswer = (answer: unknown, ref: string): ScriptedResponse => {
  let problem: string
  try {
    const result = ScriptedResponse.safeParse(answer)
    if (result.success) return result.data
    const [issue] = result.error.issues
    problem = `${fieldOf(issue?.path ?? [], 'answer')}: ${issue?.message}`
  } catch (thrown) {
    problem = `it cannot be read: ${messageOf(thrown)}`
  }
  throw providerError('provider_malformed', `the script function of ${ref} returned something else than a response: ${problem}`, {
    hint: 'return an object with text, reasoning, calls, usage, finish, … as in a script',
  })
}

/** Reads a script from a JSON or YAML file. @throws RuntimeError bad_request naming field and line, not_found */
export const readScript = async (file: string): Promise<Script> => {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new RuntimeError('not_found', `the script "${file}" cannot be read`, {
      cause,
      hint: 'scripted/FILE names a JSON or YAML file in the workspace',
    })
  }
  return parseScript(text, file)
}

/** JSON is YAML, so one parser reads both and knows the lines of both. `{ responses: […] }` is accepted as well as a bare list. */
export const parseScript = (text: string, name: string): Script => {
  if (text.length > scriptBytesMax)
    throw new RuntimeError('too_large', `the script "${name}" has more than ${scriptBytesMax} characters`, {
      hint: 'split it, or write the script as a function',
    })
  const { LineCounter, parseDocument } = yaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [syntax] = document.errors
  if (syntax !== undefined)
    throw new RuntimeError('bad_request', `the script "${name}", line ${lines.linePos(syntax.pos[0]).line}: ${syntax.message}`, {
      cause: syntax,
      hint: 'mend that line: the file must be JSON or YAML',
    })
  let content: unknown
  try {
    content = document.toJS({ maxAliasCount: 1000 })
  } catch (cause) {
    throw new RuntimeError('bad_request', `the script "${name}" cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: 'write it with fewer aliases (*name)',
    })
  }
  const prefix = isListHolder(content) ? ['responses'] : []
  const result = Script.safeParse(isListHolder(content) ? content.responses : content)
  if (result.success) return result.data
  throw invalid(`the script "${name}"`, result.error, (path) => lineOf(document, lines, [...prefix, ...path]))
}

const isListHolder = (content: unknown): content is { responses: unknown } =>
  typeof content === 'object' && content !== null && !Array.isArray(content) && 'responses' in content

/** The line of the value, or of the nearest thing around it that is there. */
const lineOf = (document: Yaml.Document, lines: Yaml.LineCounter, path: PropertyKey[]): number | undefined => {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line
  }
  return undefined
}

const invalid = (name: string, error: z.ZodError, lineOfPath: (path: PropertyKey[]) => number | undefined): RuntimeError => {
  const problems = error.issues.slice(0, 5).map((issue) => {
    const line = lineOfPath(issue.path)
    return `${line === undefined ? '' : `line ${line}, `}${fieldOf(issue.path)}: ${issue.message}`
  })
  return new RuntimeError('bad_request', `${name} does not fit: ${problems.join('; ')}`, {
    field: fieldOf(error.issues[0]?.path ?? []),
    hint: 'a script is a list of responses with text, reasoning, calls, usage, delayMs, error, …',
  })
}

const fieldOf = (path: PropertyKey[], whole = 'script'): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('') || whole
