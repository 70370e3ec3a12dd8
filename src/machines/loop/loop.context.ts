/** What the agent loop knows, and the pure functions over it; the chart in loop.machine.ts says when they are used. */
import type { PendingCall } from '../../contracts/client-tools.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import { addUsage, noUsage, type Usage } from '../../contracts/message.ts'
import type { ModelCallInput, ModelCallOutput } from '../../contracts/model-call.ts'
import type { PromptHashes, PromptReport } from '../../contracts/prompt.ts'
import { joinReferences, noReferences } from '../../contracts/references.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import type { ToolCall } from '../../contracts/tool.ts'
import type { Attempt, LoopInput, LoopOutput, SummaryInput, SummaryOutput, TranscriptItem, TurnStatus } from '../../contracts/turn.ts'
import type { UnderstandingInput, UnderstandingReport, Unread } from '../../contracts/understanding.ts'
import { candidates } from '../../models/fallback.rules.ts'
import { type CacheState, cacheState } from './cache.rules.ts'
import { changedParts } from './prompt.rules.ts'
import { nothingSeen, shortenedSince, unknownSince, type Watch } from './repetition.rules.ts'

/** In groups: V8 is slow with an object of twenty fields, and XState copies this one at each change. */
export type LoopContext = {
  /** What its turn has said. */
  input: LoopInput
  /** Messages that it answers, those taken in by steering included. */
  ids: string[]
  /** Messages taken in by steering and not shown to the model yet. */
  steers: TranscriptItem[]
  /** Of these, messages in which links and media are looked at; how often that was begun. */
  reading: { ids: string[]; count: number }
  transcriptLength: number
  asked: Asked
  /** Calls of models that have failed. */
  attempts: Attempt[]
  /** The number of the model call that runs, or of the next one: part of its name. Failed ones count. */
  call: number
  /** The newest answer; `finish` is how it ended, unless regularly. */
  answer: Pick<LoopOutput, 'text' | 'flat' | 'partial' | 'finish' | 'answerId' | 'model'>
  /** What users may get to see of all steps. */
  said: Pick<LoopOutput, 'texts' | 'references' | 'reasoning' | 'toolError' | 'annotations'>
  totals: Pick<LoopOutput, 'steps' | 'toolCalls' | 'usage' | 'shares' | 'costUsd' | 'compactions'>
  room: Room
  step: Step
  /** Tools for which a person has agreed once and for all, where that has changed since it began. */
  allowed?: string[]
  /** Calls that may lead nowhere. */
  watch?: Watch
  /** What stood before the conversation at the newest call. */
  prefix?: PromptHashes
  /** The same with all sizes, where it was not as before. */
  prompt?: PromptReport
  /** The model has answered nothing, and was asked again. */
  empty?: true
  /** Whether the provider had the beginning of the first request in its cache, as far as time goes. */
  cache?: CacheState
  /** ms since the epoch of the first call that was answered, and of the newest answer. */
  startedAt: number | null
  endedAt: number | null
  /** What it has handed over to the client. */
  pendingCalls?: PendingCall[]
  cancelled: boolean
  /** Why its time is up. */
  expired: ErrorBody | null
  error: ErrorBody | null
}

/** Who is asked, and how. */
type Asked = {
  /** Models that may answer, the wanted one first, and which of them is asked. */
  candidates: string[]
  place: number
  /** Rounds over all of them at the present step. */
  round: number
  /** The credential that was used last, and those of the present candidate that have failed. */
  credential: string | null
  tried: string[]
  /** An attempt at the present step has shown a piece of its answer, and failed. */
  streamed?: boolean
  /** What extensions have added to the instructions of this turn. */
  told?: string
  /** What the provider is told to think, and what it has refused of that. */
  thinking: ThinkingLevel | null
  refusedThinking: ThinkingLevel[]
}

/** How much the model can still read. */
type Room = {
  /** Tokens of the conversation at the newest call, and how many the model can read; 0 where unknown. */
  tokens: number
  window: number
  /** What was done for the present step because the conversation was too long: its history compacted, then results of tools cut. Once each. */
  compacted: boolean
  shortened: boolean
}

/** Tool calls of the present step. */
type Step = {
  /** In the order of the model; how many were launched, and what stands in the transcript for each that ended. */
  calls: ToolCall[]
  launched: number
  results: (TranscriptItem | null)[]
  /** Those that wait for a person. */
  waiting: string[]
  /** Calls that the client runs, and with which the loop ends when its own have ended. */
  client?: ToolCall[]
}

