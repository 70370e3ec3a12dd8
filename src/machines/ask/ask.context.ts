/** What an agent that is asked by another machine knows, and the pure functions over it. */
import type { AskInput, AskOutput } from '../../contracts/ask.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import { type Message, noUsage } from '../../contracts/message.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { LoopInput, LoopOutput, TranscriptNote, TurnStatus } from '../../contracts/turn.ts'

export type AskContext = {
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

export const loopInput = ({ context }: { context: AskContext }): LoopInput => {
  const { input } = context
  const { conversation, session = conversation, intro, stepMax, reports, after = 0 } = input
  const profile = context.profile as Profile
  return {
    session,
    conversation,
    runId: runOf(input),
    profile: stepMax === undefined ? profile : { ...profile, stepMax: Math.min(stepMax, profile.stepMax) },
    ids: [],
    transcriptLength: after + messagesOf(context).length,
    // Nobody hears of a call that waits for a person.
    ...definedOf({ intro, reports, delegates: reports, unattended: reports ? undefined : (true as const) }),
  }
}

export const output = ({ input, answer, error }: AskContext, status: TurnStatus): AskOutput => {
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
  return { status, error: answer.error, ...said, length: answer.transcriptLength }
}
