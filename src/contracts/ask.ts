/** An agent that is asked by a machine which is no session: what it is told, what it answers, and what it reports meanwhile. */
import type { AnswerFormat } from './answer-format.ts'
import type { ErrorBody } from './errors.ts'
import type { Message } from './message.ts'
import type { Placeholders } from './placeholders.ts'
import type { PublisherEvent } from './publisher.ts'
import type { Approval, LoopOutput, TurnStatus } from './turn.ts'

export type AskInput = {
  /** Name of the agent. */
  agent: string
  /** What the conversation is called inside its actor, which may hold several: letters, digits and `_ - : . /`. */
  conversation: string
  /** Left out where it goes on with what stands there, such as after a failure. */
  text?: string
  /** What stands before `text` where the conversation begins with it. */
  history?: readonly Message[]
  /** So many messages stand in the conversation already, and it goes on: `length` of the answer before. */
  after?: number
  /** Added to the instructions of the agent. */
  intro?: string
  /** What `{{name}}` in its instructions stands for. */
  placeholders?: Placeholders
  /** Its answer is JSON of this form. */
  format?: AnswerFormat
  /** As which session its tools are called; default: the conversation. */
  session?: string
  /** Calls of models at most, where that is less than the agent may make. */
  stepMax?: number
  /** Tells its parent what it does, and which calls wait for it or for a person, as {@link AskReport}. Without it nobody can agree to a call. */
  reports?: true
  /** No person is there who could agree to a call, unless the agent says for how long it waits for one. */
  unattended?: true
}

/** `text` is the newest answer, all of `texts` those of each step; `length` how many messages the conversation has now. */
export type AskOutput = Pick<
  LoopOutput,
  'text' | 'texts' | 'reasoning' | 'partial' | 'finish' | 'answerId' | 'usage' | 'shares' | 'costUsd' | 'steps' | 'toolCalls' | 'model' | 'attempts'
> & { status: TurnStatus; error: ErrorBody | null; length: number; compactions: number }

export type AskReport = {
  type: 'ask.reported'
  conversation: string
  report:
    | Extract<PublisherEvent, { type: 'model.started' | 'model.ended' | 'tool.started' | 'tool.ended' }>
    | { type: 'tool.waiting'; approval: Approval }
    | { type: 'tool.decided'; callId: string }
    /** A call of a tool that is `delegated`: it is answered with an {@link AskEvent}. */
    | { type: 'tool.delegated'; callId: string; name: string; input: unknown }
    | StepReport
}

/** What an agent says that is asked step by step: it waits until it is told to `proceed`, or to `cancel`. */
export type StepReport =
  /** The model would be asked; steps count from 1. */
  | { type: 'step.wanted'; step: number }
  /** It has answered, and its tools would run; without calls it is the answer. */
  | { type: 'step.answered'; step: number; text: string; calls: { callId: string; name: string; input: unknown }[] }

/** What one may be told while it is at work. */
export type AskEvent =
  | { type: 'cancel' }
  /** Where it is asked step by step: goes on; from now on with that model, where one is named. */
  | { type: 'proceed'; model?: string }
  /** What became of a call that was delegated. */
  | { type: 'answer'; callId: string; output?: unknown; error?: ErrorBody }
  | {
      type: 'approve'
      callId: string
      decision: 'approve' | 'deny'
      inputHash: string
      attempt: number
      remember?: 'session'
      by?: string
      note?: string
      /** It runs with that input in the place of what the model wrote; it is checked again when the tool runs. */
      edited?: { input: unknown; inputHash: string }
    }
