/** What a session answers to orders: the settings that they change, and the words. Pure. */
import type { ErrorBody } from '../../contracts/errors.ts'
import type { Costs, SessionRecord } from '../../contracts/session.ts'
import type { Toggles, UsageMode } from '../../contracts/settings.ts'
import type { SummaryOutput } from '../../contracts/turn.ts'
import { summaryLine } from '../../machines/session/collect.rules.ts'
import { configured, profileFor } from '../../machines/session/record.rules.ts'
import type { SessionContext } from '../../machines/session/session.context.ts'
import { directivesOf, type Message, settingsOf, wishesOf } from '../inbound/admission.rules.ts'
import type { Directive } from './directives.rules.ts'
import { moneyText, tokensText } from './numbers.rules.ts'
import { nextUsageMode } from './thinking.rules.ts'

/** `note` is for the model. */
type Obeyed = { toggles: Toggles; text: string; note?: string }

/** Carries out what a message orders. Of one that also says something to the model, settings hold for that message alone. */
export const obeyed = (message: Message, context: SessionContext, only = message.text === ''): Obeyed => {
  let { toggles } = context.record
  const lines: string[] = []
  let note: string | undefined
  for (const directive of directivesOf(message)) {
    // Of a setting within a message only what is wrong with it is told.
    if (!only && !isQuestion(directive) && !('invalid' in directive && directive.invalid !== undefined)) continue
    const { changes, line, tell } = carriedOut(directive, message, { ...context, record: { ...context.record, toggles } })
    toggles = configured(toggles, changes ?? {})
    lines.push(line)
    note = tell ?? note
  }
  return { toggles, text: lines.join('\n'), ...(note === undefined ? {} : { note }) }
}

const isQuestion = ({ name }: Directive): boolean => name === 'status' || name === 'help' || name === 'commands' || name === 'whoami'

type Done = { changes?: Parameters<typeof configured>[1]; line: string; tell?: string }

const carriedOut = (directive: Directive, message: Message, context: SessionContext): Done => {
  const { record } = context
  const now = profileFor(message.profile, record.toggles)
  const invalid = 'invalid' in directive ? directive.invalid : undefined
  switch (directive.name) {
    case 'think':
      return setting('Thinking', directive.value, now.thinking ?? 'as the model is set', choices.think, invalid, 'thinking')
    case 'verbose':
      return setting('Tool messages', directive.value, now.verbose ?? 'off', choices.verbose, invalid, 'verbose')
    case 'reasoning':
      return setting('Reasoning', directive.value, now.reasoning ?? 'off', choices.reasoning, invalid, 'reasoning')
    case 'elevated':
      return setting('Elevated', directive.value, record.toggles.elevated ?? 'off', choices.elevated, invalid, 'elevated')
    case 'send':
      return setting('Answers', directive.value, record.toggles.send ?? 'inherit', choices.send, invalid, 'send')
    case 'usage':
      return usage(directive, record, now.usage)
    case 'model':
      return model(directive, message, now)
    case 'queue':
      return queue(directive, now, invalid)
    case 'status':
      return { line: statusText(message, context) }
    case 'whoami':
      return { line: whoText(message) }
    case 'context':
      return { line: directive.report ?? `Context: '${invalid ?? ''}' is not an option: choose list, detail or json.` }
    case 'help':
    case 'commands':
      return { line: helpText }
    default:
      return { line: `/${directive.name} is not something that this agent knows; see /help.` }
  }
}

const choices = {
  think: 'off, minimal, low, medium, high, xhigh, adaptive, default',
  verbose: 'off, on, full, default',
  reasoning: 'off, on, stream, default',
  elevated: 'off, on, ask, full, default',
  send: 'on, off, inherit',
  usage: 'off, tokens, full, cost',
  queue: 'steer, followup, collect, steer-backlog, interrupt; debounce:2s, cap:20, drop:old|new|summarize; default',
}

