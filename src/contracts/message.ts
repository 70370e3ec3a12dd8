/** What a conversation is made of. Plain JSON, so that it can stand in a journal, on a subject and in a prompt. */
import { z } from 'zod'

export const Usage = z
  .object({
    inputTokens: z.number().int().min(0).describe('tokens read, cached ones included'),
    outputTokens: z.number().int().min(0).describe('tokens written, reasoning included'),
    cachedInputTokens: z.number().int().min(0).default(0).describe('tokens read from the cache of the provider'),
    reasoningTokens: z.number().int().min(0).default(0).describe('tokens spent on reasoning'),
    cacheWriteTokens: z.number().int().min(0).default(0).describe('tokens read that the provider put into its cache'),
  })
  .strict()
export type Usage = z.infer<typeof Usage>

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  // A snapshot of an earlier version has none.
  cacheWriteTokens: (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0),
})

/** A tool call as the model asked for it. `input` is the parsed JSON; when it could not be parsed, the raw text. */
export type RequestedCall = { callId: string; name: string; input: unknown }

/** `before` is what the model is told ahead of it, which its writer did not say. */
export type UserMessage = { role: 'user'; id: string; text: string; before?: string }
export type AssistantMessage = { role: 'assistant'; id: string; text: string; reasoning?: string; calls: RequestedCall[]; partial?: boolean }
export type ToolMessage = { role: 'tool'; callId: string; name: string; output: unknown; isError: boolean }
/** Stands for everything before it that compaction has put away. */
export type SummaryMessage = { role: 'summary'; id: string; text: string }
export type Message = UserMessage | AssistantMessage | ToolMessage | SummaryMessage
