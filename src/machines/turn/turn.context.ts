/** What a turn knows, and the pure functions over it; the chart in turn.machine.ts says when they are used. */

import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { PublisherEvent, PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LoopInput, LoopOutput, Prompt, TranscriptItem, TurnInput, TurnOutput, TurnResult, TurnStatus } from '../../contracts/turn.ts'
import type { Looked, UnderstandingInput, UnderstandingReport } from '../../contracts/understanding.ts'
import { budgetHint } from '../loop/budget.rules.ts'
import { usageEvents } from '../loop/cost.rules.ts'
import type { WorkTime } from '../loop/work-time.rules.ts'
import { resetCauseOf } from './broken-history.rules.ts'
import { flushPrompt } from './memory-flush.rules.ts'
import { unasked } from './no-answer.rules.ts'

export type TurnContext = TurnInput &
  WorkTime & {
    /** Calls that wait for a person. */
    waiting: string[]
    /** What taking durable notes came to, where that was due. */
    flush: LoopOutput | null
    /** What its agent loop came to; null before that. */
    answer: LoopOutput | null
    /** A publisher hears what it does, and has not ended. */
    followed: boolean
    /** What was looked up in its messages. */
    looked: Looked[]
    /** What it was to answer was an order, and was said in words: there is nothing left to answer. */
    spoken: boolean
    /** What users got of the answer, as far as a publisher has said so. */
    published: PublisherOutput
  }

export const begin = ({ input }: { input: TurnInput }): TurnContext => ({
  ...input,
  waiting: [],
  flush: null,
  answer: null,
  followed: false,
  looked: [],
  spoken: false,
  published: {},
})

/** How messages become part of the transcript: each by itself, unless there is something to be said about them together. */
export const promptItems = ({ prompt, looked }: Pick<TurnContext, 'prompt' | 'looked'>): TranscriptItem[] => [
  ...(prompt.results ?? []),
  ...(prompt.mute ? [] : said(prompt, looked)),
]
const said = ({ results: _, ...prompt }: Prompt, looked: TurnContext['looked']): TranscriptItem[] => {
  const isOne = prompt.collected || prompt.joined || prompt.before !== undefined
  return isOne
    ? [{ prompt: withLooked(prompt, looked) }]
    : prompt.ids.map((id) => (looked.some((one) => one.id === id) ? { prompt: withLooked({ ids: [id] }, looked) } : id))
}
const withLooked = (prompt: Prompt, found: TurnContext['looked']): Prompt => {
  const looked = prompt.ids.flatMap((id) => found.find((one) => one.id === id)?.names ?? [])
  return looked.length === 0 ? prompt : { ...prompt, looked }
}

/** What there is to look up is known before it is put into the transcript. */
export const understandingInput = ({ context }: { context: TurnContext }): UnderstandingInput => {
  const { session, runId, profile, unread = [] } = context
  return { session, runId, agent: profile.agent, unread, candidates: profile.understanding ?? {} }
}

/** What came meanwhile is still to be looked at. */
export const understood = ({ looked, unread = [] }: TurnContext, { ids, found, spoken }: UnderstandingReport): Partial<TurnContext> => ({
  looked: [...looked, ...found],
  unread: unread.filter(({ id }) => !ids.includes(id)),
  spoken,
})

export const loopInput = ({ context }: { context: TurnContext }): LoopInput => {
  const { session, runId, profile, prompt, transcriptLength, facts, followed } = context
  return {
    session,
    runId,
    profile,
    ids: prompt.ids,
    transcriptLength: transcriptLength + promptItems(context).length,
    ...definedOf({
      intro: facts.intro,
      allowed: facts.allowed,
      command: facts.command,
      reports: followed ? (true as const) : undefined,
      tokens: facts.tokens,
      window: facts.window,
      lastCallAt: facts.lastCallAt,
      pinned: facts.pinned,
      thread: facts.thread,
      prefix: facts.prefix,
      compactions: facts.compactions + (context.flush?.compactions ?? 0) || undefined,
    }),
  }
}

export const publisherInput = ({ session, runId, profile, facts }: TurnContext): PublisherInput => ({ session, runId, profile, facts })

/** A turn that was stopped before it began has no answer. */
export const lastReport = ({ answer }: TurnContext): PublisherEvent => (answer === null ? { type: 'turn.stopped' } : { type: 'turn.ended', answer })

/** What a run of the turn has used, for whoever keeps accounts; nothing where it has used nothing. */
export const usageOf = ({ session, facts: { sessionId, origin, at } }: TurnContext, runId: string, answer: LoopOutput): SessionOutput[] => {
  const { usage, shares, model, window, tokens, costUsd, durationMs, attempts, endedAt } = answer
  const used = { model, usage, shares, window, tokens, costUsd, durationMs, attempts: attempts.length }
  return usageEvents({ runId, session, sessionId, channel: origin?.channel, at: endedAt ?? at, ...used })
}

