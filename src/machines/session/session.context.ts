/** What a session knows, and the pure functions over it; the chart in session.machine.ts says when they are used. */

import { definedOf } from '../../contracts/defined.ts'
import type { Admission, CompactionOrder, SessionFacts } from '../../contracts/desk.ts'
import type { ErrorCode } from '../../contracts/errors.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { AcceptedMessage, SessionEvent, SessionOutput, SessionRecord } from '../../contracts/session.ts'
import type { Toggles } from '../../contracts/settings.ts'
import type { Approval, Prompt, SummaryInput, SummaryOutput, TurnFacts, TurnInput, TurnOutput } from '../../contracts/turn.ts'
import { usageEvents } from '../loop/cost.rules.ts'
import { type Pending, resumed, withClientTools } from './pending-calls.rules.ts'
import { withNotes } from './prompt-notes.rules.ts'
import { admitted, emptyQueue, type Queue, taken, unanswered } from './queue.rules.ts'
import { accounted, allowedToo, emptyRecord, touched } from './record.rules.ts'

/** Decisions that a session remembers, to say of a repeated one that it is. */
const rememberedMax = 50

/** A side question. @property annotations of a message that the desk has passed on: it says the answer where that came from @property ending it was told to stop */
export type Aside = { id: string; model: string; annotations?: Admission['annotations']; channel?: string; ending?: true }

export type SessionContext = Queue & {
  key: string
  record: SessionRecord
  transcriptLength: number
  /** `introduces`: its introduction, where the desk is to hear that the model has had it. */
  run: (Pick<TurnInput, 'runId' | 'profile' | 'prompt' | 'facts' | 'unread'> & { ids: string[]; introduces?: string }) | null
  /** Turns so far: part of nothing but names. */
  turns: number
  approvals: Approval[]
  decided: string[]
  /** Why the running turn is stopped for a reset, as whoever asked for it said. */
  resetReason: string | null
  /** The message that asks for a compaction, and is answered when that has ended. */
  order: CompactionOrder | null
  /** Calls of the newest run that its client has to run, and the tools that it has. */
  pending?: Pending | undefined
  /** Keys of messages of the assistant that were put in and wait, oldest first. */
  injected?: string[] | undefined
  /** Side questions that are being answered. */
  asides?: Aside[] | undefined
  /** A desk is there, and looks at each message from now on. */
  desk: boolean
}

/** What a session ends with: whether it was closed to be deleted. Else nothing, as before this was asked. */
export type SessionEnd = { delete: true } | undefined
export const endOf = (event: { type: string; delete?: true | undefined }): SessionEnd => (event.delete ? { delete: true } : undefined)
export const isDeleted = (end: unknown): boolean => (end as SessionEnd)?.delete === true

export const begin = ({ input }: { input: { key: string } }): SessionContext => ({
  ...emptyQueue,
  key: input.key,
  record: emptyRecord,
  transcriptLength: 0,
  run: null,
  turns: 0,
  approvals: [],
  decided: [],
  resetReason: null,
  order: null,
  desk: false,
})

/** It is the next one, without waiting for more: at once, or when the turn that is running has ended. */
export const withNext = ({ key, record, queue }: SessionContext, message: Admission): Pick<SessionContext, 'queue' | 'settled' | 'record'> => ({
  queue: [...queue, admitted(message, record)],
  settled: true,
  record: touched(record, key, message),
})

/** What the desk is told with each message. */
export const factsFor = (
  { key, record, run, queue, transcriptLength, asides, approvals }: SessionContext,
  doing: SessionFacts['doing'],
): SessionFacts => ({
  key,
  record,
  doing,
  running: run !== null,
  waiting: queue.length,
  messages: transcriptLength,
  ...definedOf({ asides: asides?.length }),
  ...(approvals.length > 0 && { approvals }),
})

export const summaryInput = (
  { key, transcriptLength, turns, order, record }: SessionContext,
  event: { profile?: Profile; instructions?: string },
): SummaryInput => {
  const instructions = order ? order.instructions : event.instructions
  return {
    session: key,
    profile: order?.profile ?? (event.profile as Profile),
    upTo: transcriptLength,
    id: `${key}:summary-${turns}.${record.compactions}`,
    ...definedOf({ instructions }),
  }
}

/** What a summary has used, which nobody's turn has. */
export const summaryUsage = ({ key, record, order }: SessionContext, { id, model, usage, costUsd, endedAt, tokens }: SummaryOutput) =>
  usageEvents({
    runId: id,
    session: key,
    sessionId: record.sessionId,
    channel: order?.channel,
    at: endedAt ?? record.updatedAt,
    model: model ?? order?.profile.model ?? '',
    usage,
    window: record.tokens?.window ?? 0,
    tokens: tokens?.after ?? 0,
    costUsd: costUsd ?? null,
    durationMs: null,
    attempts: 0,
  })

export type Refusal = { code: ErrorCode; message: string; hint: string }

const remember = (list: string[], ...items: string[]): string[] => [...list, ...items].slice(-rememberedMax)

