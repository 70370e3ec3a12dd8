/** What a turn and its parts are given and what they answer: between their machines and their effects, and in the journal. */
import type { Delivery } from './channel.ts'
import type { PendingCall } from './client-tools.ts'
import type { ErrorBody } from './errors.ts'
import type { Message, Usage } from './message.ts'
import type { ModelResponse } from './model.ts'
import type { Placeholders } from './placeholders.ts'
import type { Profile } from './profile.ts'
import type { PromptHashes, PromptReport } from './prompt.ts'
import type { References } from './references.ts'
import type { Origin, Payload } from './reply.ts'
import type { SkillCommand } from './skill.ts'
import type { Unread } from './understanding.ts'

/** A tool call that waits for a person. `callId` is ours, unlike the model's it is never used twice. */
export type Approval = {
  callId: string
  runId: string
  name: string
  input: unknown
  inputHash: string
  /** The attempt that a yes would start: 1 before anything ran, more where a crash left a call in doubt. */
  attempt: number
  why: 'approval' | 'in_doubt'
  /** When the person was asked, in ms since the epoch; not in questions of earlier builds. */
  at?: number
  /** When it is decided without a person, in ms since the epoch; without it: never. */
  deadline?: number
  /** The outcome without an answer, unless it is a denial. */
  onTimeout?: 'allow'
}

export type TurnInput = {
  session: string
  runId: string
  profile: Profile
  prompt: Prompt
  facts: TurnFacts
  /** Messages in the transcript before this turn. */
  transcriptLength: number
  /** What there is to look up in its messages first. */
  unread?: Unread[]
}

/** What is known of a conversation before a turn of it. */
type ConversationFacts = {
  /** Tokens of the conversation so far, and how many the model can read, where known. */
  tokens?: number
  window?: number
  /** When the model answered last, in ms since the epoch, and with which credential of its provider. */
  lastCallAt?: number
  pinned?: string
  /** What tools are told of the conversation. */
  thread?: Record<string, unknown>
  /** What stood before the conversation when the model was asked last. */
  prefix?: PromptHashes
}

/** What a session tells its turn of itself. */
export type TurnFacts = ConversationFacts & {
  /** Where the first of its messages came from. */
  origin?: Origin
  /** How answers go there; without it there is nobody to send them to but those who listen to the session. */
  delivery?: Delivery
  /** The command with which a person called a tool, without the model. */
  command?: SkillCommand
  /** Told to the model before its instructions end, such as how to behave in a group. */
  intro?: string
  /** Which of the conversations under its key this is, and the same where it begins with this turn. */
  sessionId?: string
  newSessionId?: string
  /** Compactions before it. */
  compactions: number
  /** Tools for which a person of this session has agreed once and for all. */
  allowed?: string[]
  /** The count of compactions at which durable notes were taken last. */
  flushedAt?: number
  /** ms since the epoch when the first of its messages came. */
  at: number
}

/** Messages that a turn answers: one after the other, or collected to a single one. */
export type Prompt = {
  ids: string[]
  collected?: true
  /** Rapid messages of one sender, which are one. */
  joined?: true
  /** Messages for which there was no room, a line each as far as they were kept. */
  dropped?: { count: number; lines: string[] }
  /** What the model is told before the first of them. */
  before?: string
  /** What stands ahead of it: results of calls that a client has run, and errors for those without. `mute`: nothing else was said. */
  results?: Message[]
  mute?: true
  /** It gets a turn of its own as well. */
  again?: true
  /** Names of contents that say what its links and media hold: the model is told them behind it. */
  looked?: string[]
}

export type TurnStatus = 'completed' | 'failed' | 'cancelled'

/** What became of the messages that a turn answers. `reset`: the conversation could not go on and begins anew. */
export type TurnResult = 'replied' | 'silent' | 'reset' | 'failed' | 'aborted'

export type TurnOutput = {
  runId: string
  status: TurnStatus
  outcome: TurnResult
  /** Ids of all messages that this turn answered, steering included. */
  ids: string[]
  /** So many messages of the answer did not arrive: the channel did not take them, or not all parts of them. */
  undelivered?: number
  /** The newest answer of the model; with `partial`, as much of it as there was when somebody stopped it, or its provider cut it off. */
  text: string
  partial: boolean
  /** How the model says that `text` ended, when it is not `stop`: after `length` and `content-filter` the rest of it is missing. */
  finish?: Exclude<ModelResponse['finish'], 'stop'>
  /** Calls that the client has to run; their results resume the conversation. */
  pendingCalls?: PendingCall[]
  /** The message of the transcript that holds `text`; null when the model did not get to say anything. */
  answerId: string | null
  usage: Usage
  steps: number
  toolCalls: number
  model: string
  /** What users get, where that is not just `text`; a single payload stands by itself. */
  reply?: Payload | Payload[]
  /** What the directives of its texts refer to, where they may hold some. */
  references?: References
  /** Calls of models that failed before one answered. */
  attempts?: Attempt[]
  provider?: string
  /** Tokens of the conversation at the newest call, and how many the model can read, where known. */
  tokens?: number
  window?: number
  /** USD, where the price is known. */
  costUsd?: number
  durationMs?: number
  /** Whether its provider could have what stands before the newest messages in its cache: it was asked before, and not too long ago. */
  cache?: 'new' | 'warm' | 'expired'
  /** When the model answered last, in ms since the epoch, and with which credential. */
  endedAt?: number
  credential?: string
  compactions?: number
  /** What stood before the conversation, where that was not as before: for the record of the session. */
  prompt?: PromptReport
  /** Durable notes were taken before it. */
  flushed?: { usage: Usage; costUsd?: number }
  /** No turn: a side question was answered, of which the conversation has nothing. */
  side?: true
  error?: ErrorBody
  transcriptLength: number
}