const setting = (
  what: string,
  value: string | undefined,
  current: string,
  options: string,
  invalid: string | undefined,
  name: keyof Toggles,
): Done => {
  if (invalid?.includes(' ')) return { line: `${what}: ${invalid}. Unchanged: ${current}.` }
  if (invalid !== undefined) return { line: `${what}: '${invalid}' is not an option; choose one of ${options}. Unchanged: ${current}.` }
  if (value === undefined) return { line: `${what}: ${current}. Choose: ${options}.` }
  return { line: `${what}: ${value}.`, changes: { [name]: value === 'default' || value === 'inherit' ? null : value } }
}

const usage = ({ value, invalid }: Extract<Directive, { name: 'usage' }>, record: SessionRecord, current: UsageMode | undefined): Done => {
  if (invalid !== undefined) return { line: `Usage line: '${invalid}' is not an option; choose one of ${choices.usage}.` }
  if (value === 'cost') return { line: costText(record) }
  const mode: UsageMode = value ?? nextUsageMode(current)
  return { line: `Usage line: ${mode}.`, changes: { usage: mode } }
}

const model = ({ value, credential, invalid }: Extract<Directive, { name: 'model' }>, { profile }: Message, now: Message['profile']): Done => {
  const current = `${now.model}${withCredential(now.credential)}`
  if (invalid !== undefined) return { line: `Model: ${invalid}. Unchanged: ${current}.` }
  if (value === undefined) return { line: `Model: ${current}${now.model === profile.model ? '' : ` (default: ${profile.model})`}.` }
  const usual = value === profile.model
  return {
    line: `Model: ${value}${usual ? ' (default)' : ''}${withCredential(credential)}.`,
    changes: { model: usual ? null : value, credential: credential ?? null },
    tell: `the model is now ${value}`,
  }
}

const withCredential = (credential: string | undefined): string => (credential === undefined ? '' : ` with the credential ${credential} alone`)

const queue = ({ value }: Extract<Directive, { name: 'queue' }>, now: Message['profile'], invalid: string | undefined): Done => {
  const told = (): string =>
    `${now.queueMode}, debounce ${now.debounceMs ?? 500} ms, cap ${now.queueCap ?? 'as configured'}, drop ${now.queueDrop ?? 'as configured'}`
  if (invalid !== undefined) return { line: `Queue: '${invalid}' is not an option; choose one of ${choices.queue}. Unchanged: ${told()}.` }
  if (value === undefined) return { line: `Queue: ${told()}. Choose: ${choices.queue}.` }
  const base = value.reset ? { queueMode: null, debounceMs: null, queueCap: null, queueDrop: null } : {}
  const changes = { ...base, ...wishesOf([{ name: 'queue', value }]) }
  const { debounceMs, queueCap } = wishesOf([{ name: 'queue', value }])
  const parts = [
    value.reset && 'default',
    value.mode,
    debounceMs !== undefined && `debounce ${debounceMs} ms`,
    queueCap && `cap ${queueCap}`,
    value.drop && `drop ${value.drop}`,
  ]
  return { line: `Queue: ${parts.filter(Boolean).join(', ')}.`, changes }
}

const helpText = [
  'You can say: /new or /reset [text], /stop, /compact [what to keep], /status, /whoami, /help,',
  '/think LEVEL, /verbose on|full|off, /reasoning on|stream|off, /elevated on|off|ask|full, /model NAME,',
  '/queue MODE debounce:2s cap:20 drop:summarize, /usage off|tokens|full|cost, /send on|off|inherit.',
  'A setting by itself holds for the conversation, one within a message for that message; /usage and /send are read by themselves only.',
].join('\n')

const whoText = ({ origin }: Message): string =>
  origin
    ? `You are ${origin.sender ?? origin.to} on ${origin.channel}${origin.account === undefined ? '' : `, account ${origin.account}`}.`
    : 'You write to this session directly.'

