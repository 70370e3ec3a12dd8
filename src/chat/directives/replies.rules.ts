/** What a session answers to directives: the settings that they change, and the words. Pure. */

import { definedOf } from '../../contracts/defined.ts'
import type { IncomingMessage as Message, SessionFacts } from '../../contracts/desk.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { Costs, SessionRecord } from '../../contracts/session.ts'
import type { ToggleChanges, Toggles, UsageMode } from '../../contracts/settings.ts'
import { sideTextMax, sideUsage } from '../../contracts/side-question.rules.ts'
import type { SummaryOutput } from '../../contracts/turn.ts'
import { summaryLine } from '../../machines/session/collect.rules.ts'
import { settingsOf } from '../../machines/session/queue.rules.ts'
import { configured, profileFor } from '../../machines/session/record.rules.ts'
import { directivesOf, settingsIn, withOverrides } from '../desk/admission.rules.ts'
import { type Annotations, annotationsOf } from '../desk/annotations.rules.ts'
import { type Decision, decide } from './approve.rules.ts'
import type { Directive } from './directives.rules.ts'
import { moneyText, tokensText } from './numbers.rules.ts'
import { nextUsageMode } from './switches.rules.ts'

/** `note` is for the model. */
type Applied = { changes: ToggleChanges; text: string; note?: string; decision?: Decision }

/** Applies the directives of a message that holds nothing else. */
export const applied = (message: Message, session: SessionFacts): Applied => applyAll(directivesOf(message), message, session)

/** What a message asks beside what it says to the model: its settings hold for it alone, and only what is wrong with one is told. */
export const questionsIn = (message: Message, session: SessionFacts): string => {
  const asked = directivesOf(message).filter((one) => isQuestion(one) || ('invalid' in one && one.invalid !== undefined))
  return applyAll(asked, message, session).text
}

const applyAll = (directives: readonly Directive[], message: Message, session: SessionFacts): Applied => {
  const changes: ToggleChanges = {}
  const lines: string[] = []
  let note: string | undefined
  let decision: Decision | undefined
  for (const directive of directives) {
    const record = { ...session.record, toggles: configured(session.record.toggles, changes) }
    const done = apply(directive, message, { ...session, record })
    Object.assign(changes, done.changes)
    lines.push(done.line)
    note = done.tell ?? note
    decision = done.decision ?? decision
  }
  return { changes, text: lines.join('\n'), ...definedOf({ note, decision }) }
}

const questions: ReadonlySet<Directive['name']> = new Set(['status', 'help', 'commands', 'skills', 'whoami'])

const isQuestion = (directive: Directive): boolean => questions.has(directive.name) || (directive.name === 'model' && directive.report !== undefined)

type Done = { changes?: ToggleChanges; line: string; tell?: string; decision?: Decision }

const apply = (directive: Directive, message: Message, session: SessionFacts): Done => {
  const { record } = session
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
    case 'approve':
      return decide(directive, session.approvals ?? [], annotationsOf(message).origin)
    case 'status':
      return { line: statusText(message, session) }
    case 'whoami':
      return { line: whoText(annotationsOf(message)) }
    case 'context':
      return { line: directive.report ?? `Context: '${invalid ?? ''}' is not an option: choose list, detail or json.` }
    case 'help':
    case 'commands':
      return { line: directive.report ? `${helpText}\n${directive.report}` : helpText }
    case 'skills':
      return { line: directive.report ?? 'There are no skills to call.' }
    case 'btw':
      return { line: directive.value === undefined ? sideUsage : `A side question has at most ${sideTextMax} characters.` }
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

const model = (
  { value, credential, invalid, report }: Extract<Directive, { name: 'model' }>,
  { profile }: Message,
  now: Message['profile'],
): Done => {
  const current = `${now.model}${withCredential(now.credential)}`
  if (invalid !== undefined) return { line: `Model: ${invalid}. Unchanged: ${current}.` }
  if (value === undefined) {
    const line = `Model: ${current}${now.model === profile.model ? '' : ` (default: ${profile.model})`}.`
    return { line: report === undefined ? line : `${line}\n${report}` }
  }
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
  const changes = { ...base, ...settingsIn([{ name: 'queue', value }]) }
  const { debounceMs, queueCap } = settingsIn([{ name: 'queue', value }])
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
  'You can say: /new or /reset [text], /stop, /btw QUESTION, /compact [what to keep], /status, /context list|detail|json, /whoami, /help or /commands,',
  '/skills, /think LEVEL, /verbose on|full|off, /reasoning on|stream|off, /elevated on|off|ask|full, /model NAME|list|status, /models,',
  '/queue MODE debounce:2s cap:20 drop:summarize, /usage off|tokens|full|cost, /send on|off|inherit, /approve CODE once|always|deny.',
  'A setting by itself holds for the conversation, one within a message for that message; /usage and /send are read by themselves only.',
].join('\n')

const whoText = ({ origin }: Annotations): string =>
  origin
    ? `You are ${origin.sender ?? origin.to} on ${origin.channel}${origin.account === undefined ? '' : `, account ${origin.account}`}.`
    : 'You write to this session directly.'

const statusText = (message: Message, { key, record, doing, waiting, messages }: SessionFacts): string => {
  const profile = settingsOf(withOverrides(message), record)
  const { tokens, spent } = record
  const used =
    tokens && tokens.total > 0 ? `${tokensText(tokens.total)}${tokens.window ? `/${tokensText(tokens.window)} tokens` : ' tokens'}` : 'nothing yet'
  return [
    `Session ${key}${record.sessionId === '' ? '' : ` (${record.sessionId})`}: ${doing === 'resetting' ? 'answering' : doing === 'waiting' ? 'idle' : doing}, ${waiting} waiting, ${messages} messages.`,
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
export const stoppedText = ({ running, waiting, asides = 0 }: SessionFacts, rest: string): string => {
  const hint = rest === '' ? '' : ` What else you wrote was not taken up: ${summaryLine(rest)}`
  if (!running && waiting + asides === 0) return `Nothing is running.${hint}`
  return `Stopped.${waiting === 0 ? '' : ` ${waiting} waiting ${waiting === 1 ? 'message was' : 'messages were'} dropped.`}${hint}`
}

/** Of a message that joins a turn whose settings stand. */
export const unsetText = (settings: Toggles): string =>
  `${Object.entries(settings)
    .flatMap(([name, value]) => (name === 'credential' && value === undefined ? [] : [`${name} ${value ?? 'default'}`]))
    .join(', ')}: that does not hold for the turn that is running already.`

/** Names the model that answers: what the message itself chooses comes before the settings of the session, which it is about to change. */
export const newSessionText = (message: Message, { record }: SessionFacts): string => {
  const { model, credential } = settingsOf(withOverrides(message), record)
  const usual = message.profile.model
  return `New session started. Model: ${model}${model === usual ? '' : ` (default: ${usual})`}${withCredential(credential)}.`
}

export const compactedText = ({ tokens }: SummaryOutput, window?: number): string => {
  if (!tokens) return 'Compacted.'
  const share = window ? ` (${Math.round((tokens.after / window) * 100)}% of ${tokensText(window)})` : ''
  return `Compacted: ${tokensText(tokens.before)} → ${tokensText(tokens.after)} tokens${share}.`
}
/** Where answers of the agent go too, so it says what it answers. */
export const asideText = ({ question, text }: { question: string; text: string }): string => `Aside, on “${summaryLine(question)}”: ${text}`

export const notCompactedText = (error?: ErrorBody): string =>
  error ? `The conversation was not compacted: ${error.message}.` : 'The conversation was not compacted: it was stopped.'
