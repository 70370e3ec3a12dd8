/** What a message asks for, before it is decided what becomes of it: pure functions over the message and what the desk knows. */

import { definedOf } from '../../contracts/defined.ts'
import type { Admission, DeskReply, IncomingMessage as Message, SessionFacts } from '../../contracts/desk.ts'
import { queueMax } from '../../contracts/profile.ts'
import { webChannelId } from '../../contracts/reply.ts'
import type { AcceptedMessage, DeskRecord } from '../../contracts/session.ts'
import type { Toggles } from '../../contracts/settings.ts'
import { debounceMsMax } from '../../contracts/settings.ts'
import { sideTextMax } from '../../contracts/side-question.rules.ts'
import { readSkillName } from '../../contracts/skill.ts'
import { annotationsOf } from '../desk/annotations.rules.ts'
import type { Directive, Unset } from '../directives/directives.rules.ts'
import { dedupeKey, remember } from './dedupe.rules.ts'
import { isStale as isOld } from './freshness.rules.ts'
import { type Activation, groupIntro } from './group-intro.rules.ts'
import { messageIdHint } from './message-id-hint.rules.ts'

export const directivesOf = (message: Message): Directive[] => (annotationsOf(message).directives ?? []) as unknown as Directive[]

/** The message begins with this directive. */
export const saysFirst = (message: Message, name: Directive['name']): boolean => directivesOf(message)[0]?.name === name

/** What a message asks beside the conversation; undefined where it asks nothing, or more than is answered. */
export const asideIn = (message: Message): string | undefined => {
  const [first] = directivesOf(message)
  return first?.name === 'btw' && first.value !== undefined && first.value.length <= sideTextMax ? first.value : undefined
}

/** It came from somewhere where the stream of the session is not read. */
export const isOutside = (message: Pick<Message, 'annotations'>): boolean => (annotationsOf(message).origin?.channel ?? webChannelId) !== webChannelId

/** The same message of a channel, which came before. */
export const isRepeated = (message: Message, key: string, { seen }: DeskRecord): boolean => {
  const { origin } = annotationsOf(message)
  return origin !== undefined && remember(seen, dedupeKey(origin, key), message.at).duplicate
}

/** A message was taken in: it will be known again, and what is said without being asked goes to where it came from. */
export const taken = (message: Pick<Message, 'annotations' | 'at'>, key: string, record: DeskRecord): DeskRecord => {
  const { origin } = annotationsOf(message)
  if (!origin) return record
  const dedupe = dedupeKey(origin, key)
  const outside = origin.channel === webChannelId ? record.outside : origin
  return { ...record, origin, ...definedOf({ outside, seen: dedupe === undefined ? undefined : remember(record.seen, dedupe, message.at).seen }) }
}

/** It may come again: it was not taken in after all. */
export const forgotten = (message: Pick<Message, 'annotations'>, key: string, record: DeskRecord): DeskRecord => {
  const { origin } = annotationsOf(message)
  const dedupe = origin && dedupeKey(origin, key)
  return dedupe === undefined ? record : { ...record, seen: record.seen.filter((one) => one.key !== dedupe) }
}

/** The conversation is so old that this message begins another one; one that goes on at this moment is not. */
export const isStale = (message: Message, { doing, record: { sessionId, updatedAt } }: SessionFacts): boolean => {
  const { freshness } = message.profile
  if (freshness === undefined || sessionId === '' || doing !== 'idle') return false
  const { origin } = annotationsOf(message)
  return isOld({
    updatedAt,
    now: message.at,
    policy: freshness,
    ...(origin?.chatType && { chatType: origin.chatType }),
    ...(origin && { channel: origin.channel }),
  })
}

/** Nobody is to be answered there; what the session wants goes before what its operator says. */
export const isMuted = (message: Message, { record: { toggles } }: SessionFacts): boolean =>
  (toggles.send ?? (annotationsOf(message).denied ? 'off' : 'on')) === 'off'

/** A message of a group in which the agent has to be mentioned, and was not. Directives are for the agent in any group. */
export const isUnmentioned = (message: Message, { record: { toggles } }: SessionFacts): boolean => {
  const { origin } = annotationsOf(message)
  return origin?.chatType === 'group' && origin.mentioned === false && toggles.activation !== 'always' && directivesOf(message).length === 0
}

/** It says nothing to the model: it was all directives. */
export const isOrder = ({ text, files }: Pick<Message, 'text' | 'files'>): boolean => text === '' && !files

