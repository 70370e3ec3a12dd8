/** What runs have used: tokens, and what they cost where a price is known. Pure. */
import type { AskOutput, Usage } from '../index.ts'
import type { LadderCost, LadderUsage } from './envelope.ts'

/** US dollars for a million tokens. */
export type Price = {
  input: number
  output: number
  /** Those that the provider had in its cache. Default: as input. */
  cachedInput?: number
  /** Those that it put into its cache. Default: as input. */
  cacheWrite?: number
}

/** What runs of an agent are reckoned with: the price of a model by its reference, or else the one of any. */
export type Prices = { price?: Price; prices?: Readonly<Record<string, Price>> }

export const noUsage: LadderUsage = { input: 0, output: 0, total: 0 }

const usageOf = ({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens, cacheWriteTokens }: Usage, cost?: LadderCost): LadderUsage => ({
  input: inputTokens,
  output: outputTokens,
  total: inputTokens + outputTokens,
  ...(cachedInputTokens > 0 && { cachedTokens: cachedInputTokens }),
  ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  ...(reasoningTokens > 0 && { reasoningTokens }),
  ...(cost && { cost }),
})

/** What an agent has used. Without prices of its author, what the runtime knows of its model: a sum. */
export const spentBy = ({ usage, shares, costUsd }: Pick<AskOutput, 'usage' | 'shares' | 'costUsd'>, known: Prices = {}): LadderUsage => {
  const priced = Object.entries(shares).flatMap(([model, share]) => {
    const price = known.prices?.[model] ?? known.price
    return price ? [costOf(share, price)] : []
  })
  return usageOf(usage, priced.length > 0 ? costTogether(priced) : costUsd === null ? undefined : { total: costUsd })
}

const million = 1_000_000

const costOf = ({ inputTokens, outputTokens, cachedInputTokens: cachedTokens, cacheWriteTokens }: Usage, price: Price): LadderCost => {
  const { cachedInput = price.input, cacheWrite: writePrice = price.input } = price
  // Both are among those that were read; a provider whose numbers do not fit together is believed about its cache.
  const input = (Math.max(0, inputTokens - cachedTokens - cacheWriteTokens) * price.input) / million
  const output = (outputTokens * price.output) / million
  const cached = (cachedTokens * cachedInput) / million
  const cacheWrite = (cacheWriteTokens * writePrice) / million
  return {
    input,
    output,
    ...(cachedTokens > 0 && { cached }),
    ...(cacheWriteTokens > 0 && { cacheWrite }),
    total: input + output + cached + cacheWrite,
  }
}

const kinds = ['input', 'output', 'total', 'cachedTokens', 'cacheWriteTokens', 'reasoningTokens'] as const
const channels = ['input', 'output', 'cached', 'cacheWrite', 'total'] as const

/** What has no price takes nothing from what has one. */
export const together = (...all: readonly LadderUsage[]): LadderUsage => {
  const sum: LadderUsage = { ...noUsage }
  if (all.length === 0) return sum
  for (const kind of kinds) for (const one of all) if (one[kind] !== undefined) sum[kind] = (sum[kind] ?? 0) + one[kind]
  const costs = all.flatMap(({ cost }) => (cost ? [cost] : []))
  return costs.length === 0 ? sum : { ...sum, cost: costTogether(costs) }
}

const costTogether = (all: readonly LadderCost[]): LadderCost => {
  const sum: LadderCost = { total: 0 }
  for (const channel of channels) for (const one of all) if (one[channel] !== undefined) sum[channel] = (sum[channel] ?? 0) + one[channel]
  return sum
}
