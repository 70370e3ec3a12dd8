/** What a session takes, what its parts tell each other, and what it tells the world. */
import { z } from 'zod'
import { AnswerFormat, ToolChoice } from './answer-format.ts'
import { type BesideOutput, besideCommands } from './beside.ts'
import type { DeliveryOutput } from './channel.ts'
import { type ClientResult, ClientResults, ClientTools } from './client-tools.ts'
import type { ErrorBody } from './errors.ts'
import { FileRefs } from './file.ts'
import type { Usage, UsageKinds } from './message.ts'
import { type ModelSource, Profile } from './profile.ts'
import type { PromptReport } from './prompt.ts'
import { Origin } from './reply.ts'
import { QueueMode, ThinkingLevel, ToggleChanges, Toggles } from './settings.ts'
import { SkillFilter } from './skill.ts'
import { maxIdBytes } from './subjects.ts'
import { callIdMax, isWhole, messageText, noteMax, textMax, wholeOnly } from './text.ts'
import type { ToolOutcome } from './tool.ts'
import type { Approval, Attempt, TranscriptNote, TurnOutput } from './turn.ts'
import type { Unread } from './understanding.ts'

const messageIdMax = 200
const MessageId = z.string().min(1).max(messageIdMax).refine(isWhole, wholeOnly)

/** What anyone may send to a session. */
const SessionCommands = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message').describe('say something to the agent'),
    text: messageText(textMax).describe('what is said; empty only beside files or results'),
    files: FileRefs.optional().describe('sent with it: files that were uploaded before, which files.put answered'),
    clientTools: ClientTools.optional().describe('tools that the sender runs: a call of one ends the run with the call'),
    toolChoice: ToolChoice.optional(),
    format: AnswerFormat.optional(),
    toolResults: ClientResults.optional().describe('results of the calls with which the run before has ended'),
    id: MessageId.optional().describe(
      'idempotency key: a repeat within the last 1,000 inputs of the actor is ignored and returns the original result',
    ),
    queueMode: QueueMode.optional().describe('what becomes of it while a turn is running'),
    model: z.string().min(1).max(200).optional().describe('another model for this message'),
    thinking: ThinkingLevel.optional().describe('how hard the model is to think about this message'),
    timeoutMs: z.number().int().optional().describe('ms that its turn may work; 0 and less mean the default'),
    streaming: z
      .boolean()
      .optional()
      .describe('whether its answer is sent in blocks while it is written; default: as its agent and its channel want it'),
    skills: SkillFilter.optional().describe('only these skills for this message; none where it is empty'),
    parent: z
      .string()
      .min(1)
      .max(maxIdBytes)
      .optional()
      .describe('key of the session that this one is a thread of: its first message begins with what was said there'),
    heartbeat: z.literal(true).optional().describe('nobody has written it: the agent looks whether there is something to say'),
    origin: Origin.optional().describe('where it came from, and so where the answer goes; without it, to everybody who listens to the session'),
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
    remember: z.literal('session').optional().describe('with a yes: calls of this tool need no further one in this session, until it is reset'),
    by: z.string().max(200).optional().describe('who decided'),
    note: z.string().max(noteMax).optional().describe('why: kept in the journal, and told to the model with a refusal'),
  }),
  z.strictObject({ type: z.literal('reset').describe('forget the conversation and start anew'), reason: z.string().max(500).optional() }),
  z.strictObject({
    type: z.literal('compact').describe('replace old history by a summary now'),
    instructions: z.string().max(2000).optional().describe('what the summary is to keep'),
  }),
  z.strictObject({ type: z.literal('close').describe('end the conversation'), delete: z.literal(true).optional().describe('and remove it') }),
  z.strictObject({
    type: z.literal('configure').describe('change the settings that the session keeps for its users; null removes one'),
    toggles: ToggleChanges,
  }),
  z.strictObject({ type: z.literal('clear').describe('drop all messages that wait') }),
  z.strictObject({
    type: z.literal('note').describe('tell the model, before the next message, that something has happened'),
    text: messageText(noteMax).min(1),
  }),
  ...besideCommands,
])
export const SessionCommand = SessionCommands.superRefine((command, context) => {
  if (command.type === 'message' && command.text === '' && !command.files?.length && command.toolResults === undefined)
    context.addIssue({
      code: 'too_small',
      origin: 'string',
      minimum: 1,
      inclusive: true,
      path: ['text'],
      message: 'Too small: expected string to have >=1 characters',
    })
})
export type SessionCommand = z.infer<typeof SessionCommand>