/** Why there can be no compaction now; '' where there can be one. */
export const cannotCompact = ({ doing, messages }: SessionFacts): string => {
  if (doing === 'resetting') return 'The conversation begins anew: there is nothing to compact.'
  if (doing === 'compacting') return 'The conversation is being compacted already.'
  return doing !== 'answering' && messages <= 1 ? 'There is no history to compact.' : ''
}

/** What directives ask for, as settings; one that is to be as usual is asked for by nobody. */
export const settingsIn = (directives: readonly Directive[]): Toggles => {
  const settings: Toggles = {}
  for (const directive of directives) {
    if (!('value' in directive) || directive.value === undefined) continue
    switch (directive.name) {
      case 'think':
        Object.assign(settings, { thinking: usual(directive.value) })
        break
      case 'verbose':
      case 'reasoning':
      case 'elevated':
        Object.assign(settings, { [directive.name]: usual(directive.value) })
        break
      case 'model':
        Object.assign(settings, { model: directive.value, credential: directive.credential })
        break
      case 'queue': {
        const { mode, debounceMs, cap, drop } = directive.value
        Object.assign(
          settings,
          mode && { queueMode: mode },
          debounceMs !== undefined && { debounceMs: Math.min(debounceMs, debounceMsMax) },
          cap && { queueCap: Math.min(cap, queueMax) },
          drop && { queueDrop: drop },
        )
        break
      }
      default:
    }
  }
  return settings
}

/** It hides what stands below it. */
const usual = <Value>(value: Value | Unset): Value | undefined => (value === 'default' ? undefined : value)

/** A message with the settings that are in it. */
export const withOverrides = (message: Message): Message => {
  const settings = settingsIn(directivesOf(message))
  return Object.keys(settings).length === 0 ? message : { ...message, overrides: { ...message.overrides, ...settings } }
}

const greetingNote = 'A new conversation has begun. Greet the user in one or two short sentences and ask what you can do.'

const skillNote = (skill: string): string =>
  `The user calls the skill '${skill}': read it with the tool ${readSkillName}, then do as it says with what follows the command.`

/** What the session gets of a message that it is to answer. Its turn hears of where it came from, and no more of what it carried. */
export const admission = (message: Message, { toggles }: SessionFacts['record'], introDue: boolean): Omit<Admission, 'remarks'> => {
  const { annotations: _, type: __, ...rest } = withOverrides(message)
  const { origin, delivery, thread, groupHint, gatherMs, skill, stamp } = annotationsOf(message)
  const command = skill?.tool === undefined ? undefined : skill
  const place = origin && placeOf(origin)
  return {
    ...rest,
    ...definedOf({
      annotations: origin || delivery || thread ? definedOf({ origin, delivery, thread, command }) : undefined,
    }),
    ...(origin && { channel: origin.channel }),
    ...definedOf({
      place,
      gather: gatherMs === undefined || skill ? undefined : { ms: gatherMs, by: JSON.stringify([place ?? null, origin?.sender ?? null]) },
      note: isOrder(message) ? greetingNote : skill && command === undefined ? skillNote(skill.skill) : undefined,
      hint: hintOf(origin, stamp),
      intro: origin?.chatType === 'group' ? introOf(origin, toggles.activation, groupHint, introDue) : undefined,
    }),
  }
}

type Origin = NonNullable<DeskRecord['origin']>

/** What stands right before the words of a person. */
const hintOf = (origin: Origin | undefined, stamp: string | undefined): string | undefined => {
  const id = origin?.messageId === undefined ? undefined : messageIdHint(origin.messageId)
  return id === undefined ? stamp : stamp === undefined ? id : `${id}\n${stamp}`
}

/** Answers to messages of one place go to one place. */
const placeOf = ({ channel, account, to, thread }: Origin): string => JSON.stringify([channel, account ?? null, to, thread ?? null])

/** In a group the model is told how to behave there. */
const introOf = ({ subject, members }: Origin, activation: Activation = 'mention', hint: string | undefined, due: boolean) => {
  const text = groupIntro({
    activation,
    ...definedOf({ subject, members, hint }),
  })
  return { text, as: activation, ...definedOf({ due: due ? (true as const) : undefined }) } satisfies AcceptedMessage['intro']
}

export const replyTo = ({ id, at, profile }: Pick<Message, 'id' | 'at' | 'profile'>, text: string): DeskReply => ({ id, at, profile, text })
