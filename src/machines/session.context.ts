/** What a session knows, and the pure functions over it; the chart in session.machine.ts says when they are used. */
import type { ErrorCode } from '../contracts/errors.ts'
import { noUsage } from '../contracts/message.ts'
import type { AcceptedMessage, Approval, Profile, TurnOutcome, TurnOutput } from '../contracts/session.ts'

/** Messages that may wait while a turn is running, and messages that one turn may take in. */
export const queueMax = 100
/** Decisions that a session remembers, to say of a repeated one that it is. */
const rememberedMax = 50

export type SessionContext = {
  key: string
  transcriptLength: number
  /** Accepted messages without a turn, oldest first. */
  queue: AcceptedMessage[]
  run: { runId: string; ids: string[]; profile: Profile } | null
  /** Turns so far: part of nothing but names. */
  turns: number
  approvals: Approval[]
  decided: string[]
  /** Why the running turn is stopped for a reset, as whoever asked for it said. */
  resetReason: string | null
}

export type Refusal = { code: ErrorCode; message: string; hint: string }

const remember = (list: string[], ...items: string[]): string[] => [...list, ...items].slice(-rememberedMax)

/** What the next turn takes: the message that has waited longest; if it asks to be collected, with those behind it that ask the same. */
export const nextMessages = ({ queue }: SessionContext): AcceptedMessage[] => {
  const other = queue.findIndex(({ profile }) => profile.queueMode !== 'collect')
  return queue.slice(0, other === -1 ? queue.length : Math.max(1, other))
}

export const beginTurn = (context: SessionContext): Partial<SessionContext> => {
  const messages = nextMessages(context)
  const [first] = messages
  if (!first) return {}
  return {
    queue: context.queue.slice(messages.length),
    turns: context.turns + 1,
    run: { runId: first.id, ids: messages.map(({ id }) => id), profile: (messages.at(-1) ?? first).profile },
  }
}

export const outcomeOf = ({ text: _, transcriptLength: __, ...outcome }: TurnOutput): TurnOutcome => outcome

/** The turn is over; a call of it that still waited for a person needs no decision any more. */
export const endTurn = (context: SessionContext, output: TurnOutput): Partial<SessionContext> => ({
  transcriptLength: output.transcriptLength,
  run: null,
  approvals: [],
  decided: remember(context.decided, ...context.approvals.map(questionOf)),
})

/** The outcome of a message that will have no turn. */
const dropped = ({ id, profile }: AcceptedMessage, { transcriptLength }: SessionContext): TurnOutput => ({
  runId: id,
  status: 'cancelled',
  ids: [id],
  text: '',
  partial: false,
  answerId: null,
  usage: noUsage,
  steps: 0,
  toolCalls: 0,
  model: profile.model,
  transcriptLength,
})

/** Takes one message, or all of them, out of the queue. */
export const drop = (context: SessionContext, only?: string): { change: Partial<SessionContext>; outputs: TurnOutput[] } => {
  const leaves = ({ id }: AcceptedMessage): boolean => only === undefined || id === only
  const outputs = context.queue.filter(leaves).map((message) => dropped(message, context))
  return { outputs, change: { queue: context.queue.filter((message) => !leaves(message)) } }
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