/** What the runtime adds: ms since the epoch, and what the sender did not have to name. */
const at = { at: z.number().int().min(0) }
const [message, cancel, approve, reset, compact, close, configure, clear, note, inject, side] = SessionCommands.options
/** The same as the runtime hands it to the machine. @param annotations what a message carries for the desk of the session and the publisher of its turns */
export const sessionEventSchema = <Annotations extends z.ZodType<Record<string, unknown>>>(annotations: Annotations) =>
  z.discriminatedUnion('type', [
    message
      .omit({
        model: true,
        queueMode: true,
        thinking: true,
        timeoutMs: true,
        streaming: true,
        heartbeat: true,
        origin: true,
        clientTools: true,
        toolChoice: true,
        format: true,
        skills: true,
      })
      .extend({
        ...at,
        id: MessageId,
        profile: Profile,
        text: z.string().max(textMax).describe('what is said'),
        typed: z.string().max(textMax).optional().describe('the words as they were typed, where some of them were for the session'),
        overrides: Toggles.extend({ runTimeoutMs: z.number().int().min(1), clientTools: ClientTools, toolChoice: ToolChoice, format: AnswerFormat })
          .partial()
          .strict()
          .optional()
          .describe('settings for this message alone'),
        annotations: annotations.optional(),
      })
      .strict(),
    cancel,
    approve,
    reset.extend(at).strict(),
    compact.extend({ ...at, profile: Profile }).strict(),
    close,
    configure
      .extend({
        ...at,
        stale: z
          .strictObject({ model: z.string().max(200), credential: z.string().max(200).optional() })
          .optional()
          .describe('only where the session keeps just this'),
        notice: z.string().max(1000).optional().describe('what its users are told'),
      })
      .strict(),
    clear,
    note.extend(at).strict(),
    inject.extend(at).strict(),
    side.extend({ ...at, profile: Profile }).strict(),
  ])
/** The session and its turns pass annotations on and never read them. */
export const SessionEvent = sessionEventSchema(z.record(z.string(), z.unknown()))
export type SessionEvent = z.infer<typeof SessionEvent>

/** A message that waits for its turn. Its text stands in the journal and nowhere else. */
export type AcceptedMessage = {
  id: string
  profile: Profile
  annotations?: Record<string, unknown>
  /** Results of the calls that a client runs; there is no text where it gives nothing else. */
  toolResults?: ClientResult[]
  /** The id of the channel that it came from, for those who keep accounts. */
  channel?: string
  /** Only messages of one place become one prompt. */
  place?: string
  /** It is one with those before and behind it that have the same here. */
  gathered?: string
  /** The beginning of its text, where that is what is left of it if there are too many. */
  line?: string
  /** What there is to look up in it, and ms since the epoch when it came. */
  unread?: Unread
  at: number
  /** It said nothing but that the conversation is to begin anew. */
  greeting?: true
  /** What the model is told before the message, and at the end of that. */
  note?: string
  hint?: string
  /** Told before the instructions of the agent end where the conversation has not had it, or where it is `due`. `as` says which one it is. */
  intro?: { text: string; as: string; due?: true }
}

/** Runs whose price is known and those whose is not; USD. */
export type Costs = { costUsd: number; priced: number; unpriced: number }

/** What a session knows of itself beside its transcript. Times are ms since the epoch. */
export type SessionRecord = {
  /** Another one after each reset; empty before the first message. */
  sessionId: string
  startedAt: number
  updatedAt: number
  /** How often it began anew. */
  resets: number
  /** A turn has ended well since it began. */
  systemSent: boolean
  abortedLastRun: boolean
  /** What its users have chosen. Those that are none of a turn are words of its desk. */
  toggles: Toggles
  compactions: number
  /** Tools for which a person has agreed once and for all; `sessions.configure` with `allowedTools: null`, and a reset, take that back. */
  allowedTools?: string[]
  /** When durable notes were last taken, and at which count of compactions. */
  flushed?: { at: number; compactions: number }
  /** Of the newest turn: what stands in the context of the model, and how much there may be. */
  tokens?: { input: number; output: number; total: number; window?: number; model: string; provider: string; at?: number }
  /** What stood before the conversation when the model was asked last. */
  prompt?: PromptReport
  /** The credential of that provider that answered, since its cache may still be warm. */
  credential?: string
  /** All turns since it began; `costUsd` without those of which nobody knows the price. By day (UTC) for a month, resets or not. */
  spent: { turns: number; usage: Usage; days: Record<string, Costs> } & Costs
  /** What the model is to be told before the next message. */
  notes: { at: number; text: string }[]
}

