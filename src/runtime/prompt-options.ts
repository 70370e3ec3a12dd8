/** What a system prompt may have beside the instructions, as a schema. */
import { z } from 'zod'

const promptText = z.string().max(100_000)
export const PromptGroup = z
  .strictObject({
    identity: promptText,
    tools: promptText,
    files: z.array(z.string().min(1).max(500)).max(20),
    conversation: promptText,
    mode: z.enum(['full', 'minimal']),
  })
  .partial()