/** A silent run before the one that was asked for: what it does with its tools is all that matters of it. */
export const flushInput = ({ context }: { context: TurnContext }): LoopInput => {
  const { reports: _, command: __, ...input } = loopInput({ context })
  // Its client could not be asked in between.
  const { clientTools: ___, toolChoice: ____, format: _____, ...profile } = context.profile
  return {
    ...input,
    runId: flushRun(context),
    ids: [],
    unattended: true,
    transcriptLength: context.transcriptLength + 1,
    minimal: true,
    profile: { ...profile, stepMax: Math.min(flushStepMax, profile.stepMax), reasoning: 'off' },
  }
}
const flushStepMax = 10
const flushRun = ({ runId }: TurnContext): string => `${runId}:flush`

export const flushMessage = (context: TurnContext): TranscriptItem => ({
  role: 'user',
  id: flushRun(context),
  text: flushPrompt(context.profile.memoryFlush ?? {}, context.facts.at),
})

/** ms that a turn may work, unless its message or agent says otherwise. */
export const runTimeoutMs = 600_000
export const runTimeout = ({ context: { profile } }: { context: TurnContext }): number => profile.runTimeoutMs ?? runTimeoutMs

const timeUp = (message: string, limit: 'wallTimeMs' | 'runTimeoutMs'): ErrorBody => ({
  code: 'budget_time',
  message,
  retryable: false,
  hint: budgetHint(limit),
})
export const deadlines = {
  wallTime: timeUp('the turn took longer than it may', 'wallTimeMs'),
  runTimeout: timeUp('the turn worked longer than it may', 'runTimeoutMs'),
}

export const output = (context: TurnContext, status: TurnStatus): TurnOutput => {
  const { runId, prompt, profile, answer, published } = context
  if (answer === null)
    return {
      ...unasked(runId, prompt.ids, profile.model, context.transcriptLength),
      status,
      outcome: context.spoken && status === 'completed' ? 'silent' : status === 'failed' ? 'failed' : 'aborted',
      ...flushedBy(context.flush, 0),
    }
  return {
    runId,
    status,
    outcome: resultOf(answer, published),
    ids: answer.ids,
    ...definedOf({ undelivered: status === 'cancelled' ? undefined : published.undelivered }),
    text: answer.text,
    partial: answer.partial,
    ...definedOf({ finish: answer.finish ?? undefined }),
    answerId: answer.answerId,
    usage: answer.usage,
    steps: answer.steps,
    toolCalls: answer.toolCalls,
    model: answer.model,
    ...definedOf({
      reply: published.reply,
      references: answer.references,
      pendingCalls: answer.pendingCalls,
      attempts: answer.attempts.length === 0 ? undefined : answer.attempts,
      tokens: answer.tokens || undefined,
      window: answer.window || undefined,
      costUsd: answer.costUsd ?? undefined,
      durationMs: answer.durationMs ?? undefined,
      endedAt: answer.endedAt ?? undefined,
      cache: answer.cache,
      prompt: answer.prompt,
      credential: answer.credential ?? undefined,
    }),
    ...flushedBy(context.flush, answer.compactions),
    ...definedOf({ error: answer.error ?? undefined }),
    transcriptLength: answer.transcriptLength,
  }
}

/** What taking notes has used, which stands beside the turn, and how often the history was shortened in both. */
const flushedBy = (flush: LoopOutput | null, compacted: number): Pick<TurnOutput, 'compactions' | 'flushed'> => {
  const compactions = compacted + (flush?.compactions ?? 0)
  return definedOf({
    compactions: compactions || undefined,
    flushed: flush ? { usage: flush.usage, ...definedOf({ costUsd: flush.costUsd ?? undefined }) } : undefined,
  })
}

/** Without a word of a publisher, users get the text, if there is one. */
const resultOf = ({ status, error, texts }: LoopOutput, { outcome }: PublisherOutput): TurnResult => {
  if (status === 'cancelled') return 'aborted'
  if (status === 'failed') return error !== null && resetCauseOf(error) !== undefined ? 'reset' : 'failed'
  return outcome ?? (texts.length > 0 ? 'replied' : 'silent')
}

const endings: Record<TurnStatus, 'final' | 'error' | 'aborted'> = { completed: 'final', failed: 'error', cancelled: 'aborted' }
export const ending = ({ prompt: _, ...result }: TurnOutput): SessionOutput => ({ type: endings[result.status], ...result })
