/** What a session takes, what its parts tell each other, and what it tells the world. */
import { z } from 'zod'
import type { ErrorBody } from './errors.ts'
import type { Message, Usage } from './message.ts'
import type { ModelResponse } from './model.ts'
import type { CrashPolicy, ToolCall, ToolOutcome } from './tool.ts'

/** What becomes of a message that arrives while a turn is running. */
export const QueueMode = z.enum(['steer', 'followup', 'collect', 'interrupt'])
export type QueueMode = z.infer<typeof QueueMode>

export const textMax = 200_000
export const messageIdMax = 200
/** Characters of the name of a tool call: it holds the key of its session and the id of its run. */
export const callIdMax = 4000
export const noteMax = 2000

const MessageId = z
  .string()
  .min(1)
  .max(messageIdMax)
  .refine((id) => id.isWellFormed(), 'must be well-formed Unicode')

/** How a turn may run, frozen when its message is accepted: the agent as it was configured then. */
export const Profile = z
  .strictObject({
    agent: z.string().describe('name of the agent that answers'),
    model: z.string().describe('reference of the model, provider/model-id'),
    queueMode: QueueMode,
    toolExecution: z.enum(['parallel', 'sequential']),
    inDoubt: z
      .enum(['ask', 'report'])
      .describe('whether a person decides about a tool call of which nobody knows if it ran, or the model is told so'),
    stepMax: z.number().int().min(1).describe('model calls in one turn'),
    tokenMax: z.number().int().min(1).describe('tokens in one turn, read and written'),
    toolCallMax: z.number().int().min(0).describe('tool calls in one turn'),
    wallTimeMs: z.number().int().min(1).describe('ms that one turn may take, waiting for people included'),
    modelAttemptMax: z.number().int().min(1).describe('attempts for one model call that fails in a way that may pass'),
  })
  .describe('settings of a turn')
export type Profile = z.infer<typeof Profile>

export const defaultProfile: Omit<Profile, 'agent' | 'model'> = {
  queueMode: 'steer',
  toolExecution: 'parallel',
  inDoubt: 'ask',
  stepMax: 50,
  tokenMax: 2_000_000,
  toolCallMax: 200,
  wallTimeMs: 86_400_000,
  modelAttemptMax: 4,
}

/** What anyone may send to a session. */
export const SessionCommand = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message').describe('say something to the agent'),
    text: z.string().min(1).max(textMax).describe('what is said'),
    id: MessageId.optional().describe(
      'idempotency key: one repeated within the last 1,000 inputs of its actor changes nothing and is answered as the first',
    ),
    queueMode: QueueMode.optional().describe('what becomes of it while a turn is running'),
    model: z.string().min(1).max(200).optional().describe('another model for this message'),
  }),
  z.strictObject({
    type: z.literal('cancel').describe('stop the running turn; what it said so far is kept'),
    runId: MessageId.optional().describe('this run only, also when it still waits for its turn; without it the running turn and all that waits'),
  }),
  z.strictObject({
    type: z.literal('approve').describe('decide about a tool call that waits for a person'),
    callId: z.string().min(1).max(callIdMax).describe('the call that waits'),
    decision: z.enum(['approve', 'deny']),
    inputHash: z.string().length(64).describe('SHA-256 of the arguments that were shown: a decision is about them and no others'),
    attempt: z.number().int().min(1).default(1).describe('the attempt that was asked about: consent to the first is none to a repetition'),
    by: z.string().max(200).optional().describe('who decided'),
    note: z.string().max(noteMax).optional().describe('why: kept in the journal, and told to the model with a refusal'),
  }),
  z.strictObject({ type: z.literal('reset').describe('forget the conversation and start anew'), reason: z.string().max(500).optional() }),
  z.strictObject({ type: z.literal('compact').describe('replace old history by a summary now') }),
  z.strictObject({ type: z.literal('close').describe('end the conversation for good') }),
])
export type SessionCommand = z.infer<typeof SessionCommand>

const filled = { profile: Profile, id: MessageId }
/** The same as the runtime hands it to the machine: with the id and the settings that the sender did not have to name. */
export const SessionEvent = z.discriminatedUnion('type', [
  SessionCommand.options[0].omit({ model: true, queueMode: true }).extend(filled).strict(),
  SessionCommand.options[1],
  SessionCommand.options[2],
  SessionCommand.options[3],
  SessionCommand.options[4].extend({ profile: Profile }).strict(),
  SessionCommand.options[5],
])
export type SessionEvent = z.infer<typeof SessionEvent>
/** A message that waits for its turn. Its text stands in the journal and nowhere else. */
export type AcceptedMessage = { id: string; profile: Profile }

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
}