/** What a session remembers of a turn that ended. */
export type TurnOutcome = Omit<TurnOutput, 'text' | 'transcriptLength' | 'prompt'>

/** A call of a model that failed, and what it was tried with. */
export type Attempt = { model: string; credential?: string; reason: string; error: ErrorBody }

export type LoopInput = ConversationFacts & {
  session: string
  /** Which of the conversations inside its actor this is, where that is no session. */
  conversation?: string
  runId: string
  profile: Profile
  /** Messages that it answers. */
  ids: string[]
  transcriptLength: number
  /** Added to the instructions of the agent. */
  intro?: string
  placeholders?: Placeholders
  /** As in {@link TurnFacts}. */
  command?: SkillCommand
  /** As in {@link ModelCallInput}; compactions are those before it. */
  minimal?: true
  compactions?: number
  /** Somebody wants to know when calls begin and end. */
  reports?: true
  /** Somebody runs calls of tools that are delegated. */
  delegates?: true
  /** Tools for which a person of this session has agreed once and for all. */
  allowed?: string[]
  /** Nobody hears of it. */
  unattended?: true
}

/** What came out of the calls of models and tools. */
export type LoopOutput = {
  status: TurnStatus
  /** Messages that it has answered, those taken in by steering included. */
  ids: string[]
  text: string
  /** What was said in each step, in order. */
  texts: string[]
  /** What the directives in those texts refer to, where they may hold some. */
  references?: References
  /** What was thought, where users are to see it. */
  reasoning: string
  /** The tool that failed last, unless another one has ended well since. */
  toolError: { name: string; code: ErrorBody['code'] } | null
  /** What calls of tools that succeeded carry for the publisher, the newest at the end. */
  annotations: Record<string, unknown>[]
  /** Its credential is not paid by the token. */
  flat: boolean
  partial: boolean
  finish: TurnOutput['finish'] | null
  pendingCalls?: PendingCall[]
  answerId: string | null
  usage: Usage
  /** The same by the model that was asked. */
  shares: Record<string, Usage>
  /** Null where no price is known. */
  costUsd: number | null
  /** ms from the first call of a model to its last answer. */
  durationMs: number | null
  /** ms since the epoch of its last answer, and the credential that was used for it. */
  endedAt: number | null
  cache?: TurnOutput['cache']
  prompt?: PromptReport
  credential: string | null
  steps: number
  toolCalls: number
  model: string
  attempts: Attempt[]
  compactions: number
  tokens: number
  window: number
  error: ErrorBody | null
  transcriptLength: number
}

export type SummaryInput = { session: string; conversation?: string; profile: Profile; upTo: number; id: string; instructions?: string }
/** `keep` is how many of the newest messages stay as they are. */
export type SummaryOutput = {
  kind: 'summary'
  id: string
  conversation?: string
  text: string
  keep: number
  /** Who wrote it: `provider/model`. */
  model?: string
  usage: Usage
  /** What it cost in USD, where the price is known, and when it was there, in ms since the epoch. */
  costUsd?: number
  endedAt?: number
  /** Tokens of the conversation before and after, as far as they can be estimated. */
  tokens?: { before: number; after: number }
}

/**
 * What becomes part of the transcript: a message of a user by its id, or what an effect answered by its id (both texts stand in the journal as
 * inputs), or a message that the machine itself made up. Two forms, since users choose their ids and could choose that of an answer.
 */
export type TranscriptItem = string | { content: string } | { prompt: Prompt } | Message

/** A fact about the conversation, noted in the journal beside its inputs. */
export type TranscriptNote = {
  type: 'transcript'
  /** Which conversation it is about, where its actor is no session and may hold several. */
  conversation?: string
  /** Nobody will read that one any more. */
  closed?: true
  add?: TranscriptItem[]
  /** All but the newest `keep` messages are replaced by this summary. */
  compact?: { keep: number; summary: string }
  clear?: true
  /** Messages whose texts will not become part of it: they were refused, or had their effect. */
  drop?: string[]
  /** How messages were answered; callers that ask after the session has forgotten it read it here. */
  ended?: TurnOutcome[]
}

/** A turn that wants room to run. */
export type LaneInput = { session: string; runId: string; lane: string }
