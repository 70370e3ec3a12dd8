/** How an answer is delivered, out of what its message, account, channel and agent want (OC-58, 60, 68). */

import { type Channel, type Delivery, deliveryDefaults, type FullDelivery, type TypingMode } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Origin } from '../../contracts/reply.ts'

/**
 * @property origin where the message came from, and which of our accounts
 * @property agent what its agent wants @property call what is wanted for this message alone
 * @property typingMs ms between two signs of typing where nobody says something else
 * @property heartbeat nobody asked: no typing, and nothing is sent before it is known whether there is anything to tell
 */
type DeliveryWishes = { origin?: Origin; agent?: Delivery; call?: Delivery; heartbeat?: boolean; typingMs?: number }

/** For each setting the first that has it of call, account, channel, agent and adapter. Only what differs from the defaults is in the result. */
export const resolveDelivery = (channel: Channel, { origin, agent, call, heartbeat = false, typingMs }: DeliveryWishes = {}): Delivery => {
  const account = origin?.account
  const { accounts = {} } = channel
  const ofAccount = account !== undefined && Object.hasOwn(accounts, account) ? accounts[account] : undefined
  const layers = [
    call,
    ofAccount,
    channel.settings,
    agent,
    channel.blocks,
    typingMs === undefined ? undefined : { typing: { everyMs: typingMs } },
  ].filter((layer) => layer !== undefined)
  const wanted = merged(layers)
  const full = deliveryDefaults({
    ...wanted,
    streaming: !heartbeat && (wanted.streaming ?? false),
    replyTo: wanted.replyTo ?? (origin && channel.replyTo?.(origin)) ?? 'all',
    tagsWhenOff: wanted.tagsWhenOff ?? channel.tagsWhenOff ?? false,
    typing: { ...wanted.typing, mode: heartbeat ? 'never' : (wanted.typing?.mode ?? typingDefault(origin)) },
  })
  return lean(limited(full, channel.textMax))
}

/** Who writes to us alone, or names us, sees at once that we are at it; others only when there is something to say. */
const typingDefault = ({ chatType = 'direct', mentioned = false }: Partial<Origin> = {}): TypingMode =>
  chatType === 'direct' || mentioned ? 'instant' : 'message'

/** Settings in groups are merged one by one. */
const merged = (layers: Delivery[]): Delivery => {
  const all: Delivery = {}
  for (const layer of layers.toReversed()) {
    const { coalesce, typing, tokens, ...rest } = layer
    Object.assign(all, definedOf(rest))
    if (coalesce) all.coalesce = { ...all.coalesce, ...definedOf(coalesce) }
    if (typing) all.typing = { ...all.typing, ...definedOf(typing) }
    if (tokens) all.tokens = { ...all.tokens, ...definedOf(tokens) }
  }
  return all
}

/** No block is longer than the channel takes. */
export const limited = (full: FullDelivery, textMax: number): FullDelivery => {
  const max = Math.min(full.max, textMax)
  const maxChars = Math.min(full.coalesce.maxChars, textMax)
  const coalesce = { ...full.coalesce, maxChars, minChars: Math.min(full.coalesce.minChars, maxChars) }
  return { ...full, max, min: Math.min(full.min, max), coalesce }
}

/** What has to be said about blocks only where there are any. */
const ofBlocks: readonly string[] = ['boundary', 'min', 'max', 'coalesce', 'pacing'] satisfies (keyof Delivery)[]

const lean = (full: FullDelivery): Delivery => {
  const { min, max } = full
  const defaults = { ...deliveryDefaults({ min, max }), ...(({ min, max }) => ({ min, max }))(deliveryDefaults()) }
  const differing = difference(full, defaults)
  return full.streaming ? differing : Object.fromEntries(Object.entries(differing).filter(([name]) => !ofBlocks.includes(name)))
}

const difference = (value: object, from: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, own]): [string, unknown][] => {
      const other = (from as Record<string, unknown>)[name]
      if (typeof own !== 'object' || typeof other !== 'object') return own === other ? [] : [[name, own]]
      const inner = difference(own as object, other as object)
      return Object.keys(inner).length === 0 ? [] : [[name, inner]]
    }),
  )
