/** What the agent loop knows, and the pure functions over it; the chart in loop.machine.ts says when they are used. */
import type { ErrorBody } from '../../contracts/errors.ts'
import { addUsage, noUsage, type Usage } from '../../contracts/message.ts'
import { retryableModelError } from '../../contracts/model.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import type { ToolCall } from '../../contracts/tool.ts'
import type { Attempt, LoopInput, LoopOutput, ModelCallInput, ModelCallOutput, TranscriptItem, TurnOutput, TurnStatus } from '../../contracts/turn.ts'
import { candidates, failoverReason, failureSummary } from '../../models/fallback.rules.ts'

export type LoopContext = LoopInput & {
  /** Messages taken in by steering and not shown to the model yet. */
  steers: TranscriptItem[]
  /** Models that may answer, the wanted one first, and which of them is asked. */
  candidates: string[]
  place: number
  /** Credentials of the present candidate that have failed. */
  tried: string[]
  /** What the provider is told to think, and what it has refused of that. */
  thinking: ThinkingLevel | null
  refusedThinking: ThinkingLevel[]
  attempts: Attempt[]
  /** Model calls made, failed ones included: part of each call's name. */
  call: number
  /** Rounds over all candidates at the present step. */
  attempt: number
  steps: number
  toolCalls: number
  usage: Usage
  /** The same by the model that was asked. */
  shares: Record<string, Usage>
  /** Null as long as nothing is known of what a call has cost. */
  costUsd: number | null
  text: string
  texts: string[]
  reasoning: string
  toolError: LoopOutput['toolError']
  annotations: LoopOutput['annotations']
  flat: boolean
  partial: boolean
  /** How the newest answer ended, unless regularly. */
  finish: TurnOutput['finish'] | null
  answerId: string | null
  model: string
  /** Calls of the present step, in the order of the model; how many were launched, and what stands in the transcript for each that ended. */
  calls: ToolCall[]
  launched: number
  results: (TranscriptItem | null)[]
  /** Calls that wait for a person. */
  waiting: string[]
  /** What was done for the present step because the conversation was too long: its history compacted, then results of tools cut. Once each. */
  compacted: boolean
  shortened: boolean
  compactions: number
  /** Tokens of the conversation at the newest call, and how many the model can read; 0 where unknown. */
  tokens: number
  window: number
  /** ms since the epoch of the first call that was answered, and of the newest answer. */
  startedAt: number | null
  endedAt: number | null
  credential: string | null
  cancelled: boolean
  /** Why its time is up. */
  expired: ErrorBody | null
  error: ErrorBody | null
}

export const begin = (input: LoopInput): LoopContext => ({
  ...input,
  steers: [],
  candidates: candidates(input.profile),
  place: 0,
  tried: [],
  thinking: input.profile.thinking ?? null,
  refusedThinking: [],
  attempts: [],
  call: 0,
  attempt: 1,
  steps: 0,
  toolCalls: 0,
  usage: noUsage,
  shares: {},
  costUsd: null,
  text: '',
  texts: [],
  reasoning: '',
  toolError: null,
  annotations: [],
  flat: false,
  partial: false,
  finish: null,
  answerId: null,
  model: input.profile.model,
  calls: [],
  launched: 0,
  results: [],
  waiting: [],
  compacted: false,
  shortened: false,
  compactions: 0,
  tokens: input.tokens ?? 0,
  window: input.window ?? 0,
  startedAt: null,
  endedAt: null,
  credential: input.pinned ?? null,
  cancelled: false,
  expired: null,
  error: null,
})

/** The model that is asked now. */
export const candidate = (context: LoopContext): string => context.candidates[context.place] ?? context.profile.model

export const modelCall = (context: LoopContext): ModelCallInput => {
  const { session, runId, profile, thinking, intro, tried, shortened, transcriptLength, call, credential, tokens } = context
  const lastCallAt = context.endedAt ?? context.lastCallAt
  return {
    session,
    runId,
    profile,
    model: candidate(context),
    ...(thinking === null ? {} : { thinking }),
    ...(intro === undefined ? {} : { intro }),
    ...(tried.length === 0 ? {} : { tried }),
    ...(credential === null ? {} : { pinned: credential }),
    ...(tokens > 0 ? { tokens } : {}),
    ...(lastCallAt === undefined ? {} : { lastCallAt }),
    ...(shortened ? { shorten: true as const } : {}),
    upTo: transcriptLength,
    call,
  }
}

/** One more call has used so much. */
export const spent = ({ usage, shares }: LoopContext, model: string, more: Usage): Pick<LoopContext, 'usage' | 'shares'> => ({
  usage: addUsage(usage, more),
  shares: { ...shares, [model]: addUsage(shares[model] ?? noUsage, more) },
})

