/** What a model call costs. */
import type { Usage } from '../../contracts/message.ts'
import type { Price } from '../../contracts/model.ts'

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
