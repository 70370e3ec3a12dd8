/** Which messages of an answer point at the message they answer (OC-76). */
import { definedOf } from '../../contracts/defined.ts'
import type { Payload, ReplyToMode } from '../../contracts/reply.ts'

/**
 * @property messageId the message that is being answered
 * @property tagsWhenOff the channel takes a target that the model asked for, though threading is off
 * @property pointed a message that points at one was there already
 */
export type Threading = { mode: ReplyToMode; messageId?: string; tagsWhenOff: boolean; pointed: boolean }

/** At the beginning of an answer. @param mode what the channel says; one without a rule points every message */
export const newThreading = ({ mode = 'all', messageId, tagsWhenOff = false }: Partial<Omit<Threading, 'pointed'>> = {}): Threading => ({
  mode,
  ...definedOf({ messageId }),
  tagsWhenOff,
  pointed: false,
})

/** Gives the next message of an answer its target, or takes it away. */
export const thread = (state: Threading, payload: Payload): { state: Threading; payload: Payload } => {
  const { replyTo: asked, replyTagged, ...rest } = payload
  const target = asked ?? (state.mode === 'off' ? undefined : state.messageId)
  const allowed = { off: state.tagsWhenOff && replyTagged === true, first: !state.pointed, all: true }[state.mode]
  if (target === undefined || !allowed) return { state, payload: rest }
  return { state: { ...state, pointed: true }, payload: { ...rest, replyTo: target, ...definedOf({ replyTagged }) } }
}

/** The same for several messages in their order. */
export const threadAll = (state: Threading, payloads: Payload[]): { state: Threading; payloads: Payload[] } => {
  let current = state
  const threaded = payloads.map((payload) => {
    const step = thread(current, payload)
    current = step.state
    return step.payload
  })
  return { state: current, payloads: threaded }
}
