/** What people write behind `/queue`. */

import { DropPolicy, QueueMode } from '../../contracts/settings.ts'
import { parseDuration } from './durations.rules.ts'

type QueueSettings = {
  mode: QueueMode
  /** How long nothing may have arrived before the queue is emptied. */
  debounceMs: number
  /** Messages that may wait. */
  cap: number
  /** When the queue is full: `new` refuses what arrives, `old` drops the oldest, `summarize` does so and keeps a line of it. */
  drop: DropPolicy
}

/** Who writes `/queue` wants not to be left waiting: so `queue` itself stands for steering, as in OpenClaw (OC-07). */
const modeNames = new Map<string, QueueMode>([
  ...QueueMode.options.map((mode) => [mode, mode] as const),
  ['queue', 'steer'],
  ['queued', 'steer'],
  ['steering', 'steer'],
  ['coalesce', 'collect'],
  ['steer+backlog', 'steer-backlog'],
  ['abort', 'interrupt'],
])

/** The mode that goes by this name or alias; undefined when none does. */
export const queueMode = (name: string): QueueMode | undefined => modeNames.get(name.trim().toLowerCase())

export const dropPolicy = (name: string): DropPolicy | undefined => DropPolicy.options.find((policy) => policy === name.trim().toLowerCase())

/** What one word after `/queue` asks for. */
export type QueueWord = Partial<QueueSettings> & {
  /** The session's own settings are forgotten. */
  reset?: true
  /** A setting that exists, with a value that it cannot have. */
  invalid?: string
}

/** Reads `collect`, `debounce:2s`, `cap:25`, `drop:old` or `default`; undefined for a word that is none of them. A cap below 1 asks for nothing. */
export const queueWord = (word: string): QueueWord | undefined => {
  if (/^(?:default|reset)$/i.test(word)) return { reset: true }
  const mode = queueMode(word)
  if (mode) return { mode }
  const [, name, value] = /^(debounce|cap|drop)[:=](.*)$/is.exec(word) ?? []
  if (name === undefined || value === undefined) return undefined
  switch (name.toLowerCase()) {
    case 'debounce': {
      const debounceMs = parseDuration(value)
      return debounceMs === undefined ? { invalid: word } : { debounceMs }
    }
    case 'cap': {
      const cap = /^-?\d+(?:\.\d+)?$/.test(value) ? Math.floor(Number(value)) : Number.NaN
      if (!Number.isSafeInteger(cap)) return { invalid: word }
      return cap < 1 ? {} : { cap }
    }
    default: {
      const drop = dropPolicy(value)
      return drop ? { drop } : { invalid: word }
    }
  }
}