export const noCalls: Step = { calls: [], launched: 0, results: [], waiting: [] }

export const begin = ({ input }: { input: LoopInput }): LoopContext => ({
  input,
  ids: input.ids,
  steers: [],
  reading: { ids: [], count: 0 },
  transcriptLength: input.transcriptLength,
  asked: {
    candidates: candidates(input.profile),
    place: 0,
    round: 1,
    credential: input.pinned ?? null,
    tried: [],
    thinking: input.profile.thinking ?? null,
    refusedThinking: [],
  },
  attempts: [],
  call: 1,
  answer: { text: '', flat: false, partial: false, finish: null, answerId: null, model: input.profile.model },
  said: { texts: [], reasoning: '', toolError: null, annotations: [] },
  totals: { steps: 0, toolCalls: 0, usage: noUsage, shares: {}, costUsd: null, compactions: 0 },
  room: { tokens: input.tokens ?? 0, window: input.window ?? 0, compacted: false, shortened: false },
  step: noCalls,
  ...definedOf({ prefix: input.prefix }),
  startedAt: null,
  endedAt: null,
  cancelled: false,
  expired: null,
  error: null,
})

/** The model that is asked now. */
export const candidate = ({ asked: { candidates, place }, input }: LoopContext): string => candidates[place] ?? input.profile.model

export const modelCall = ({ context }: { context: LoopContext }): ModelCallInput => {
  const { input, asked, room, transcriptLength, call, endedAt, totals } = context
  const { session, conversation, runId, profile, intro, placeholders, minimal, command } = input
  const { thinking, tried, credential } = asked
  const lastCallAt = endedAt ?? input.lastCallAt
  return {
    session,
    runId,
    profile,
    model: candidate(context),
    ...definedOf({
      conversation,
      thinking: thinking ?? undefined,
      intro,
      placeholders,
      command,
      minimal,
      compactions: (input.compactions ?? 0) + totals.compactions || undefined,
      prefix: context.prefix,
      told: asked.told,
      tried: tried.length === 0 ? undefined : tried,
      pinned: credential ?? undefined,
      tokens: room.tokens || undefined,
      lastCallAt,
      shorten: room.shortened || undefined,
    }),
    upTo: transcriptLength,
    call,
  }
}

export const summaryInput = ({ context }: { context: LoopContext }): SummaryInput => {
  const { input, transcriptLength, call } = context
  const { session, conversation, profile, runId } = input
  return { session, ...definedOf({ conversation }), profile, upTo: transcriptLength, id: `${runId}:summary-${call}` }
}

/** One more call has used so much. */
export const spent = ({ totals }: LoopContext, model: string, more: Usage, costUsd: number | undefined): LoopContext['totals'] => ({
  ...totals,
  usage: addUsage(totals.usage, more),
  shares: { ...totals.shares, [model]: addUsage(totals.shares[model] ?? noUsage, more) },
  // Null as long as nothing is known of what a call has cost.
  costUsd: costUsd === undefined ? totals.costUsd : (totals.costUsd ?? 0) + costUsd,
})

export const answered = (context: LoopContext, answer: ModelCallOutput): Partial<LoopContext> => {
  const { said, asked, room, startedAt, endedAt } = context
  const { text, references, calls, usage, model, credential, at } = answer
  const { streamed: _, ...before } = asked
  const totals = spent(context, model, usage, answer.costUsd)
  const texts = text === '' ? said.texts : [...said.texts, text]
  const thoughts = context.input.profile.reasoning === 'on' ? [said.reasoning, answer.reasoning].filter((part) => part !== '').join('\n\n') : ''
  return {
    answer: {
      text,
      flat: answer.flat ?? false,
      partial: answer.partial || answer.finish === 'length' || answer.finish === 'content-filter',
      // Of an answer that somebody stopped, the provider has not said how it ended.
      finish: answer.partial || answer.finish === 'stop' ? null : (answer.finish ?? null),
      answerId: answer.id,
      model,
    },
    said: { ...said, texts, reasoning: thoughts, ...(references && { references: joinReferences(said.references ?? noReferences, references) }) },
    totals: { ...totals, steps: totals.steps + 1 },
    asked: { ...before, round: 1, credential: credential ?? asked.credential, ...definedOf({ told: answer.told }) },
    room: { tokens: usage.inputTokens + usage.outputTokens, window: answer.contextTokens ?? room.window, compacted: false, shortened: false },
    step: stepOf(calls),
    watch: unknownSince(context.watch ?? nothingSeen, calls),
    ...(answer.prompt && { prefix: answer.prompt.hashes, prompt: answer.prompt }),
    ...definedOf({ cache: context.cache ?? (at === undefined ? undefined : cacheState(context.input, at)) }),
    startedAt: startedAt ?? at ?? null,
    endedAt: at === undefined ? endedAt : at + (answer.durationMs ?? 0),
    transcriptLength: context.transcriptLength + 1,
    call: context.call + 1,
    error: context.expired,
  }
}