/** What its desk knows beside that; as it is here where there is none. */
export type DeskRecord = {
  /** The next turn tells the model again how it is to behave in a group. */
  needsIntro: boolean
  /** Where the newest message came from: what is said without being asked goes there. */
  origin?: Origin
  /** Where the newest one came from that our own page did not bring. */
  outside?: Origin
  /** Messages of channels that came in lately, to know them again. */
  seen: { key: string; at: number }[]
}
export const emptyDeskRecord: DeskRecord = { needsIntro: false, seen: [] }

/** Why a message was taken in and nothing was done about it: it came before, a stranger sends directives, a group talks among itself. */
export type SkipReason = 'duplicate' | 'unauthorised' | 'unmentioned'

/** What a session emits; the same names are tails of its `out` subjects. */
export type SessionOutput =
  | { type: 'accepted'; id: string; status: 'started' | 'steered' | 'queued' | 'collected' | 'answered' | 'side'; runId: string }
  /** A message said stop: the runs that it ended, and those of messages that waited. */
  | { type: 'stopped'; runIds: string[] }
  | { type: 'refused'; code: ErrorBody['code']; message: string; hint?: string }
  | { type: 'started'; runId: string; ids: string[]; model: string; modelSource?: ModelSource; agent?: string; heartbeat?: true }
  /** Said by the session itself, beside the turns: a notice, or what somebody asked in passing. `id` of the message that asked. */
  | { type: 'notice'; id?: string; text: string }
  | { type: 'skipped'; id: string; reason: SkipReason }
  /** How many messages waited, how many had been dropped for them, and how many runs wait for room. */
  | { type: 'cleared'; followups: number; dropped: number; lane: number }
  /** Of the message of the transcript that will be called `answerId`. `count` where several came together: `index` is that of the first. */
  | { type: 'delta'; runId: string; answerId: string; attempt: number; index: number; kind: 'text' | 'reasoning'; text: string; count?: number }
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
  | { type: 'decided'; runId: string; callId: string; decision: 'approve' | 'deny'; remember?: 'session'; by?: string }
  /** What a run has used. `input` is what was read and is in no cache; `contextUsed` what the conversation takes up of `contextLimit`. */
  | {
      type: 'usage'
      runId: string
      session: string
      /** Which of the conversations under that key, where its message came from, and when the answer was there, in ms since the epoch. */
      sessionId?: string
      channel?: string
      at: number
      provider: string
      model: string
      usage: UsageKinds
      /** Where several models have answered: what each of them has used. */
      byModel?: Record<string, UsageKinds>
      contextLimit?: number
      contextUsed: number
      /** USD, where the price is known. */
      costUsd?: number
      durationMs?: number
      /** Calls that failed on the way. */
      attempts: number
    }
  /** Nothing was heard of the run for so long, in ms. Live, like what is said of waiting. */
  | { type: 'stuck'; runId: string; ageMs: number }
  /** So many runs are ahead of this one, which has waited for so long, in ms. */
  | { type: 'waiting'; runId: string; lane: string; waitedMs: number; ahead: number }
  | { type: 'retry'; runId: string; attempt: number; delayMs: number; error: ErrorBody }
  | { type: 'fallback'; runId: string; attempts: Attempt[]; model: string }
  | { type: 'compacting'; runId: string }
  /** What stands before the newest messages has changed in these parts, so the cache of the provider holds it no more: `tools`, `workspace`, `compaction` … */
  | { type: 'prefix'; runId: string; changed: string[] }
  /** `willRetry`: the model call that had to wait for it is made now. */
  | { type: 'compacted'; runId?: string; keep: number; willRetry?: true }
  /** Durable notes were taken, or could not be. */
  | { type: 'flushed'; runId: string; error?: ErrorBody }
  | ({ type: 'final' } & TurnOutput)
  | ({ type: 'error' } & TurnOutput)
  | ({ type: 'aborted' } & TurnOutput)
  | { type: 'reset'; reason: string }
  | DeliveryOutput
  | BesideOutput
  | TranscriptNote