export const answered = (context: LoopContext, answer: ModelCallOutput): Partial<LoopContext> => ({
  text: answer.text,
  texts: answer.text === '' ? context.texts : [...context.texts, answer.text],
  ...(context.profile.reasoning === 'on' ? { reasoning: [context.reasoning, answer.reasoning].filter((part) => part !== '').join('\n\n') } : {}),
  flat: answer.flat ?? false,
  partial: answer.partial || answer.finish === 'length' || answer.finish === 'content-filter',
  // Of an answer that somebody stopped, the provider has not said how it ended.
  finish: answer.partial || answer.finish === 'stop' ? null : (answer.finish ?? null),
  answerId: answer.id,
  model: answer.model,
  calls: answer.calls,
  launched: 0,
  results: answer.calls.map(() => null),
  steps: context.steps + 1,
  ...spent(context, answer.model, answer.usage),
  costUsd: answer.costUsd === undefined ? context.costUsd : (context.costUsd ?? 0) + answer.costUsd,
  tokens: answer.usage.inputTokens + answer.usage.outputTokens,
  window: answer.contextTokens ?? context.window,
  startedAt: context.startedAt ?? answer.at ?? null,
  endedAt: answer.at === undefined ? context.endedAt : answer.at + (answer.durationMs ?? 0),
  credential: answer.credential ?? context.credential,
  transcriptLength: context.transcriptLength + 1,
  compacted: false,
  shortened: false,
  error: context.expired,
})

export const steered = ({ steers, ids }: LoopContext, { id, again }: { id: string; again?: true }): Partial<LoopContext> =>
  again ? { steers: [...steers, { prompt: { ids: [id], again } }] } : { steers: [...steers, id], ids: [...ids, id] }

/** What gets no turn of its own any more is not shown either. */
export const withoutSteers = ({ steers }: LoopContext, ids: readonly string[]): TranscriptItem[] =>
  steers.filter((item) => !(typeof item === 'object' && 'prompt' in item && item.prompt.ids.some((id) => ids.includes(id))))

// ---- What follows when a model fails

/** A provider that asks for more patience than this is not asked again; the caller learns how long it would take. */
const retryAfterMaxMs = 120_000
const backoffMaxMs = 60_000

const retryAfterMs = (error: ErrorBody | null): number => (typeof error?.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0)

export const retryDelayMs = ({ attempt, error }: LoopContext): number =>
  Math.max(retryAfterMs(error), Math.min(backoffMaxMs, 500 * 2 ** (attempt - 1)))

export const mayRetry = ({ attempt, profile }: LoopContext, error: ErrorBody): boolean =>
  retryableModelError(error) && attempt < profile.modelAttemptMax && retryAfterMs(error) <= retryAfterMaxMs

/** Its provider has another credential that has not failed in this turn. */
export const mayRotate = (error: ErrorBody): boolean => error.data?.otherCredentials === true && failoverReason(error) !== undefined

/** Whoever wished for a model that does not exist is told so. */
export const mayFallBack = ({ place, candidates, profile }: LoopContext, error: ErrorBody): boolean => {
  const reason = failoverReason(error)
  const next = candidates[place + 1]
  return next !== undefined && reason !== undefined && !(reason === 'unknown_model' && next === profile.primary)
}

export const attempted = (context: LoopContext, error: ErrorBody): Partial<LoopContext> => {
  const credential = typeof error.data?.credential === 'string' ? error.data.credential : undefined
  const attempt: Attempt = {
    model: candidate(context),
    ...(credential === undefined ? {} : { credential }),
    reason: failoverReason(error) ?? 'other',
    // What the provider wrote stands in the journal as the result of the call.
    error: { code: error.code, message: error.message, retryable: error.retryable },
  }
  return {
    error,
    attempts: [...context.attempts, attempt].slice(-attemptsMax),
    tried: credential === undefined ? context.tried : [...context.tried, credential],
  }
}
const attemptsMax = 50

/** What whoever waits is told: of several attempts all. */
export const failure = (context: LoopContext, error: ErrorBody): Partial<LoopContext> => {
  const { attempts = [] } = attempted(context, error)
  return { attempts, error: context.place > 0 ? failureSummary(attempts) : error }
}

/** Tokens that are kept free for the answer: of a small window a part, so that something is left to talk about. */
const reserveTokens = 20_000
const reserveShare = 0.25

/** The next call would leave too little room. */
export const isFull = ({ tokens, window, compacted }: LoopContext): boolean =>
  !compacted && window > 0 && tokens > window - Math.min(reserveTokens, window * reserveShare)

// ---- The end

export const loopOutput = (context: LoopContext, status: TurnStatus): LoopOutput => ({
  status,
  ids: context.ids,
  text: context.text,
  texts: context.texts,
  reasoning: context.reasoning,
  toolError: context.toolError,
  annotations: context.annotations,
  flat: context.flat,
  partial: context.partial,
  finish: context.finish,
  answerId: context.answerId,
  usage: context.usage,
  shares: context.shares,
  costUsd: context.costUsd,
  durationMs: context.startedAt === null || context.endedAt === null ? null : context.endedAt - context.startedAt,
  endedAt: context.endedAt,
  credential: context.credential,
  steps: context.steps,
  toolCalls: context.toolCalls,
  model: context.model,
  attempts: context.attempts,
  compactions: context.compactions,
  tokens: context.tokens,
  window: context.window,
  error: status === 'failed' ? context.error : null,
  transcriptLength: context.transcriptLength,
})
