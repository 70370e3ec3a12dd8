/** What a message asks for, before it is decided what becomes of it: pure functions over the event and what the session keeps. */

import type { Delivery } from '../../contracts/channel.ts'
import { type Profile, queueMax } from '../../contracts/profile.ts'
import type { AcceptedMessage, SessionEvent, SessionOutput, SessionRecord } from '../../contracts/session.ts'
import type { Toggles } from '../../contracts/settings.ts'
import { debounceMsMax } from '../../contracts/settings.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import { summaryLine } from '../../machines/session/collect.rules.ts'
import { profileFor } from '../../machines/session/record.rules.ts'
import { outcomeOf, type SessionContext } from '../../machines/session/session.context.ts'
import { unasked } from '../../machines/turn/no-answer.rules.ts'
import type { SayingInput } from '../delivery/delivery.context.ts'
import { routed } from '../delivery/route.rules.ts'
import type { Directive, Unset } from '../directives/directives.rules.ts'
import { dedupeKey, remember } from './dedupe.rules.ts'
import { isStale as isOld } from './freshness.rules.ts'

export type Message = Extract<SessionEvent, { type: 'message' }>

export const directivesOf = ({ directives = [] }: Message): Directive[] => directives as unknown as Directive[]

/** The message begins with this order. */
export const saysFirst = (message: Message, name: Directive['name']): boolean => directivesOf(message)[0]?.name === name

/** The same message of a channel, which came before. */
export const isRepeated = ({ origin, at }: Message, { key, record }: SessionContext): boolean =>
  origin !== undefined && remember(record.seen, dedupeKey(origin, key), at).duplicate

/** The conversation is so old that this message begins another one. */
export const isStale = ({ at, origin, profile: { freshness } }: Message, { sessionId, updatedAt }: SessionRecord): boolean =>
  freshness !== undefined &&
  sessionId !== '' &&
  isOld({
    updatedAt,
    now: at,
    policy: freshness,
    ...(origin?.chatType && { chatType: origin.chatType }),
    ...(origin && { channel: origin.channel }),
  })

/** Nobody is to be answered there; what the session wants goes before what its operator says. */
export const isMuted = ({ denied }: Message, { toggles }: SessionRecord): boolean => (toggles.send ?? (denied ? 'off' : 'on')) === 'off'

/** In a group that is to name us if it wants something of us, it did not. Orders are for us, whoever else is there. */
export const isUnmentioned = (message: Message, { toggles }: SessionRecord): boolean =>
  message.origin?.chatType === 'group' && message.origin.mentioned === false && toggles.activation !== 'always' && directivesOf(message).length === 0

/** What directives ask for, as settings; one that is to be as usual is asked for by nobody. */
export const wishesOf = (directives: readonly Directive[]): Toggles => {
  const wishes: Toggles = {}
  for (const directive of directives) {
    if (!('value' in directive) || directive.value === undefined) continue
    switch (directive.name) {
      case 'think':
        Object.assign(wishes, { thinking: usual(directive.value) })
        break
      case 'verbose':
      case 'reasoning':
      case 'elevated':
        Object.assign(wishes, { [directive.name]: usual(directive.value) })
        break
      case 'model':
        Object.assign(wishes, { model: directive.value, credential: directive.credential })
        break
      case 'queue': {
        const { mode, debounceMs, cap, drop } = directive.value
        Object.assign(
          wishes,
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
  return wishes
}

/** It hides what stands below it. */
const usual = <Value>(value: Value | Unset): Value | undefined => (value === 'default' ? undefined : value)

/** The settings that hold for a message: what it asks for, else what its session keeps, else what its agent says. */
export const settingsOf = (message: Message, { toggles }: SessionRecord): Profile => {
  const directives = directivesOf(message)
  return profileFor(message.profile, toggles, message.wishes, directives.length === 0 ? undefined : wishesOf(directives))
}

/** The message as it waits for its turn, whatever is changed meanwhile. */
export const admitted = (message: Message, record: SessionRecord): AcceptedMessage => {
  const { id, text, at, origin, delivery, groupHint, thread } = message
  const profile = settingsOf(message, record)
  return {
    id,
    profile,
    at,
    ...(origin ? { origin } : {}),
    ...(delivery ? { delivery } : {}),
    ...(groupHint === undefined ? {} : { groupHint }),
    ...(thread === undefined ? {} : { thread }),
    ...(profile.queueDrop === 'summarize' ? { line: summaryLine(text) } : {}),
    ...(message.gatherMs === undefined ? {} : { gathered: true as const }),
    ...(text === '' ? { greeting: true as const } : {}),
  }
}

/** The outcome of a message that the session itself answers. */
export const answeredBy = ({ id, profile }: Pick<Message, 'id' | 'profile'>, { transcriptLength }: SessionContext, text: string): TurnOutput => ({
  ...unasked(id, [id], profile.model, transcriptLength),
  status: 'completed',
  outcome: text === '' ? 'silent' : 'replied',
  text,
  ...(text === '' ? {} : { reply: { text } }),
})

/** What is said of such a message. */
export const saidOf = (output: TurnOutput): SessionOutput[] => [
  { type: 'final', ...output },
  { type: 'transcript', ended: [outcomeOf(output)] },
]
export const acceptance = (id: string): SessionOutput => ({ type: 'accepted', id, status: 'answered', runId: id })

/** Something that the session itself has to say on a channel. */
export type Saying = { type: 'say'; input: SayingInput; text: string }
/** @param what of the several things that can be said about one message, since each has a name of its own */
export const sayings = (
  session: string,
  { id, origin, delivery }: Pick<Message, 'id' | 'origin' | 'delivery'>,
  what: 'answer' | 'notice' | 'report',
  text: string,
): Saying[] => {
  if (!origin || !delivery || text === '') return []
  return [{ type: 'say', input: { session, runId: `${id}:${what}`, aside: what, delivery: silent(delivery), ...routed(origin) }, text }]
}

/** It is said at once: nobody is seen to type for it. */
const silent = (delivery: Delivery): Delivery => ({ ...delivery, streaming: false, typing: { mode: 'never' } })