const statusText = (message: Message, { key, record, run, order, queue: waiting, transcriptLength }: SessionContext): string => {
  const profile = settingsOf(message, record)
  const { tokens, spent } = record
  const used =
    tokens && tokens.total > 0 ? `${tokensText(tokens.total)}${tokens.window ? `/${tokensText(tokens.window)} tokens` : ' tokens'}` : 'nothing yet'
  return [
    `Session ${key}${record.sessionId === '' ? '' : ` (${record.sessionId})`}: ${order ? 'compacting' : run ? 'answering' : 'idle'}, ${waiting.length} waiting, ${transcriptLength} messages.`,
    `Model ${profile.model}${withCredential(profile.credential)}, thinking ${profile.thinking ?? 'default'}, context ${used}, compactions ${record.compactions}.`,
    `Queue ${profile.queueMode}${profile.debounceMs === undefined ? '' : `, debounce ${profile.debounceMs} ms`}, verbose ${profile.verbose ?? 'off'}, reasoning ${profile.reasoning ?? 'off'}, usage ${profile.usage ?? 'off'}.`,
    ...(spent.turns === 0 ? [] : [costText(record)]),
  ].join('\n')
}

const costText = ({ spent, updatedAt }: SessionRecord): string => {
  const { turns, usage: used, days } = spent
  const today = new Date(updatedAt).toISOString().slice(0, 10)
  const since = new Date(updatedAt - 29 * dayMs).toISOString().slice(0, 10)
  const month = Object.entries(days).filter(([day]) => day >= since && day <= today)
  const sum = month.reduce(
    (all, [, { costUsd, priced, unpriced }]) => ({ costUsd: all.costUsd + costUsd, priced: all.priced + priced, unpriced: all.unpriced + unpriced }),
    nothing,
  )
  return `This session: ${turns} ${turns === 1 ? 'turn' : 'turns'}, ${tokensText(used.inputTokens)} in / ${tokensText(used.outputTokens)} out, ${cost(spent)}; today ${cost(days[today] ?? nothing)}, 30 days ${cost(sum)}.`
}

const dayMs = 86_400_000
const nothing: Costs = { costUsd: 0, priced: 0, unpriced: 0 }
const cost = ({ costUsd, priced, unpriced }: Costs): string => {
  if (priced + unpriced === 0) return 'nothing'
  if (priced === 0) return 'at an unknown price'
  return `est ${moneyText(costUsd)}${unpriced > 0 ? ' (partial: the price of some calls is not known)' : ''}`
}

/** @param rest what else the message says: it would be odd to go on with it right behind a stop */
export const stoppedText = ({ run, queue: waiting }: SessionContext, rest: string): string => {
  const hint = rest === '' ? '' : ` What else you wrote was not taken up: ${summaryLine(rest)}`
  if (!run && waiting.length === 0) return `Nothing is running.${hint}`
  return `Stopped.${waiting.length === 0 ? '' : ` ${waiting.length} waiting ${waiting.length === 1 ? 'message was' : 'messages were'} dropped.`}${hint}`
}

/** Of a message that joins a turn whose settings stand. */
export const unsetText = (wishes: Toggles): string =>
  `${Object.entries(wishes)
    .flatMap(([name, value]) => (name === 'credential' && value === undefined ? [] : [`${name} ${value ?? 'default'}`]))
    .join(', ')}: that does not hold for the turn that is running already.`

export const newSessionText = (message: Message, { record }: SessionContext): string => {
  const profile = profileFor(message.profile, record.toggles)
  return `New session started. Model: ${profile.model}${profile.model === message.profile.model ? '' : ` (default: ${message.profile.model})`}.`
}

export const compactedText = ({ tokens }: SummaryOutput, { tokens: known }: SessionRecord): string => {
  if (!tokens) return 'Compacted.'
  const share = known?.window ? ` (${Math.round((tokens.after / known.window) * 100)}% of ${tokensText(known.window)})` : ''
  return `Compacted: ${tokensText(tokens.before)} → ${tokensText(tokens.after)} tokens${share}.`
}
export const notCompactedText = (error?: ErrorBody): string =>
  error ? `The conversation was not compacted: ${error.message}.` : 'The conversation was not compacted: it was stopped.'
