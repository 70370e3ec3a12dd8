/** What a session and its desk say to each other: the desk stands in front of the turns and says what becomes of a message. */
import type { ErrorBody } from './errors.ts'
import type { Profile } from './profile.ts'
import type { AcceptedMessage, SessionEvent, SessionRecord, SkipReason } from './session.ts'
import type { ToggleChanges } from './settings.ts'
import type { Approval, SummaryOutput } from './turn.ts'

export type IncomingMessage = Extract<SessionEvent, { type: 'message' }>

export type DeskInput = { key: string }

/** What the desk is told of its session. */
export type SessionFacts = {
  key: string
  record: SessionRecord
  doing: 'idle' | 'waiting' | 'answering' | 'resetting' | 'compacting'
  /** A turn has begun and not ended. */
  running: boolean
  /** Messages that wait for a turn. */
  waiting: number
  /** Messages in the transcript. */
  messages: number
  /** Side questions that are being answered; left out where there are none. */
  asides?: number
  /** Tool calls that wait for a person, where some do. */
  approvals?: readonly Approval[]
}

/** A message that asked for a compaction, and is answered when that has ended. */
export type CompactionOrder = Pick<AcceptedMessage, 'id' | 'at' | 'profile' | 'annotations' | 'channel'> & { instructions?: string }

export type DeskRequest =
  /** It is answered with a {@link DeskAnswer}. */
  | { type: 'message'; message: IncomingMessage; session: SessionFacts }
  /** An admitted message did not become one of the conversation after all: there was no room. */
  | { type: 'refused'; annotations: IncomingMessage['annotations'] }
  /** An admitted message was taken in, with what its admission wanted to be reminded of then. `steered`: it joined the turn that is running. */
  | { type: 'accepted'; id: string; annotations: IncomingMessage['annotations']; remarks: Remarks; steered: boolean }
  /** A turn that was told the introduction has ended well. */
  | { type: 'introduced'; as: string }
  /** Neither a summary nor an error: it was stopped. The answer is `say`. */
  | { type: 'compaction.ended'; order: CompactionOrder; summary?: SummaryOutput; window?: number; error?: ErrorBody }
  /** A side question that the desk had passed on was answered, or was not: `text` is for people in either case. */
  | { type: 'side.answered'; id: string; annotations: IncomingMessage['annotations']; question: string; text: string }

/** A message as the desk lets it in. `text` is what is left for the model, `overrides` are settings for this message alone. */
export type Admission = Omit<IncomingMessage, 'type'> &
  Pick<AcceptedMessage, 'channel' | 'place' | 'note' | 'hint' | 'intro'> & {
    /** Messages of one sender that come within so many ms are one. */
    gather?: { ms: number; by: string }
    remarks?: Remarks
  }
/** What the desk wants to say of a message when it is taken in: always, and where it joins a turn that is running. */
export type Remarks = { always?: string; ifSteered?: string }

/** A message that has its answer. */
export type DeskReply = { id: string; at: number; profile: Profile; text: string }

export type DeskAnswer =
  | ({ type: 'admit' } & Admission)
  /** `changes` of settings are kept; `note` is for the model. `accepted`: the message was taken in before. */
  | ({ type: 'say'; changes?: ToggleChanges; note?: string; accepted?: true } & DeskReply)
  | ({ type: 'skip'; reason: SkipReason } & Pick<DeskReply, 'id' | 'profile'>)
  | { type: 'refuse'; id: string; code: ErrorBody['code']; message: string; hint: string }
  /** All that runs and waits is stopped. */
  | ({ type: 'stop' } & DeskReply)
  /** The conversation begins anew with this message; `changes` of settings are kept. */
  | ({ type: 'startOver'; changes?: ToggleChanges } & Admission)
  /** What runs is stopped, and then the conversation is compacted. */
  | ({ type: 'compact'; instructions?: string } & Omit<Admission, 'text'>)
  /** `text` is asked beside the conversation. */
  | ({ type: 'side' } & Admission)
  /** The conversation is too old: it begins anew, and then the desk is asked again. */
  | ({ type: 'stale' } & Omit<IncomingMessage, 'type'>)
