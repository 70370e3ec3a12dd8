/** Numbers and times as people read them. */
import type { Answer } from '../model.ts'

export const clockOf = (at: number): string => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })

const day = (at: number): string => new Date(at).toDateString()

/** In a list: the time today, then the day of the week, then the date. */
export const whenOf = (at: number, now: number): string => {
  if (Math.abs(now - at) < 60_000) return 'now'
  if (day(at) === day(now)) return clockOf(at)
  if (now - at < 6 * 86_400_000) return new Date(at).toLocaleDateString('en-GB', { weekday: 'short' })
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
}

export const isToday = (at: number, now: number): boolean => day(at) === day(now)

/** `12 ms`, `3.1 s`, `31 s`, `4 min`. */
export const spanOf = (ms: number): string => {
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${Number((ms / 1000).toFixed(1))} s`
  if (ms < 119_500) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return `${Math.round(ms / 3_600_000)} h`
}

/** `812`, `12.4k`, `200k`. */
export const countOf = (count: number): string => {
  if (count < 1000) return String(count)
  if (count < 99_950) return `${Number((count / 1000).toFixed(1))}k`
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${Number((count / 1_000_000).toFixed(1))}M`
}

export const costOf = (usd: number): string => {
  if (usd === 0) return 'free'
  return usd < 0.1 ? `$${Number(usd.toPrecision(2))}` : `$${usd.toFixed(2)}`
}

/** Not put in, and not what a command answers. */
export const isFromModel = ({ blocks, injected }: Answer): boolean => !injected && !blocks.some((block) => block.type === 'text' && block.lines)

/** What an answer took: `claude-sonnet-4-5 · 12.4k in, 1.1k out · $0.043 · 18 s`. Nothing, where no model was asked. */
export const useOf = ({ blocks, model, usage, costUsd, durationMs }: Answer): string =>
  [
    blocks.some((block) => block.type === 'text' && block.lines) ? undefined : model?.replace(/^[^/]*\//, ''),
    usage && usage.inputTokens + usage.outputTokens > 0 ? `${countOf(usage.inputTokens)} in, ${countOf(usage.outputTokens)} out` : undefined,
    costUsd === undefined ? undefined : costOf(costUsd),
    durationMs === undefined ? undefined : spanOf(durationMs),
  ]
    .filter((part) => part !== undefined)
    .join(' · ')

/** Of arguments, as much as says in a line what a call is about. */
export const gistOf = (input: unknown): string => {
  if (input === undefined || input === null) return ''
  if (typeof input !== 'object') return oneLine(plainOf(input))
  const entries = Object.entries(input)
  if (entries.length === 1) return oneLine(plainOf(entries[0]?.[1]))
  return oneLine(entries.map(([name, value]) => `${name}: ${plainOf(value)}`).join(', '))
}

const oneLine = (text: string): string => {
  const line = text.slice(0, 400).replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}

const plainOf = (value: unknown): string => (typeof value === 'string' ? value : jsonOf(value))

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'undefined'

/** A result as text: what is text stays as it is, everything else is indented JSON. */
export const resultOf = (value: unknown): string => (typeof value === 'string' ? value : indented(value))

/** In one line where it fits. */
const indented = (value: unknown): string => {
  const text = JSON.stringify(value, null, 2) ?? ''
  const line = text.replace(/\n\s*/g, ' ')
  return line.length <= 80 ? line : text
}

/** Arguments, one a row; what is not named is one row. */
export const rowsOf = (input: unknown): [name: string, value: string][] => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [['input', jsonOf(input)]]
  return Object.entries(input).map(([name, value]) => [name, jsonOf(value)])
}
