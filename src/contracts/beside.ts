/** What happens in a session beside its turns: something is put into its conversation, or said that is no part of it. */
import { z } from 'zod'
import type { ErrorBody } from './errors.ts'
import type { Usage } from './message.ts'
import type { Profile } from './profile.ts'
import { sideTextMax } from './side-question.rules.ts'
import { isWhole, messageText, textMax, wholeOnly } from './text.ts'

export const labelMax = 100

/** Puts a message of the assistant into the conversation, without a run. */
const InjectCommand = z.strictObject({
  type: z.literal('inject').describe('put a message of the assistant into the conversation; no model is asked'),
  id: z.string().min(1).max(200).refine(isWhole, wholeOnly).describe('idempotency key'),
  text: messageText(textMax).min(1).describe('what the assistant is to have said'),
  label: z
    .string()
    .min(1)
    .max(labelMax)
    .refine(isWhole, wholeOnly)
    .optional()
    .describe('where it comes from, as people are shown it; the model is not told'),
})

/** Asks something beside the conversation. */
const SideCommand = z.strictObject({
  type: z.literal('side').describe('ask something beside the conversation: answered from it while its turn goes on, and no part of it'),
  id: z.string().min(1).max(200).refine(isWhole, wholeOnly).describe('idempotency key'),
  text: messageText(sideTextMax).min(1).describe('the question'),
  model: z.string().min(1).max(200).optional().describe('another model for this question'),
})

export const besideCommands = [InjectCommand, SideCommand] as const

/** Runs are named by their messages, and what was put in by its key. */
export const injectedRun = (key: string): string => `inject-${key}`

/** What the effect that answers a side question is given, and what it gives. Times are ms since the epoch. */
export type SideInput = { session: string; id: string; text: string; profile: Profile }
export type SideOutput = {
  kind: 'side'
  id: string
  text: string
  model: string
  usage: Usage
  costUsd?: number
  endedAt: number
  durationMs: number
}

/** How a side question ended, as its session hears it. */
export type SideReport = { type: 'side.ended'; id: string; question: string } & (
  | { status: 'completed'; answer: SideOutput }
  | { status: 'failed' | 'cancelled'; error: ErrorBody }
)

export type BesideOutput =
  /** It is part of the conversation now; of what came during a turn this is said when the turn has ended. */
  | { type: 'injected'; runId: string }
  /** The answer to a side question, whose id is `runId`, or what a tool of a run has come upon. No part of the conversation. */
  | { type: 'side_result'; kind: 'btw'; runId: string; callId?: string; question?: string; text: string; isError: boolean }
