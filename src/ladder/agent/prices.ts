/** What calls of models cost, as an author says it. */
import { LadderError } from '../errors.ts'
import { anything, type KindsOf, optionsIn } from '../given.ts'
import type { Price, Prices } from '../usage.rules.ts'

export type PriceOptions = {
  /** What a model of it costs. Default: what the runtime knows of its model, and then `cost` has a `total` alone. */
  price?: Price
  /** The same by the reference of the model that has answered, such as one of its fallbacks. */
  prices?: Readonly<Record<string, Price>>
}

/** @throws LadderError LADDER_CONFIG for what is no price */
export const checkedPrices = (agent: string, { price, prices }: PriceOptions): Prices | undefined => {
  for (const [of, one] of [...(price === undefined ? [] : [['price', price] as const]), ...Object.entries(prices ?? {})]) checkPrice(agent, of, one)
  return price === undefined && prices === undefined ? undefined : { ...(price && { price }), ...(prices && { prices }) }
}

const required = ['input', 'output'] as const
const kinds: KindsOf<Price> = { input: anything, output: anything, cachedInput: anything, cacheWrite: anything }
const all = [...required, 'cachedInput', 'cacheWrite'] as const

const checkPrice = (agent: string, of: string, price: Price): void => {
  const isObject = typeof price === 'object' && price !== null
  if (isObject) optionsIn(price, kinds, { who: `the price '${of}' of '${agent}'`, code: 'LADDER_CONFIG', context: { agent } })
  const wrong = isObject ? all.find((channel) => price[channel] !== undefined && !isAmount(price[channel])) : undefined
  const missing = isObject ? required.find((channel) => price[channel] === undefined) : 'input'
  if (wrong === undefined && missing === undefined) return
  throw new LadderError('LADDER_CONFIG', `the price '${of}' of '${agent}' has no usable ${wrong ?? missing}`, {
    hint: 'write USD for a million tokens: price: { input: 3, output: 15, cachedInput: 0.3 }',
    context: { agent },
  })
}

const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0
