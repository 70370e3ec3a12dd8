/**
 * What a message tells us rather than the model. Whether the sender may give commands is for the caller to ask first.
 *
 * | kind      | names                                                        | where              | what is left for the model         |
 * | --------- | ------------------------------------------------------------ | ------------------ | ---------------------------------- |
 * | directive | think, verbose, reasoning, elevated, exec, model, queue      | at the start       | the text without name and value    |
 * | directive | the same with a colon and a valid value: `/think:high`       | after white space  | the text without it                |
 * | shortcut  | status, help, commands, whoami, skills, models               | at the start       | the text without the name          |
 * | command   | reset (also `/new`), stop                                    | at the very start  | the rest, which may hold the above |
 * | command   | compact, usage, send, context, btw                           | at the very start  | nothing: the rest is its argument  |
 *
 * At the start several may follow each other. Everything else in a sentence is the sentence: it may speak of `GET /status` or of the path `/model`, and
 * nothing in code is a directive (decision 0005).
 */

import { leadingWords, type settingWords, shortcutWords } from '../../contracts/command-words.ts'
import type { ReasoningVisibility, ThinkingLevel, UsageMode, VerboseLevel } from '../../contracts/settings.ts'
import { codeIn } from '../delivery/code.rules.ts'
import { type Verdict, verdictIn } from './approve.rules.ts'
import { type QueueWord, queueWord } from './queue-words.rules.ts'
import { defaultResetCommands, resetCommand } from './reset-commands.rules.ts'
import {
  type ElevatedLevel,
  elevatedLevel,
  reasoningVisibility,
  type SendPolicy,
  sendPolicy,
  thinkingLevel,
  usageMode,
  verboseLevel,
} from './switches.rules.ts'

/** Without `value` it asks how things stand; `invalid` is what was given and fits nothing. */
type Setting<Name extends string, Value> = { name: Name; value?: Value; invalid?: string }
type ExecOptions = { host?: string; security?: string; ask?: string; node?: string }
type ContextReport = (typeof contextReports)[number]

/** Whatever was wished for is taken back. */
export type Unset = 'default'

export type Directive =
  | Setting<'think', ThinkingLevel | Unset>
  | Setting<'verbose', VerboseLevel | Unset>
  | Setting<'reasoning', ReasoningVisibility | Unset>
  | Setting<'elevated', ElevatedLevel | Unset>
  | Setting<'exec', ExecOptions>
  /** As it was written: which model that is, `chooseModel` says, and with which credential of its provider. */
  | (Setting<'model', string> & { credential?: string; report?: string })
  | Setting<'queue', Omit<QueueWord, 'invalid'>>
  | Setting<'usage', UsageMode | 'cost'>
  | Setting<'send', SendPolicy>
  /** `report` is filled in by who can look. */
  | (Setting<'context', ContextReport> & { report?: string })
  /** What the summary shall keep in mind. */
  | Setting<'compact', string>
  /** What is asked beside the conversation. */
  | Setting<'btw', string>
  /** About a tool call that waits. */
  | Setting<'approve', Verdict>
  /** Which of the configured commands it was. */
  | { name: 'reset'; value: string }
  /** As above: the skills that may be called. */
  | { name: 'help' | 'commands' | 'skills'; report?: string }
  | { name: 'status' | 'whoami' | 'stop' }

/** @property only whether nothing is left for the model */
type Parsed = { text: string; directives: Directive[]; only: boolean }

const contextReports = ['list', 'detail', 'json'] as const
/** In one message; what comes after them is text. */
export const directiveMax = 50
const invalidMax = 100
/** As long as a setting may be, src/contracts/settings.ts. */
const modelMax = 200
const invalidly = (words: string) => ({ invalid: words.slice(0, invalidMax).toWellFormed() })
const orDefault =
  <Level>(level: (word: string) => Level | undefined) =>
  (word: string): Level | Unset | undefined =>
    level(word) ?? (/^default$/i.test(word) ? 'default' : undefined)
const levels = {
  think: orDefault(thinkingLevel),
  verbose: orDefault(verboseLevel),
  reasoning: orDefault(reasoningVisibility),
  elevated: orDefault(elevatedLevel),
}
const argued = {
  usage: (word: string) => usageMode(word) ?? (word.toLowerCase() === 'cost' ? 'cost' : undefined),
  send: sendPolicy,
  approve: verdictIn,
  context: (word: string) => contextReports.find((report) => report === word.toLowerCase()),
}

