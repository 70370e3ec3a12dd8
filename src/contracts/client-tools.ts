/** Tools that a client runs itself: it brings them with a message, and a call of one ends the run until it gives the result. */
import { z } from 'zod'

export const ClientTool = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .describe('a tool of the agent with the same name is taken instead'),
  description: z.string().max(4000).default('').describe('when to use it, for the model'),
  inputSchema: z.record(z.string(), z.unknown()).default({}).describe('JSON Schema of its input, an object'),
})
export type ClientTool = z.infer<typeof ClientTool>
export const ClientTools = z.array(ClientTool).max(128)

// Older versions of zod have no name for what is JSON, which our types would have to say.
const Json: z.ZodType<unknown> = z.json()

export const ClientResult = z.strictObject({
  callId: z.string().min(1).max(4000).describe('of the call, as `pendingCalls` has it'),
  output: Json.describe('what came of it'),
  isError: z.boolean().optional(),
})
export type ClientResult = z.infer<typeof ClientResult>
export const ClientResults = z.array(ClientResult).min(1).max(1000)

/** A call that waits for its client. `callId` is ours, `modelCallId` that of the model. */
export type PendingCall = { callId: string; modelCallId: string; name: string; input: unknown }
