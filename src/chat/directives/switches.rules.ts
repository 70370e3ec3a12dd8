/** The switches of a conversation and the words that people use for their positions. */

import { ReasoningVisibility, ThinkingLevel, UsageMode, VerboseLevel } from '../../contracts/settings.ts'

/** Whether tools may leave the sandbox: no, yes, after a question, without any. */
const elevatedLevels = ['off', 'on', 'ask', 'full'] as const
export type ElevatedLevel = (typeof elevatedLevels)[number]

/** Whether a session may be written to; `inherit` leaves that to the rules. */
const sendPolicies = ['on', 'off', 'inherit'] as const
export type SendPolicy = (typeof sendPolicies)[number]

const no = ['no', 'none', 'false', 'disable', 'disabled', '0']
const yes = ['yes', 'true', 'enable', 'enabled', '1']

/** Case, hyphens and underscores make no difference: `Think-Hard` is `thinkhard`. */
const plain = (word: string) => word.trim().toLowerCase().replace(/[-_]/g, '')

const vocabulary = <Value extends string>(values: readonly Value[], aliases: { [Key in Value]?: string[] }) => {
  const known = new Map<string, Value>()
  for (const value of values) for (const word of [value, ...(aliases[value] ?? [])]) known.set(word, value)
  return (word: string): Value | undefined => known.get(plain(word))
}

/** Each of these reads one word: a position or an alias of it; undefined for any other. */
export const thinkingLevel = vocabulary(ThinkingLevel.options, {
  off: no,
  minimal: ['min', 'think'],
  low: ['on', ...yes, 'hard', 'thinkhard'],
  medium: ['med', 'mid', 'harder', 'thinkharder'],
  high: ['max', 'maximum', 'highest', 'hardest', 'thinkhardest', 'ultra', 'ultrathink'],
  xhigh: ['extrahigh'],
  adaptive: ['auto'],
})

export const verboseLevel = vocabulary(VerboseLevel.options, { off: no, on: [...yes, 'minimal'], full: ['all', 'everything'] })

export const reasoningVisibility = vocabulary(ReasoningVisibility.options, {
  off: [...no, 'hide', 'hidden'],
  on: [...yes, 'show', 'visible'],
  stream: ['streaming', 'live'],
})

export const elevatedLevel = vocabulary(elevatedLevels, {
  off: no,
  on: yes,
  ask: ['prompt', 'approve', 'approval'],
  full: ['auto', 'autoapprove', 'bypass'],
})

export const usageMode = vocabulary(UsageMode.options, { off: no, tokens: ['on', ...yes, 'token', 'minimal', 'min'], full: ['session'] })

export const sendPolicy = vocabulary(sendPolicies, {
  on: [...yes, 'allow'],
  off: [...no, 'deny'],
  inherit: ['default', 'reset', 'clear'],
})

/** What `/usage` without an argument turns to: off, tokens, full, and off again. */
export const nextUsageMode = (current: UsageMode = 'off'): UsageMode =>
  UsageMode.options[(UsageMode.options.indexOf(current) + 1) % UsageMode.options.length] ?? 'off'
