/** What a conversation is made of. Plain JSON, so that it can stand in a journal, on a subject and in a prompt. */
import { z } from 'zod'
import type { FileRef } from './file.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import type { References } from './references.ts'

/** What no call can have used: a provider that reports more has miscounted, and sums of it would be no numbers any more. */
export const tokensMax = 1_000_000_000

const tokens = z.number().int().min(0).max(tokensMax)

export const Usage = z
  .object({
    inputTokens: tokens.describe('tokens read, cached ones included'),
    outputTokens: tokens.describe('tokens written, reasoning included'),
    cachedInputTokens: tokens.default(0).describe('tokens read from the cache of the provider'),
    reasoningTokens: tokens.default(0).describe('tokens spent on reasoning'),
    cacheWriteTokens: tokens.default(0).describe('tokens read that the provider put into its cache'),
  })
  .strict()
export type Usage = z.infer<typeof Usage>

/** Tokens. `promptTokens` is all that was read, from caches and into them included. */
export type UsageKinds = { input: number; output: number; cacheRead: number; cacheWrite: number; promptTokens: number; total: number }

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: sum(a.inputTokens, b.inputTokens),
  outputTokens: sum(a.outputTokens, b.outputTokens),
  cachedInputTokens: sum(a.cachedInputTokens, b.cachedInputTokens),
  reasoningTokens: sum(a.reasoningTokens, b.reasoningTokens),
  // A snapshot of an earlier version has none.
  cacheWriteTokens: sum(a.cacheWriteTokens ?? 0, b.cacheWriteTokens ?? 0),
})

/** Journals of an earlier version may hold more than can be counted: `null` is what JSON would make of such a sum. */
const sum = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER)

/** A tool call as the model asked for it. `input` is the parsed JSON; when it could not be parsed, the raw text. */
type RequestedCall = { callId: string; name: string; input: unknown }

/** `before` and `after` are what the model is told around it, which its writer did not say. `files` are named, and stand elsewhere. */
export type UserMessage = {
  role: 'user'
  id: string
  text: string
  /** The words as they were typed, where some of them were directives: what people are shown in place of the text. */
  typed?: string
  before?: string
  after?: string
  files?: FileRef[]
}
/** What people are shown of it. */
export const typedText = ({ text, typed }: Pick<UserMessage, 'text' | 'typed'>): string => typed ?? text
export type AssistantMessage = {
  role: 'assistant'
  id: string
  text: string
  reasoning?: string
  calls: RequestedCall[]
  partial?: boolean
  /** What its provider wants back with it. */
  providerMetadata?: ProviderMetadata
  /** What its directives refer to, where its text may hold some. */
  references?: References
  /** No model has said it: it was put in. `label` tells people where it comes from. */
  injected?: true
  label?: string
}
export type ToolMessage = { role: 'tool'; callId: string; name: string; output: unknown; isError: boolean }
/** Stands for everything before it that compaction has put away. */
type SummaryMessage = { role: 'summary'; id: string; text: string }
export type Message = UserMessage | AssistantMessage | ToolMessage | SummaryMessage
