/**
 * What a message says besides its words, read before its session takes it in: orders to us, settings for it alone, and when it came. All of that stands
 * in the journal, so that nobody has to guess later what was meant.
 */
import type { Agent } from '../contracts/agent.ts'
import type { Channel } from '../contracts/channel.ts'
import type { Models } from '../contracts/model.ts'
import { defaultProfile, type Profile } from '../contracts/profile.ts'
import type { Origin } from '../contracts/reply.ts'
import type { SessionCommand, SessionEvent } from '../contracts/session.ts'
import { resolveDelivery } from '../rules/delivery.ts'
import { abortWord, type Directive, parseDirectives } from '../rules/directives.ts'
import { chooseModel } from '../rules/model-choice.ts'
import { type Channels, channelNamed } from './channel-table.ts'

type Message = Extract<SessionCommand, { type: 'message' }>

export type Intake = { agent: Agent; models: Pick<Models, 'defaultRef' | 'list'>; channels: Channels; now: number }

/** The agent as it is configured now: a later change does not change what was accepted. */
export const profileOf = ({ agent, models }: Pick<Intake, 'agent' | 'models'>): Profile => ({
  ...defaultProfile,
  ...agent.profile,
  agent: agent.name,
  model: agent.model ?? models.defaultRef,
})

/** A command as the machine of a session takes it. @param command of a message, with an id */
export const filled = (command: SessionCommand, intake: Intake): SessionEvent => {
  const { now: at } = intake
  switch (command.type) {
    case 'message':
      return filledMessage(command, intake)
    case 'compact':
      return { ...command, at, profile: profileOf(intake) }
    case 'reset':
    case 'configure':
    case 'note':
      return { ...command, at }
    default:
      return command
  }
}

const filledMessage = ({ model, queueMode, thinking, timeoutMs = 0, id = '', ...message }: Message, intake: Intake): SessionEvent => {
  const wishes = {
    ...(model === undefined ? {} : { model }),
    ...(queueMode === undefined ? {} : { queueMode }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutMs > 0 ? { runTimeoutMs: timeoutMs } : {}),
  }
  const { text, directives } = ordersIn(message, intake)
  const channel = message.origin && channelNamed(intake.channels, message.origin.channel)
  return {
    ...message,
    id,
    text,
    at: intake.now,
    profile: { ...(channel && peopleProfile(channel)), ...profileOf(intake) },
    ...groupHintOf(channel, message.origin),
    ...(channel && {
      delivery: resolveDelivery(channel, {
        ...(message.origin && { origin: message.origin }),
        ...(intake.agent.delivery && { agent: intake.agent.delivery }),
      }),
    }),
    ...(Object.keys(wishes).length === 0 ? {} : { wishes }),
    ...(directives.length === 0 ? {} : { directives }),
  }
}

const groupHintOf = (channel: Channel | undefined, origin: Origin | undefined): { groupHint?: string } => {
  const groupHint = origin?.chatType === 'group' ? channel?.groupHint?.(origin) : undefined
  return groupHint === undefined ? {} : { groupHint }
}

/** People write many short messages, and expect that a conversation is over after a night. What services send is never dropped, nor forgotten by itself. */
const peopleProfile = ({ queueDebounceMs }: Channel): Partial<Profile> => ({
  queueCap: 20,
  queueDrop: 'summarize',
  freshness: {},
  ...(queueDebounceMs === undefined ? {} : { debounceMs: queueDebounceMs }),
})

/** Only people give orders, and people write on a channel: what a service sends is for the model, whatever it looks like. */
const ordersIn = ({ text, origin }: Pick<Message, 'text' | 'origin'>, intake: Intake): { text: string; directives: Directive[] } => {
  if (origin === undefined) return { text, directives: [] }
  if (origin.authorised === false) return { text, directives: [] }
  if (abortWord(text)) return { text: '', directives: [{ name: 'stop' }] }
  const parsed = parseDirectives(text)
  return {
    text: parsed.text,
    directives: parsed.directives.map((directive) => (directive.name === 'model' ? modelOf(directive, intake) : directive)),
  }
}

/** Which model is meant is decided now, by the models that there are now. */
const modelOf = (directive: Extract<Directive, { name: 'model' }>, { agent, models }: Intake): Directive => {
  if (directive.value === undefined) return directive
  const usual = agent.model ?? models.defaultRef
  const known = [...new Set([usual, ...(agent.profile.fallbacks ?? []), ...models.list().flatMap(({ ref, available }) => (available ? [ref] : []))])]
  const choice = chooseModel(directive.value, { known: known.map((ref) => ({ ref })), default: usual })
  if ('ref' in choice) return { name: 'model', value: choice.ref }
  const near = choice.near.length === 0 ? '' : `; did you mean ${choice.near.join(', ')}?`
  const why = choice.refused === 'not_allowed' ? 'may not be chosen' : 'is not known'
  return { name: 'model', invalid: `'${directive.value.slice(0, 80)}' ${why}${near}` }
}
