/** What a user or an operator may choose for a conversation: by a directive in a message, for a session, for an agent. */
import { z } from 'zod'

/** What becomes of a message that arrives while a turn is running. */
export const QueueMode = z.enum(['steer', 'followup', 'collect', 'steer-backlog', 'interrupt'])
export type QueueMode = z.infer<typeof QueueMode>

/** What becomes of messages that wait when there are too many of them. */
export const DropPolicy = z.enum(['new', 'old', 'summarize'])
export type DropPolicy = z.infer<typeof DropPolicy>

export const ThinkingLevel = z.enum(['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'adaptive'])
export type ThinkingLevel = z.infer<typeof ThinkingLevel>

/** How much is told about tools: nothing, that one starts, also what came of it. */
export const VerboseLevel = z.enum(['off', 'on', 'full'])
export type VerboseLevel = z.infer<typeof VerboseLevel>

/** Whether the reasoning of a model is shown: not at all, as a message of its own, live. */
export const ReasoningVisibility = z.enum(['off', 'on', 'stream'])
export type ReasoningVisibility = z.infer<typeof ReasoningVisibility>

/** The line below an answer that says what it cost. */
export const UsageMode = z.enum(['off', 'tokens', 'full'])
export type UsageMode = z.infer<typeof UsageMode>

/** Nobody waits for more than a day until somebody has done writing. */
export const debounceMsMax = 86_400_000

/** The settings that a session keeps for its users; a setting that is not there follows the agent. */
export const Toggles = z.strictObject({
  /** What its users call the conversation. */
  title: z
    .string()
    .min(1)
    .max(200)
    .refine((text) => text.trim() !== '' && text.isWellFormed(), 'must have words')
    .optional(),
  model: z.string().min(1).max(200).optional(),
  /** The one credential of its provider that may be used. */
  credential: z.string().min(1).max(200).optional(),
  thinking: ThinkingLevel.optional(),
  verbose: VerboseLevel.optional(),
  reasoning: ReasoningVisibility.optional(),
  /** Kept and shown, as OpenClaw does; no tool of ours acts on it. */
  elevated: z.enum(['off', 'on', 'ask', 'full']).optional(),
  usage: UsageMode.optional(),
  send: z.enum(['on', 'off']).optional(),
  /** Which messages of a group are for us. */
  activation: z.enum(['mention', 'always']).optional(),
  queueMode: QueueMode.optional(),
  debounceMs: z.number().int().min(0).max(debounceMsMax).optional(),
  queueCap: z.number().int().min(1).max(100).optional(),
  queueDrop: DropPolicy.optional(),
})
export type Toggles = z.infer<typeof Toggles>

type Nullable<Shape extends Record<string, z.ZodType>> = { [Name in keyof Shape]: z.ZodNullable<Shape[Name]> }
/** Null removes a setting. */
export const ToggleChanges = z.strictObject({
  ...(Object.fromEntries(Object.entries(Toggles.shape).map(([name, field]) => [name, field.nullable()])) as Nullable<typeof Toggles.shape>),
  /** Only taken back here: it is given with a decision about a call. */
  allowedTools: z.null().optional().describe('takes back that calls of some tools need no further approval'),
})
export type ToggleChanges = z.infer<typeof ToggleChanges>