export const beginTurn = (context: SessionContext): Partial<SessionContext> => {
  const { messages, prompt, ...waiting } = taken(context)
  const [first] = messages
  const newest = messages.at(-1)
  if (!first || !newest) return {}
  const { record } = context
  const annotated = messages.find(({ annotations }) => annotations)
  const unread = messages.flatMap((message) => message.unread ?? [])
  const intro = introOf(record, newest.intro ?? annotated?.intro)
  return {
    ...waiting,
    ...(context.pending && { pending: undefined }),
    turns: context.turns + 1,
    run: {
      runId: first.id,
      ids: prompt.ids,
      profile: withClientTools(newest.profile, first, context.pending),
      prompt: { ...prompt, ...told(record, first), ...resumed(context.pending, first) },
      facts: {
        ...(annotated?.annotations as Partial<TurnFacts> | undefined),
        ...definedOf({
          intro: intro?.text,
          sessionId: record.sessionId || undefined,
          newSessionId: record.spent.turns === 0 ? record.sessionId : undefined,
        }),
        compactions: record.compactions,
        at: first.at,
        ...definedOf({
          allowed: record.allowedTools,
          flushedAt: record.flushed?.compactions,
          tokens: record.tokens?.total,
          lastCallAt: record.tokens?.at,
          pinned: record.credential,
          window: record.tokens?.window || undefined,
          prefix: record.prompt?.hashes,
        }),
      },
      ...(unread.length > 0 && { unread }),
      ...definedOf({ introduces: intro?.due ? intro.as : undefined }),
    },
    // Each of these is told once.
    record: record.notes.length > 0 || record.abortedLastRun ? { ...record, notes: [], abortedLastRun: false } : record,
  }
}

/** The first turn that ends well has had it; from then on it is told where it has changed. */
const introOf = ({ systemSent }: SessionRecord, intro: AcceptedMessage['intro']): AcceptedMessage['intro'] =>
  systemSent && !intro?.due ? undefined : intro

export const turnInput = ({ context: { key, run, transcriptLength } }: { context: SessionContext }): TurnInput => {
  const { ids: _, introduces: __, ...turn } = run as NonNullable<SessionContext['run']>
  return { ...turn, session: key, transcriptLength }
}

/** What has happened since the model was last asked. */
const told = ({ notes, abortedLastRun }: SessionRecord, { note = '', hint }: AcceptedMessage): Pick<Prompt, 'before'> => {
  const before = withNotes(note, { aborted: abortedLastRun, events: notes, hint })
  return before === '' ? {} : { before }
}

/** The turn is over; a call of it that still waited for a person needs no decision any more. */
export const endTurn = (context: SessionContext, output: TurnOutput): Partial<SessionContext> => ({
  transcriptLength: output.transcriptLength,
  record: accounted(context.record, output),
  run: null,
  ...(output.pendingCalls && { pending: { calls: output.pendingCalls, ...definedOf({ tools: context.run?.profile.clientTools }) } }),
  approvals: [],
  decided: remember(context.decided, ...context.approvals.map(questionOf)),
})

/** Takes one message, or all of them, out of the queue. */
export const drop = (context: SessionContext, only?: string): { change: Partial<SessionContext>; outputs: TurnOutput[] } => {
  const leaves = ({ id }: AcceptedMessage): boolean => only === undefined || id === only
  const outputs = context.queue.filter(leaves).map((message) => unanswered(message, context.transcriptLength))
  const queue = context.queue.filter((message) => !leaves(message))
  return { outputs, change: queue.length === 0 ? emptyQueue : { queue } }
}

export type Decision = Extract<SessionEvent, { type: 'approve' }>
/** A yes for the whole session goes for the other calls of that tool that wait, too. Nothing is remembered of a call that a crash has left in doubt. */
export const decided = ({ approvals, record }: SessionContext, event: Decision): { decisions: Decision[]; record: SessionRecord } => {
  const { name, why } = approvals.find(({ callId }) => callId === event.callId) ?? {}
  if (event.remember === undefined || event.decision !== 'approve' || why !== 'approval' || name === undefined) {
    const { remember: _, ...once } = event
    return { decisions: [once], record }
  }
  const alike = approvals.filter((one) => one.name === name && one.why === 'approval' && one.callId !== event.callId)
  return {
    decisions: [event, ...alike.map(({ callId, inputHash, attempt }) => ({ ...event, callId, inputHash, attempt }))],
    record: allowedToo(record, name),
  }
}

/** Each attempt at a call is a question of its own: a late repetition of one decision is no answer to the next. */
export const questionOf = ({ callId, attempt }: Pick<Approval, 'callId' | 'attempt'>): string => `${callId}#${attempt}`

export const endApproval = ({ approvals, decided }: SessionContext, callId: string): Partial<SessionContext> => {
  const ended = approvals.filter((approval) => approval.callId === callId)
  return {
    approvals: approvals.filter((approval) => approval.callId !== callId),
    decided: remember(decided, ...ended.map(questionOf)),
  }
}

export const started = ({ run }: Partial<SessionContext>): SessionOutput => ({
  type: 'started',
  runId: run?.runId ?? '',
  ids: run?.ids ?? [],
  model: run?.profile.model ?? '',
  ...definedOf({ modelSource: run?.profile.modelSource }),
  ...(run?.profile.heartbeat ? { heartbeat: true as const, agent: run.profile.agent } : {}),
})

/** What a turn that is running is told of the settings of its conversation. */
export const turnSettings = ({ verbose }: Toggles) => ({ type: 'configure' as const, ...definedOf({ verbose }) })
