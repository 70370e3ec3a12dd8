/** What a model call costs, and what is told of the tokens that somebody has used (OC-91). */
import { definedOf } from '../../contracts/defined.ts'
import type { Usage, UsageKinds } from '../../contracts/message.ts'
import type { Price } from '../../contracts/model.ts'
import { providerOf } from '../../contracts/model-ref.ts'
import type { SessionOutput } from '../../contracts/session.ts'

/** Tokens of one kind each: `input` was read and is in no cache, so that the four add up. `output` holds the reasoning. */
type TokenKinds = { input: number; output: number; cacheRead: number; cacheWrite: number }

/** Our usage counts the tokens of the cache as read, too: here they are taken out. */
export const kindsOf = (usage: Usage): TokenKinds => {
  const { inputTokens, outputTokens: output, cachedInputTokens: cacheRead } = usage
  // What was journalled by an earlier version has none.
  const cacheWrite = usage.cacheWriteTokens ?? 0
  // A provider whose numbers do not fit together is believed about the cache.
  return { input: Math.max(0, inputTokens - cacheRead - cacheWrite), output, cacheRead, cacheWrite }
}

const million = 1_000_000

/** @returns USD; undefined where the price is not known, which is not the same as nothing */
export const costOf = (usage: Usage, price: Price | undefined): number | undefined => {
  if (price === undefined) return undefined
  const { input, output, cacheRead, cacheWrite } = kindsOf(usage)
  const { cacheRead: readPrice = price.input, cacheWrite: writePrice = price.input } = price
  const cost = (input * price.input + output * price.output + cacheRead * readPrice + cacheWrite * writePrice) / million
  return Number.isFinite(cost) ? cost : undefined
}

/** @property at ms since the epoch @property window tokens that the model can read; 0 where unknown @property tokens of the conversation */
type Used = {
  runId: string
  session: string
  sessionId?: string | undefined
  channel?: string | undefined
  at: number
  model: string
  usage: Usage
  /** By model, where that is known. */
  shares?: Record<string, Usage>
  window: number
  tokens: number
  costUsd: number | null
  durationMs: number | null
  attempts: number
}

/** Nothing where nothing was used. */
export const usageEvents = ({
  sessionId,
  channel,
  model,
  usage,
  shares = {},
  window,
  tokens,
  costUsd,
  durationMs,
  ...rest
}: Used): SessionOutput[] => {
  if (usage.inputTokens + usage.outputTokens === 0) return []
  return [
    {
      type: 'usage',
      ...rest,
      ...definedOf({ sessionId: sessionId || undefined, channel }),
      provider: providerOf(model),
      model,
      usage: kinds(usage),
      ...definedOf({
        byModel: Object.keys(shares).length > 1 ? Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, kinds(share)])) : undefined,
        contextLimit: window > 0 ? window : undefined,
      }),
      contextUsed: tokens,
      ...definedOf({ costUsd: costUsd ?? undefined, durationMs: durationMs ?? undefined }),
    },
  ]
}

const kinds = (usage: Usage): UsageKinds => {
  const { input, output, cacheRead, cacheWrite } = kindsOf(usage)
  return { input, output, cacheRead, cacheWrite, promptTokens: usage.inputTokens, total: usage.inputTokens + usage.outputTokens }
}
