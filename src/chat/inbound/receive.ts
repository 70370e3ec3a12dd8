/**
 * What a message says besides its words, read before its session takes it in: orders to us, settings for it alone, and when it came. All of that stands
 * in the journal, so that nobody has to guess later what was meant.
 */

import { plainCopy, vouchFor } from '../../actors/index.ts'
import type { Channel, SendRule } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Logger } from '../../contracts/environment.ts'
import type { Profile } from '../../contracts/profile.ts'
import { type Origin, ReplyToMode } from '../../contracts/reply.ts'
import type { SessionEvent } from '../../contracts/session.ts'
import type { UnderstandingProfile } from '../../contracts/understanding.ts'
import { type MessageCommand, profileOf, type Receive, type Receiver, splitMessage, withSkills } from '../../runtime/index.ts'
import { askChannel, type Channels, channelNamed } from '../channels/channel-table.ts'
import type { PeopleAgent, PeopleAgents } from '../chat-agents.ts'
import { resolveDelivery } from '../delivery/settings.rules.ts'
import type { Annotations } from '../desk/annotations.rules.ts'
import { type Orders, ordersIn } from './resolve-directives.ts'
import { sendAllowed } from './send-policy.rules.ts'
import { timeStampFor } from './time-stamp.rules.ts'

type ReceiverParts = {
  channels: Channels
  sendRules: readonly SendRule[]
  /** As they are with people, by name. */
  agents: PeopleAgents
  environment: { log: Logger }
  /** Who looks at links and media. */
  understanding?: UnderstandingProfile | undefined
}
type Intake = ReceiverParts & Receiver & { agent: PeopleAgent }

/** Makes the event of a message, with what its sender ordered and what its channel knows of it. */
export const receiver =
  (parts: ReceiverParts): Receive =>
  (command, by) =>
    received(command, { ...parts, ...by, agent: parts.agents.get(by.agent.name) ?? by.agent })

const received = (command: MessageCommand, intake: Intake): SessionEvent | Promise<SessionEvent> => {
  const { id, message, origin, overrides, streaming, heartbeat, skills } = splitMessage(command)
  const channel = origin && channelNamed(intake.channels, origin.channel)
  const denied = isDenied(intake, origin)
  const profile = withSkills(
    {
      ...(channel && peopleProfile(channel)),
      ...profileOf(intake, origin),
      // Nobody has sent anything with a heartbeat.
      ...definedOf({ heartbeat, understanding: heartbeat ? undefined : intake.understanding }),
    },
    intake,
    channel?.skills,
    skills,
  )
  const complete = ({ text, ...orders }: Orders): SessionEvent => {
    const annotations: Annotations = {
      ...(origin && { origin }),
      ...orders,
      ...(channel && origin ? saidBy(channel, origin, message.text, intake.environment.log) : {}),
      ...(channel && {
        delivery: resolveDelivery(asked(channel, intake.environment.log), {
          typingMs: intake.config.value.typing.intervalMs,
          ...(origin && { origin }),
          ...(intake.agent.delivery && { agent: intake.agent.delivery }),
          ...definedOf({ call: streaming === undefined ? undefined : { streaming } }),
        }),
      }),
      ...definedOf({
        stamp: origin && stampOf(profile, text, intake.now),
        denied: denied ? (true as const) : undefined,
        gatherMs: channel?.inboundDebounceMs || undefined,
      }),
    }
    return {
      ...message,
      text,
      ...definedOf({ typed: text === '' || text === message.text ? undefined : message.text }),
      id,
      at: intake.now,
      profile,
      ...overrides,
      // A command has a turn of its own: whoever joins another one is not told what it asks for.
      ...(orders.skill && { overrides: { queueMode: 'followup', ...overrides.overrides } }),
      // What has nothing for the desk passes it by.
      ...definedOf({ annotations: origin || denied || profile.freshness ? annotations : undefined }),
    }
  }
  // What a channel says of a message is nobody's own.
  if (origin === undefined) return vouchFor(complete({ text: message.text }))
  const orders = ordersIn({ text: message.text, origin }, { ...intake, profile })
  return orders instanceof Promise ? orders.then(complete) : complete(orders)
}

/** Heartbeats are told the time in their own words, if at all. */
const stampOf = ({ timeStamp = true, heartbeat }: Profile, text: string, at: number): string | undefined => {
  if (timeStamp === false || heartbeat) return undefined
  return timeStampFor(text, at, timeStamp === true ? undefined : timeStamp.timeZone)
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
  return definedOf({
    origin: mentioned === undefined ? undefined : { ...origin, mentioned },
    groupHint: groupHint?.slice(0, groupHintMax).toWellFormed(),
    thread: thread && plainCopy(JSON.parse(JSON.stringify(thread)) as Record<string, unknown>),
  })
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
  ...definedOf({ debounceMs: queueDebounceMs }),
})

/** Whether the operator wants no answers to go there; a session may have a setting of its own. */
const isDenied = ({ sendRules, key }: Intake, origin: Origin | undefined): boolean =>
  sendRules.length > 0 && !sendAllowed({ rules: sendRules, key, channel: origin?.channel, chatType: origin?.chatType })