export type TurnInput = {
  session: string
  runId: string
  profile: Profile
  /** Messages that this turn answers. */
  prompt: { id: string }[]
  /** Messages in the transcript before this turn. */
  transcriptLength: number
}

export type TurnStatus = 'completed' | 'failed' | 'cancelled'

export type TurnOutput = {
  runId: string
  status: TurnStatus
  /** Ids of all messages that this turn answered, steering included. */
  ids: string[]
  /** The newest answer of the model; with `partial`, as much of it as there was when somebody stopped it, or its provider cut it off. */
  text: string
  partial: boolean
  /** How the model says that `text` ended, when it is not `stop`: after `length` and `content-filter` the rest of it is missing. */
  finish?: Exclude<ModelResponse['finish'], 'stop'>
  /** The message of the transcript that holds `text`; null when the model did not get to say anything. */
  answerId: string | null
  usage: Usage
  steps: number
  toolCalls: number
  model: string
  error?: ErrorBody
  transcriptLength: number
}

/** What a session remembers of a turn that ended. */
export type TurnOutcome = Omit<TurnOutput, 'text' | 'transcriptLength'>

/** What the model effect is asked for, and what it answers. The answer stands in the journal and is the transcript's text. */
export type ModelCallInput = { session: string; runId: string; profile: Profile; upTo: number; call: number }
export type ModelCallOutput = {
  kind: 'model'
  id: string
  text: string
  reasoning: string
  calls: ToolCall[]
  usage: Usage
  model: string
  partial: boolean
  /** Journals written before this field have none. */
  finish?: ModelResponse['finish']
}

export type ToolInput = { session: string; runId: string; agent: string; call: ToolCall; inDoubt: Profile['inDoubt'] }
export type ToolCallInput = { session: string; runId: string; agent: string; call: ToolCall; attempt: number; onCrash: CrashPolicy }
export type ToolCallOutput = { kind: 'tool'; id: string; callId: string; name: string; output: unknown }

export type SummaryInput = { session: string; profile: Profile; upTo: number; id: string }
/** `keep` is how many of the newest messages stay as they are. */
export type SummaryOutput = { kind: 'summary'; id: string; text: string; keep: number; usage: Usage }

/**
 * What becomes part of the transcript: a message of a user by its id, or what an effect answered by its id (both texts stand in the journal as
 * inputs), or a message that the machine itself made up. Two forms, since users choose their ids and could choose that of an answer.
 */
export type TranscriptItem = string | { content: string } | Message

/** A fact about the conversation, noted in the journal beside its inputs. */
export type TranscriptNote = {
  type: 'transcript'
  add?: TranscriptItem[]
  /** All but the newest `keep` messages are replaced by this summary. */
  compact?: { keep: number; summary: string }
  clear?: true
  /** Messages that were refused: their texts will never be part of it. */
  drop?: string[]
  /** How messages were answered; whoever asks after a session has forgotten it reads it here. */
  ended?: TurnOutcome[]
}

/** What a session emits; the same names are tails of its `out` subjects. */
export type SessionOutput =
  | { type: 'accepted'; id: string; status: 'started' | 'steered' | 'queued' | 'collected'; runId: string }
  | { type: 'refused'; code: ErrorBody['code']; message: string; hint?: string }
  | { type: 'started'; runId: string; ids: string[]; model: string }
  /** `count` where several came together: `index` is that of the first. */
  | { type: 'delta'; runId: string; attempt: number; index: number; kind: 'text' | 'reasoning'; text: string; count?: number }
  | {
      type: 'tool'
      runId: string
      callId: string
      name: string
      phase: 'requested' | 'progress' | ToolOutcome['status']
      input?: unknown
      output?: unknown
      message?: string
    }
  | ({ type: 'approval' } & Approval)
  | { type: 'decided'; runId: string; callId: string; decision: 'approve' | 'deny'; by?: string }
  | { type: 'retry'; runId: string; attempt: number; delayMs: number; error: ErrorBody }
  | { type: 'compacted'; runId?: string; keep: number }
  | ({ type: 'final' } & TurnOutput)
  | ({ type: 'error' } & TurnOutput)
  | ({ type: 'aborted' } & TurnOutput)
  | { type: 'reset'; reason: string }
  | TranscriptNote
