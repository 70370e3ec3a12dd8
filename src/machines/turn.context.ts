/** What a turn knows, and the pure functions over it; the chart in turn.machine.ts says when they are used. */
import type { ErrorBody } from '../contracts/errors.ts'
import { addUsage, noUsage, type ToolMessage, type Usage } from '../contracts/message.ts'
import { retryableModelError } from '../contracts/model.ts'
import type { ModelCallOutput, SessionOutput, TranscriptItem, TurnInput, TurnOutput, TurnStatus } from '../contracts/session.ts'
import type { ToolCall } from '../contracts/tool.ts'

export type TurnContext = Omit<TurnInput, 'prompt'> & {
  /** Ids of all messages that this turn answers. */
  ids: string[]
  /** Ids of messages taken in by steering and not shown to the model yet. */
  steers: string[]
  /** Model calls made, failed ones included: part of each call's name. */
  call: number
  /** Attempts at the present step. */
  attempt: number
  steps: number
  toolCalls: number
  usage: Usage
  text: string
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
  /** Whether the history was shortened for the present step: once has to be enough. */
  compacted: boolean
  cancelled: boolean
  error: ErrorBody | null
}

export const begin = ({ prompt, ...input }: TurnInput): TurnContext => ({
  ...input,
  ids: prompt.map(({ id }) => id),
  steers: [],
  call: 0,
  attempt: 1,
  steps: 0,
  toolCalls: 0,
  usage: noUsage,
  text: '',
  partial: false,
  finish: null,
  answerId: null,
  model: input.profile.model,
  calls: [],
  launched: 0,
  results: [],
  waiting: [],
  compacted: false,
  cancelled: false,
  error: null,
})

export const answered = (context: TurnContext, answer: ModelCallOutput): Partial<TurnContext> => ({
  text: answer.text,
  partial: answer.partial || answer.finish === 'length' || answer.finish === 'content-filter',
  // Of an answer that somebody stopped, the provider has not said how it ended.
  finish: answer.partial || answer.finish === 'stop' ? null : (answer.finish ?? null),
  answerId: answer.id,
  model: answer.model,
  calls: answer.calls,
  launched: 0,
  results: answer.calls.map(() => null),
  steps: context.steps + 1,
  usage: addUsage(context.usage, answer.usage),
  transcriptLength: context.transcriptLength + 1,
  compacted: false,
  error: null,
})

// ---- Retries of the model

/** A provider that asks for more patience than this is not asked again; the caller learns how long it would take. */
export const retryAfterMaxMs = 120_000
const backoffMaxMs = 60_000

const retryAfterMs = (error: ErrorBody | null): number => (typeof error?.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0)

export const retryDelayMs = ({ attempt, error }: TurnContext): number =>
  Math.max(retryAfterMs(error), Math.min(backoffMaxMs, 500 * 2 ** (attempt - 1)))

export const mayRetry = ({ attempt, profile }: TurnContext, error: ErrorBody): boolean =>
  retryableModelError(error) && attempt < profile.modelAttemptMax && retryAfterMs(error) <= retryAfterMaxMs

// ---- Tool calls of one step

export const toolName = (index: number): string => `tool-${index}`

/** Places of the calls that run or wait for a person. */
export const live = ({ launched, results }: TurnContext): number[] =>
  results.flatMap((result, index) => (result === null && index < launched ? [index] : []))

/** Calls to launch now: all side by side, or one when the one before has ended. */
export const launchable = (context: TurnContext): number[] => {
  const { calls, launched, profile } = context
  const places = [...calls.keys()]
  if (profile.toolExecution === 'parallel') return places.slice(launched)
  return live(context).length === 0 ? places.slice(launched, launched + 1) : []
}

/** No call runs, and none will: all have run, or what has not been launched was overtaken by a newer message or a stop. */
export const isStepOver = (context: TurnContext): boolean =>
  live(context).length === 0 && (context.launched === context.calls.length || context.steers.length > 0 || context.cancelled)

export type Unfinished = { call: ToolCall; status: 'skipped' | 'cancelled'; message: ToolMessage }

/** What the model reads for the calls of a step that came to no end of their own. Every call needs a result, or providers refuse the conversation. */
export const unfinished = ({ calls, results, launched, cancelled, error }: TurnContext): Unfinished[] =>
  calls.flatMap((call, index) => {
    if (results[index]) return []
    const why = error?.message ?? (cancelled ? 'somebody stopped the turn' : 'a newer message came first')
    const reason = {
      code: error?.code ?? (cancelled ? 'cancelled' : 'tool_skipped'),
      message: index < launched ? `stopped in its work: ${why}` : `not run: ${why}`,
    }
    const message: ToolMessage = { role: 'tool', callId: call.callId, name: call.name, output: { error: reason }, isError: true }
    return [{ call, status: index < launched ? ('cancelled' as const) : ('skipped' as const), message }]
  })

/** All results of the step in the order of its calls. */
export const resultsOf = (context: TurnContext): TranscriptItem[] => {
  const rest = unfinished(context)
  return context.results.map((result, index) => result ?? (rest.find(({ call }) => call === context.calls[index]) as Unfinished).message)
}

// ---- The end

export const output = (context: TurnContext, status: TurnStatus): TurnOutput => ({
  runId: context.runId,
  status,
  ids: context.ids,
  text: context.text,
  partial: context.partial,
  ...(context.finish ? { finish: context.finish } : {}),
  answerId: context.answerId,
  usage: context.usage,
  steps: context.steps,
  toolCalls: context.toolCalls,
  model: context.model,
  ...(status === 'failed' && context.error ? { error: context.error } : {}),
  transcriptLength: context.transcriptLength,
})

const endings: Record<TurnStatus, 'final' | 'error' | 'aborted'> = { completed: 'final', failed: 'error', cancelled: 'aborted' }
export const ending = (result: TurnOutput): SessionOutput => ({ type: endings[result.status], ...result })