const stepOf = (all: ToolCall[]): Step => {
  const client = all.filter((call) => call.client)
  const calls = client.length === 0 ? all : all.filter((call) => !call.client)
  return { calls, launched: 0, results: calls.map(() => null), waiting: [], ...(client.length > 0 && { client }) }
}
/** The cache of the provider is of no use for what has changed. Of the first prompt there is nothing to say. */
export const prefixEvents = ({ input, prefix }: LoopContext, { hashes }: PromptReport): SessionOutput[] =>
  prefix === undefined ? [] : [{ type: 'prefix', runId: input.runId, changed: changedParts(prefix, hashes) }]

/** Old history is a summary now. */
export const summarised = (context: LoopContext, { keep, model, usage, costUsd }: SummaryOutput): Partial<LoopContext> => {
  const totals = spent(context, model ?? candidate(context), usage, costUsd)
  return {
    totals: { ...totals, compactions: totals.compactions + 1 },
    room: { ...context.room, compacted: true, tokens: 0 },
    ...(context.watch && context.error && { watch: shortenedSince(context.watch) }),
    transcriptLength: keep + 1,
    call: context.call + 1,
    error: null,
  }
}

export const steered = ({ steers, ids }: LoopContext, { id, again }: { id: string; again?: true }): Partial<LoopContext> =>
  again ? { steers: [...steers, { prompt: { ids: [id], again } }] } : { steers: [...steers, id], ids: [...ids, id] }

/** Looked at while the model or its tools go on: it is read when its turn comes. */
export const readingInput = ({ input: { session, runId, profile } }: LoopContext, unread: Unread): UnderstandingInput => ({
  session,
  runId,
  agent: profile.agent,
  unread: [unread],
  candidates: profile.understanding ?? {},
})

/** What was spoken and is said in words is not shown as well. */
export const understood = ({ steers, reading }: LoopContext, { ids, found, spoken }: UnderstandingReport): Partial<LoopContext> => ({
  reading: { ...reading, ids: reading.ids.filter((id) => !ids.includes(id)) },
  steers: steers.flatMap((item) => {
    if (typeof item !== 'string' || !ids.includes(item)) return [item]
    const looked = found.find(({ id }) => id === item)?.names
    return spoken ? [] : looked === undefined ? [item] : [{ prompt: { ids: [item], looked } }]
  }),
})

/** What gets no turn of its own any more is not shown either. */
export const withoutSteers = ({ steers }: LoopContext, ids: readonly string[]): TranscriptItem[] =>
  steers.filter((item) => !(typeof item === 'object' && 'prompt' in item && item.prompt.ids.some((id) => ids.includes(id))))

/** Tokens that are kept free for the answer: of a small window a part, so that something is left to talk about. */
const reserveTokens = 20_000
const reserveShare = 0.25

/** The next call would leave too little room. */
export const isFull = ({ room: { tokens, window, compacted } }: LoopContext): boolean =>
  !compacted && window > 0 && tokens > window - Math.min(reserveTokens, window * reserveShare)

// ---- The end

export const loopOutput = (context: LoopContext, status: TurnStatus): LoopOutput => {
  const { ids, answer, said, totals, room, asked, attempts, startedAt, endedAt, error, transcriptLength } = context
  return {
    status,
    ids,
    ...answer,
    ...definedOf({ pendingCalls: context.pendingCalls }),
    ...said,
    ...totals,
    durationMs: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    endedAt,
    credential: asked.credential,
    ...definedOf({ cache: context.cache, prompt: context.prompt }),
    attempts,
    tokens: room.tokens,
    window: room.window,
    error: status === 'failed' ? error : null,
    transcriptLength,
  }
}
