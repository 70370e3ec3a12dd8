/**
 * What a message says besides its words, read before its session takes it in: orders to us, settings for it alone, and when it came. All of that stands
 * in the journal, so that nobody has to guess later what was meant.
 */
import { plainCopy, vouchFor } from '../../actors/index.ts'
import type { Agent } from '../../contracts/agent.ts'
import type { Channel } from '../../contracts/channel.ts'
import type { Logger } from '../../contracts/environment.ts'
import { parseInput } from '../../contracts/parse.ts'
import { defaultProfile, Profile } from '../../contracts/profile.ts'
import { type Origin, ReplyToMode } from '../../contracts/reply.ts'
import type { SessionCommand, SessionEvent } from '../../contracts/session.ts'
import { askChannel, type Channels, channelNamed } from '../channels/channel-table.ts'
import { resolveDelivery } from '../delivery/settings.rules.ts'
import type { Annotations } from '../desk/annotations.rules.ts'
import { type SendRule, sendAllowed } from './dedupe.rules.ts'
import { type OrderIntake, type Orders, ordersIn } from './resolve-directives.ts'

type Message = Extract<SessionCommand, { type: 'message' }>

type Intake = OrderIntake & {
  channels: Channels
  sendRules: readonly SendRule[]
  environment: { log: Logger }
  /** Key of the session. */
  key: string
  now: number
}

/** The agent as it is configured now: a later change does not change what was accepted. @throws RuntimeError bad_request where it is no agent of `agent()` */
const profileOf = ({ agent, models }: Pick<Intake, 'agent' | 'models'>): Profile => {
  const model = agent.model ?? models.defaultRef
  const before = profiles.get(agent)
  if (before?.model === model) return before
  const profile = parseInput(Profile, {
    ...defaultProfile,
    ...agent.profile,
    agent: agent.name,
    model,
    // A model that nobody has named does not answer for one that somebody has.
    ...(agent.model === undefined && agent.profile.fallbacks === undefined ? { fallbacks: [] } : {}),
  })
  profiles.set(agent, profile)
  return profile
}
/** An agent does not change: its profile is made and parsed once, not with every message. */
const profiles = new WeakMap<Agent, Profile>()

/** A command as the machine of a session takes it. @param command of a message, with an id */
export const filled = (command: SessionCommand, intake: Intake): SessionEvent | Promise<SessionEvent> => {
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

const filledMessage = (
  { model, queueMode, thinking, timeoutMs = 0, streaming, heartbeat, origin, id = '', ...message }: Message,
  intake: Intake,
): SessionEvent | Promise<SessionEvent> => {
  const overrides = {
    ...(model === undefined ? {} : { model }),
    ...(queueMode === undefined ? {} : { queueMode }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutMs > 0 ? { runTimeoutMs: timeoutMs } : {}),
  }
  const channel = origin && channelNamed(intake.channels, origin.channel)
  const denied = isDenied(intake, origin)
  const complete = ({ text, ...orders }: Orders): SessionEvent => {
    const profile = { ...(channel && peopleProfile(channel)), ...profileOf(intake), ...(heartbeat ? { heartbeat } : {}) }
    const annotations: Annotations = {
      ...(origin && { origin }),
      ...orders,
      ...(channel && origin ? saidBy(channel, origin, message.text, intake.environment.log) : {}),
      ...(channel && {
        delivery: resolveDelivery(asked(channel, intake.environment.log), {
          ...(origin && { origin }),
          ...(intake.agent.delivery && { agent: intake.agent.delivery }),
          ...(streaming === undefined ? {} : { call: { streaming } }),
        }),
      }),
      ...(denied ? { denied: true as const } : {}),
      ...(channel?.inboundDebounceMs && channel.inboundDebounceMs > 0 ? { gatherMs: channel.inboundDebounceMs } : {}),
    }
    return {
      ...message,
      text,
      id,
      at: intake.now,
      profile,
      ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
      // What has nothing for the desk passes it by.
      ...(origin || denied || profile.freshness ? { annotations } : {}),
    }
  }
  // What a channel says of a message is nobody's own.
  if (origin === undefined) return vouchFor(complete({ text: message.text }))
  const orders = ordersIn({ text: message.text, origin }, intake)
  return orders instanceof Promise ? orders.then(complete) : complete(orders)
}

const groupHintMax = 2000
const threadCharsMax = 4000
const isText = (answer: unknown): answer is string => typeof answer === 'string'
const isFlag = (answer: unknown): answer is boolean => typeof answer === 'boolean'
const isThread = (answer: unknown): answer is Record<string, unknown> =>
  typeof answer === 'object' && answer !== null && !Array.isArray(answer) && JSON.stringify(answer).length <= threadCharsMax
const isMode = (answer: unknown): answer is ReplyToMode => ReplyToMode.safeParse(answer).success

/** What the channel knows about a message: asked once, and in the journal with it. */
const saidBy = (channel: Channel, origin: Origin, text: string, log: Logger): Pick<Annotations, 'origin' | 'groupHint' | 'thread'> => {
  const group = origin.chatType === 'group'
  const groupHint = group ? askChannel(channel, 'groupHint', () => channel.groupHint?.(origin), isText, log) : undefined
  const mentioned = group ? askChannel(channel, 'mentioned', () => channel.mentioned?.(origin, text), isFlag, log) : undefined
  const thread = askChannel(channel, 'threadContext', () => channel.threadContext?.(origin), isThread, log)
  return {
    ...(mentioned === undefined ? {} : { origin: { ...origin, mentioned } }),
    ...(groupHint === undefined ? {} : { groupHint: groupHint.slice(0, groupHintMax).toWellFormed() }),
    ...(thread === undefined ? {} : { thread: plainCopy(JSON.parse(JSON.stringify(thread)) as Record<string, unknown>) }),
  }
}

/** The same channel, whose answers can be used. */
const asked = (channel: Channel, log: Logger): Channel => {
  if (channel.replyTo === undefined) return channel
  const replyTo = (origin: Origin): ReplyToMode => askChannel(channel, 'replyTo', () => channel.replyTo?.(origin), isMode, log) ?? 'all'
  return Object.create(channel, { replyTo: { value: replyTo } }) as Channel
}

/** People write many short messages, and expect that a conversation is over after a night. What services send is never dropped, nor forgotten by itself. */
const peopleProfile = ({ queueDebounceMs }: Channel): Partial<Profile> => ({
  queueCap: 20,
  queueDrop: 'summarize',
  freshness: {},
  ...(queueDebounceMs === undefined ? {} : { debounceMs: queueDebounceMs }),
})

/** Whether the operator wants no answers to go there; a session may have a wish of its own. */
const isDenied = ({ sendRules, key }: Intake, origin: Origin | undefined): boolean =>
  sendRules.length > 0 && !sendAllowed({ rules: sendRules, key, channel: origin?.channel, chatType: origin?.chatType })
