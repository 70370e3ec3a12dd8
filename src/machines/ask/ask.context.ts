/** What an agent that is asked by another machine knows, and the pure functions over it. */
import type { AskInput, AskOutput } from '../../contracts/ask.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import { type Message, noUsage } from '../../contracts/message.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { LoopInput, LoopOutput, TranscriptNote, TurnStatus } from '../../contracts/turn.ts'
import type { WorkTime } from '../loop/work-time.rules.ts'
import { deadlines, runTimeoutMs as runTimeoutDefaultMs } from '../turn/turn.context.ts'

export type AskContext = WorkTime & {
  input: AskInput
  profile: Profile | null
  answer: LoopOutput | null
  error: ErrorBody | null
  waiting: string[]
}

/** Names of answers hold it: no two questions of one conversation have the same. */
const runOf = ({ conversation, after = 0 }: AskInput): string => `${conversation}:${after}`
const messagesOf = ({ input }: AskContext): Message[] => {
  const { text, history = [], after } = input
  return [...(after === undefined ? history : []), ...(text === undefined ? [] : [{ role: 'user' as const, id: runOf(input), text }])]
}

/** A conversation that begins is told so: nothing that was said under its name before belongs to it. */
export const question = (context: AskContext): TranscriptNote => ({
  type: 'transcript',
  conversation: context.input.conversation,
  ...(context.input.after === undefined && { clear: true as const }),
  add: messagesOf(context),
})

const isAttended = ({ reports, unattended }: AskInput, { approval }: Profile): boolean => reports === true && !(unattended && approval === undefined)

export const loopInput = ({ context }: { context: AskContext }): LoopInput => {
  const { input } = context
  const { conversation, session = conversation, intro, placeholders, stepMax, reports, after = 0, format } = input
  const profile = { ...(context.profile as Profile), ...definedOf({ format }) }
  return {
    session,
    conversation,
    runId: runOf(input),
    profile: stepMax === undefined ? profile : { ...profile, stepMax: Math.min(stepMax, profile.stepMax) },
    ids: [],
    transcriptLength: after + messagesOf(context).length,
    // No caller receives a call that waits for a person.
    ...definedOf({ intro, placeholders, reports, delegates: reports, unattended: isAttended(input, profile) ? undefined : (true as const) }),
  }
}

export const output = (context: AskContext, status: TurnStatus): AskOutput => {
  const { input, answer, error } = context
  if (answer === null)
    return {
      status,
      error,
      text: '',
      texts: [],
      reasoning: '',
      partial: false,
      finish: null,
      answerId: null,
      usage: noUsage,
      shares: {},
      costUsd: null,
      steps: 0,
      toolCalls: 0,
      model: '',
      attempts: [],
      compactions: 0,
      length: input.after ?? 0,
    }
  const { text, texts, reasoning, partial, finish, answerId, usage, shares, costUsd, steps, toolCalls, model, attempts, compactions } = answer
  const said = { text, texts, reasoning, partial, finish, answerId, usage, shares, costUsd, steps, toolCalls, model, attempts, compactions }
  return { status, error: answer.error && withLimit(answer.error, loopInput({ context }).profile), ...said, length: answer.transcriptLength }
}

/** Which number it has come up against, for whoever branches on it. */
const withLimit = (error: ErrorBody, profile: Profile): ErrorBody => {
  const limit = limitIn(error, profile)
  return limit === undefined ? error : { ...error, data: { ...error.data, limit } }
}

const limitIn = ({ code, message }: ErrorBody, profile: Profile) => {
  const { stepMax, tokenMax, toolCallMax, runTimeoutMs = runTimeoutDefaultMs } = profile
  switch (code) {
    case 'budget_steps':
      return stepMax
    case 'budget_tokens':
      return tokenMax
    case 'budget_tool_calls':
      return toolCallMax
    case 'budget_time':
      return message === deadlines.wallTime.message ? (profile.turnTimeMs ?? profile.wallTimeMs) : runTimeoutMs
    default:
      return undefined
  }
}
