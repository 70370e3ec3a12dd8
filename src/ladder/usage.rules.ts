/** What runs have used: tokens, and what they cost where a price is known. Pure. */
import type { Usage } from '../index.ts'
import type { LadderUsage } from './envelope.ts'

export const noUsage: LadderUsage = { input: 0, output: 0, total: 0 }

/** @param costUsd null where no price is known */
export const usageOf = (
  { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, cacheWriteTokens }: Usage,
  costUsd: number | null,
): LadderUsage => ({
  input: inputTokens,
  output: outputTokens,
  total: inputTokens + outputTokens,
  ...(cachedInputTokens > 0 && { cachedTokens: cachedInputTokens }),
  ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  ...(reasoningTokens > 0 && { reasoningTokens }),
  ...(costUsd !== null && { costUsd }),
})

const kinds = ['input', 'output', 'total', 'cachedTokens', 'cacheWriteTokens', 'reasoningTokens', 'costUsd'] as const

/** What has no price takes nothing from what has one. */
export const together = (...all: readonly LadderUsage[]): LadderUsage => {
  const sum = { ...noUsage }
  for (const kind of kinds) for (const one of all) if (one[kind] !== undefined) sum[kind] = (sum[kind] ?? 0) + one[kind]
  return sum
}
