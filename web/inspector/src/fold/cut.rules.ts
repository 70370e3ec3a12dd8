/** Long texts are cut before they leave the worker; all of one is asked for by where it stands. */
import type { CutText } from './protocol.ts'

type Place = readonly (string | number)[]

/** Errors become their name and message, bytes their number: what is handed over is plain. */
export const cutTexts = (value: unknown, textMax: number, at: Place = []): unknown => {
  if (typeof value === 'string')
    return value.length > textMax ? ({ cut: value.slice(0, textMax).toWellFormed(), length: value.length, at } satisfies CutText) : value
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? `${value}n` : value
  if (Array.isArray(value)) return value.map((part, index) => cutTexts(part, textMax, [...at, index]))
  if (value instanceof Uint8Array) return { bytes: value.byteLength }
  if (value instanceof Date) return String(value.toJSON())
  const own = value instanceof Error ? { ...Object.fromEntries(Object.entries(value)), name: value.name, message: value.message } : value
  return Object.fromEntries(Object.entries(own).map(([key, part]) => [key, cutTexts(part, textMax, [...at, key])]))
}

export const isCut = (value: unknown): value is CutText =>
  typeof value === 'object' && value !== null && 'cut' in value && 'length' in value && 'at' in value && Array.isArray(value.at)

export const textAt = (value: unknown, at: Place): string => {
  let found = value
  for (const key of at) found = typeof found === 'object' && found !== null ? (found as Record<string | number, unknown>)[key] : undefined
  return typeof found === 'string' ? found : ''
}