type Shortcut = (typeof shortcutWords)[number]
type InlineName = keyof typeof levels | Shortcut | 'exec' | 'model' | 'queue'
const settings: Record<(typeof settingWords)[number], InlineName> = {
  think: 'think',
  thinking: 'think',
  t: 'think',
  verbose: 'verbose',
  v: 'verbose',
  reasoning: 'reasoning',
  reason: 'reasoning',
  elevated: 'elevated',
  elev: 'elevated',
  exec: 'exec',
  model: 'model',
  queue: 'queue',
}
const inlineNames = new Map<string, InlineName>([...shortcutWords.map((name) => [name, name] as const), ...Object.entries(settings)])
const leading: ReadonlySet<string> = new Set(leadingWords)

type IsModel = (word: string) => boolean
/** What is written as a reference to a model is one. */
const looksLikeModel: IsModel = (word) => /^[\w.-]+\/\S+$/.test(word)

type ParseOptions = {
  /** Commands that begin a conversation anew. */
  resets?: readonly string[]
  /** Whether a word in the middle of a sentence, behind `/model:`, names a model. */
  isModel?: IsModel
}

/** Takes directives, shortcuts and commands out of a message. */
export const parseDirectives = (text: string, { resets = defaultResetCommands, isModel = looksLikeModel }: ParseOptions = {}): Parsed => {
  const reset = resetCommand(text, resets)
  if (reset) return before({ name: 'reset', value: reset.command }, reset.rest, isModel)
  if (!text.includes('/')) return { text, directives: [], only: false }
  const [start = '', word = ''] = /^\s*\/([a-z]+)(?=[\s:]|$):?/i.exec(text) ?? []
  if (!leading.has(word.toLowerCase())) return inline(text, isModel)
  const rest = text.slice(start.length).trim()
  const name = word.toLowerCase() as (typeof leadingWords)[number]
  if (name === 'stop') return before({ name }, rest, isModel)
  const directive: Directive = rest === '' ? { name } : name === 'compact' || name === 'btw' ? { name, value: rest } : commandWith(name, rest)
  return { text: '', directives: [directive], only: true }
}

/** A message that says nothing but that all shall stop. */
export const abortWord = (text: string): boolean => /^(?:\/?stop|esc|abort|wait|exit|interrupt)\p{P}*$/iu.test(text.trim())

const before = (directive: Directive, rest: string, isModel: IsModel): Parsed => {
  const { text, directives } = inline(rest, isModel, directiveMax - 1)
  return { text, directives: [directive, ...directives], only: text === '' }
}

const commandWith = (name: keyof typeof argued, argument: string): Directive => {
  const value = argued[name](argument)
  return (value === undefined ? { name, ...invalidly(argument) } : { name, value }) as Directive
}

type Span = { from: number; to: number }
type Read = {
  directive: Directive
  to: number
  /** A word that follows and is no value: an attempt at one if the message says nothing else, and otherwise text. */
  doubt?: Span
}

type Found = Read & Span

/** Takes out what stands at the start, and what is unmistakable anywhere else. */
const inline = (text: string, isModel: IsModel, max = directiveMax): Parsed => {
  const found = [...foundIn(text, max)]
  const all = found.map(({ read }) => read)
  if (all.length === 0) return { text, directives: [], only: false }
  const doubts = all.flatMap(({ doubt }) => doubt ?? [])
  if (without(text, inOrder([...all, ...doubts])) === '') return { text: '', directives: all.map((read) => withDoubt(read, text)), only: true }
  let code: readonly Span[] | undefined
  const isInCode = (at: number): boolean => {
    code ??= codeIn(text)
    return code.some(({ from, to }) => from <= at && at < to)
  }
  let end = 0
  const reads = found.flatMap(({ read, attached }) => {
    const leads = text.slice(end, read.from).trim() === ''
    if (leads) end = read.to
    return leads || (attached && isUnmistakable(read.directive, isModel) && !isInCode(read.from)) ? [read] : []
  })
  return { text: reads.length === 0 ? text : without(text, reads), directives: reads.map(({ directive }) => directive), only: false }
}

/** Finds all candidates. `attached`: the value follows the colon directly. */
function* foundIn(text: string, max: number): Generator<{ read: Found; attached: boolean }> {
  // After white space, up to white space or a colon: nothing inside an address or a path looks like that.
  const pattern = /(?<=^|\s)\/([a-z]+)(?=[\s:]|$):?/gi
  let count = 0
  for (let match = pattern.exec(text); match && count < max; match = pattern.exec(text)) {
    const name = inlineNames.get((match[1] ?? '').toLowerCase())
    if (name === undefined) continue
    const { lastIndex } = pattern
    const colon = match[0].endsWith(':')
    const read = readInline(name, text, lastIndex, colon)
    count++
    yield { read: { ...read, from: match.index }, attached: colon && /\S/.test(text.charAt(lastIndex)) }
    pattern.lastIndex = read.to
  }
}

