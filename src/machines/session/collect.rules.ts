/** What becomes of messages that arrive while a turn is running: settings, what is left of dropped ones, and several put into one prompt. */

import { parseDuration } from '../../chat/directives/durations.rules.ts'
import type { Route } from '../../contracts/reply.ts'
import { DropPolicy, QueueMode } from '../../contracts/settings.ts'

type QueueSettings = {
  mode: QueueMode
  /** How long nothing may have arrived before the queue is emptied. */
  debounceMs: number
  /** Messages that may wait. */
  cap: number
  /** When the queue is full: `new` refuses what arrives, `old` drops the oldest, `summarize` does so and keeps a line of it. */
  drop: DropPolicy
}

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

const lineMax = 160

/** A text as one line of at most 160 UTF-16 units, well-formed whatever it was. */
export const summaryLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= lineMax) return line.toWellFormed()
  // A pair that the cut goes through is left out as a whole.
  const cut = line.slice(0, lineMax - 1).replace(/[\uD800-\uDBFF]$/, '')
  return `${cut.trimEnd()}…`.toWellFormed()
}

/** How many messages were dropped, and what is left of them. @returns '' when none were */
export const overflowText = (count: number, lines: readonly string[]): string => {
  if (count < 1) return ''
  const kept = lines.filter((line) => line !== '')
  const head = `The queue was full: ${count} ${count === 1 ? 'message was' : 'messages were'} left out`
  return kept.length === 0 ? `${head}.` : [`${head}. In short:`, ...kept.map((line) => `- ${line}`)].join('\n')
}

/** All that waits as one prompt, in order of arrival, after a word about what was dropped. */
export const collectText = ({ items, dropped }: { items: readonly string[]; dropped?: { count: number; lines: readonly string[] } }): string => {
  const overflow = dropped ? overflowText(dropped.count, dropped.lines) : ''
  const numbered = items.map((item, index) => `Message ${index + 1}:\n${item}`)
  const heading = items.length === 0 ? [] : ['These messages came in while you were busy, oldest first.']
  return [...heading, ...(overflow === '' ? [] : [overflow]), ...numbered].join('\n\n')
}

/** Whether answers go to the same place; what has no route goes where all that has none goes. */
export const sameRoute = (a: Route | undefined, b: Route | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.channel === b.channel && a.account === b.account && a.to === b.to && a.thread === b.thread

/** Whether messages may become one prompt: all have one route, or none has any. @param routable channels that can be written to; default: all */
export const collectable = (routes: readonly (Route | undefined)[], routable?: readonly string[]): boolean =>
  routes.every((route) => sameRoute(route, routes[0]) && (route === undefined || routable === undefined || routable.includes(route.channel)))
