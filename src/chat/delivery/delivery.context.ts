/** What a delivery knows and what it tells its effect, as pure functions; the chart in delivery.machine.ts says when they are used. */

import type { Delivery, SendKind } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { PublisherEvent, PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import type { References } from '../../contracts/references.ts'
import type { Payload, Route } from '../../contracts/reply.ts'
import type { LoopOutput } from '../../contracts/turn.ts'
import { questionText } from '../directives/approve.rules.ts'
import { prefixFor, published } from './render.rules.ts'
import { routed } from './route.rules.ts'
import { toolEndText, toolStartText } from './tool-message.rules.ts'

/** All that there is to say: of `payloads`, the whole answer, goes what was not streamed. */
export type Finish = { type: 'delivery.finish'; leading: Payload[]; payloads: Payload[]; trailing: Payload[] }

/** A message that has arrived, by its name within the turn. */
export type Delivered = { key: string; kind: SendKind }

/** Why something was not sent: nothing in it, the token for it, no need for it, streaming given up, or nowhere to send it. */
export type SkipReason = 'empty' | 'silent' | 'heartbeat' | 'duplicate' | 'dropped' | 'no_channel'
type SkipCounts = Partial<Record<SkipReason, number>>
type SendCounts = Record<SendKind, number>

/** What the effect reports. */
export type DeliverReport =
  | ({ type: 'block.sent' } & Delivered)
  /** It will not be sent. After a block that took too long none is sent any more, for their order's sake. */
  | ({ type: 'block.failed'; timedOut: boolean } & Delivered)
  /** There is nothing left to do. @property aborted streaming was given up */
  | ({ type: 'delivery.finished' } & Counted)

/** What the effect is told: what to say, and what had arrived already, for one that had to begin anew. */
export type DeliverOrder =
  /** A model call begins. `prefix` stands before each message. */
  | { type: 'delivery.start'; attempt: number; prefix?: string }
  | { type: 'delivery.end'; text?: string; references?: References }
  /** What was said goes first, then what is to be told about the tool. @property question people are to decide about it */
  | { type: 'delivery.tool'; callId: string; payload?: Payload; question?: true }
  | Finish
  /** Nothing more is sent. */
  | { type: 'delivery.abort' }
  | ({ type: 'known' } & Delivered)
  | { type: 'broken' }

/**
 * @property route without one there is nobody to send it to but those who listen to the session, and nothing has to be delivered
 * @property aside what is said beside the turns, such as `notice`
 */
export type SayingInput = { session: string; runId: string; aside?: string; route?: Route; delivery?: Delivery; messageId?: string }
export type DeliverInput = SayingInput & { route: Route; delivery: Delivery }

/**
 * What was delivered.
 * @property failed sends that came to nothing; of a block, the whole answer may still have arrived @property lost messages that did not arrive at all
 * @property aborted streaming was given up, or the turn was stopped
 */
export type Counted = { counts: SendCounts; failed: number; lost: number; aborted: boolean; skipped: SkipCounts }

/**
 * @property live there is an effect that delivers @property turn whose answer it is, if it is one
 * @property verbose how much is told about tools, as the session has it now
 */
export type DeliveryContext = SayingInput &
  Counted & { live: boolean; turn: PublisherInput | null; verbose: NonNullable<PublisherInput['profile']['verbose']>; output: PublisherOutput }

const nothingYet = {
  live: false,
  counts: { tool: 0, block: 0, final: 0 },
  failed: 0,
  lost: 0,
  aborted: false,
  skipped: {},
  output: {},
}

export const begin = (input: SayingInput | PublisherInput): DeliveryContext => {
  if (!('facts' in input)) return { ...nothingYet, ...input, turn: null, verbose: 'off' }
  const { session, runId, profile, facts } = input
  const where = facts.origin && facts.delivery ? { delivery: facts.delivery, ...routed(facts.origin) } : {}
  return { ...nothingYet, session, runId, ...where, turn: input, verbose: profile.verbose ?? 'off' }
}

export const effectInput = ({ session, runId, aside, route, delivery = {}, messageId }: DeliveryContext): DeliverInput | undefined =>
  route && {
    session,
    runId,
    route,
    delivery,
    ...definedOf({ aside, messageId }),
  }

/** What the effect has to do about something that its turn does; nothing about a tool of which nobody wants to know how it ended. */
export const orderFor = ({ turn, verbose }: DeliveryContext, event: PublisherEvent): DeliverOrder | undefined => {
  switch (event.type) {
    case 'model.started': {
      const prefix = turn ? prefixFor(turn.profile, event.model) : undefined
      return { type: 'delivery.start', attempt: event.attempt, ...definedOf({ prefix }) }
    }
    case 'model.ended':
      return { type: 'delivery.end', text: event.text, ...definedOf({ references: event.references }) }
    case 'tool.started': {
      const text = toolStartText(verbose, event.name, event.input)
      return { type: 'delivery.tool', callId: event.callId, ...definedOf({ payload: text === undefined ? undefined : { text } }) }
    }
    case 'tool.waiting':
      return { type: 'delivery.tool', callId: event.approval.callId, payload: { text: questionText(event.approval) }, question: true }
    case 'tool.ended': {
      const text = toolEndText(verbose, event.name, event.output)
      return text === undefined ? undefined : { type: 'delivery.tool', callId: event.callId, payload: { text } }
    }
    default:
      return undefined
  }
}

/** The answer as messages, and what became of it. */
export const finishing = ({ turn }: DeliveryContext, answer: LoopOutput): { order: Finish; output: PublisherOutput } => {
  const { leading, payloads, trailing, output } = turn ? published(turn, answer) : { leading: [], payloads: [], trailing: [], output: {} }
  return { order: { type: 'delivery.finish', leading, payloads, trailing }, output }
}

export const delivered = ({ counts, failed, lost, aborted, skipped, output }: DeliveryContext): Counted & PublisherOutput => ({
  counts,
  failed,
  lost,
  aborted,
  skipped,
  ...output,
  ...definedOf({ undelivered: lost || undefined }),
})
