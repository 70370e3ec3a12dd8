/** What happens in a session beside its turns: something is put into its conversation. */
import { z } from 'zod'
import { isWhole, textMax, wholeOnly } from './text.ts'

export const labelMax = 100

/** Puts a message of the assistant into the conversation, without a run. */
export const InjectCommand = z.strictObject({
  type: z.literal('inject').describe('put a message of the assistant into the conversation; no model is asked'),
  id: z.string().min(1).max(200).refine(isWhole, wholeOnly).describe('idempotency key'),
  text: z.string().min(1).max(textMax).refine(isWhole, wholeOnly).describe('what the assistant is to have said'),
  label: z
    .string()
    .min(1)
    .max(labelMax)
    .refine(isWhole, wholeOnly)
    .optional()
    .describe('where it comes from, as people are shown it; the model is not told'),
})

/** Runs are named by their messages, and what was put in by its key. */
export const injectedRun = (key: string): string => `inject-${key}`

export type BesideOutput =
  /** It is part of the conversation now; of what came during a turn this is said when the turn has ended. */
  { type: 'injected'; runId: string }