/** In the middle of a sentence only what has a value that means something. */
const isUnmistakable = (directive: Directive, isModel: IsModel): boolean =>
  'value' in directive &&
  directive.value !== undefined &&
  !('invalid' in directive && directive.invalid !== undefined) &&
  (directive.name !== 'model' || isModel(directive.value))

const withDoubt = ({ directive, doubt }: Read, text: string): Directive =>
  doubt ? { ...directive, ...invalidly(text.slice(doubt.from, doubt.to)) } : directive

const inOrder = (spans: readonly Span[]): Span[] => spans.toSorted((a, b) => a.from - b.from)

const readInline = (name: InlineName, text: string, at: number, colon: boolean): Read => {
  if (name === 'status' || name === 'help' || name === 'commands' || name === 'whoami' || name === 'skills') return { directive: { name }, to: at }
  if (name === 'models') return { directive: { name: 'model', value: 'list' }, to: at }
  if (name === 'queue') return readQueue(text, at)
  if (name === 'exec') return readExec(text, at)
  const next = wordAt(text, at)
  if (next === undefined) return { directive: { name }, to: at }
  if (name === 'model')
    return { directive: next.word.length > modelMax ? { name, ...invalidly(next.word) } : { name, value: next.word }, to: next.to }
  // The point of a sentence that ends with a value belongs to neither.
  const value = levels[name](next.word.replace(/[.,;!?]$/, ''))
  if (value !== undefined) return { directive: { name, value } as Directive, to: next.to }
  if (colon) return { directive: { name, ...invalidly(next.word) }, to: next.to }
  return { directive: { name }, to: at, doubt: next }
}

const readQueue = (text: string, at: number): Read => {
  const { value, invalid, ...rest } = readWords<QueueWord>(text, at, (word, soFar) => {
    const asked = queueWord(word)
    // The second mode is a word of the sentence: "/queue collect queue up three jobs".
    return asked?.mode && soFar?.mode ? undefined : asked
  })
  return { directive: { name: 'queue', ...(value && { value }), ...(invalid !== undefined && { invalid }) }, ...rest }
}

const readExec = (text: string, at: number): Read => {
  const { value, ...rest } = readWords<ExecOptions & { invalid?: never }>(text, at, (word) => {
    const [, option, setting] = /^(host|security|ask|node)[:=](\S+)$/i.exec(word) ?? []
    return option && setting ? { [option.toLowerCase()]: setting } : undefined
  })
  return { directive: { name: 'exec', ...(value && { value }) }, ...rest }
}

/** Reads on until the first word that means nothing here. */
const readWords = <Value extends { invalid?: string }>(text: string, at: number, take: (word: string, soFar?: Value) => Value | undefined) => {
  let soFar: Value | undefined
  let to = at
  let next = wordAt(text, to)
  while (next) {
    const taken = take(next.word, soFar)
    if (taken === undefined) break
    soFar = { ...soFar, ...taken }
    to = next.to
    next = wordAt(text, to)
  }
  const { invalid, ...value } = soFar ?? {}
  return {
    to,
    ...(Object.keys(value).length > 0 && { value: value as Omit<Value, 'invalid'> }),
    ...(invalid !== undefined && invalidly(invalid)),
    ...(soFar === undefined && next && { doubt: next }),
  }
}

/** The next word on the same line, unless it is another directive, or a path. */
const wordAt = (text: string, at: number): (Span & { word: string }) | undefined => {
  const pattern = /[^\S\n]*([^\s/]\S*)/y
  pattern.lastIndex = at
  const word = pattern.exec(text)?.[1]
  return word === undefined ? undefined : { word, from: pattern.lastIndex - word.length, to: pattern.lastIndex }
}

type Gap = { lines: number; indent: string }

/** The text without these spans, which are in order; where one stood, the wider of the two gaps around it stays. */
const without = (text: string, spans: readonly Span[]): string => {
  const parts: string[] = []
  let gap: Gap = { lines: 0, indent: '' }
  let at = 0
  for (const { from, to } of [...spans, { from: text.length, to: text.length }]) {
    const piece = text.slice(at, from)
    at = to
    const body = piece.trim()
    const lead = body === '' ? piece : piece.slice(0, piece.length - piece.trimStart().length)
    gap = wider(gap, gapOf(lead))
    if (body === '') continue
    parts.push('\n'.repeat(gap.lines), gap.indent, body)
    gap = gapOf(piece.slice(piece.trimEnd().length))
  }
  return parts.join('').trim()
}

const gapOf = (space: string): Gap => {
  const lines = space.split('\n')
  return { lines: lines.length - 1, indent: lines.at(-1) ?? '' }
}

const wider = (before: Gap, after: Gap): Gap => ({
  lines: Math.max(before.lines, after.lines),
  indent: after.lines > 0 || before.lines + before.indent.length === 0 ? after.indent : before.indent,
})
