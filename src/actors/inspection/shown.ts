/** Any value as plain data for people and other programs: what a machine holds may be anything, and may not be changed by who looks. */
import { Actor } from 'xstate'
import { depthMax } from '../../contracts/plain.ts'

type ShownOptions = {
  /** Characters of one text; longer ones are cut, and say so. Default: none are. */
  textMax?: number | undefined
}

/** Errors become their name and message, bytes their number, actors their id; functions and what is deeper than a journal may be are left out. */
export const shown = (value: unknown, { textMax = Number.POSITIVE_INFINITY }: ShownOptions = {}, depth = 0): unknown => {
  if (typeof value === 'string') return value.length > textMax ? `${value.slice(0, textMax).toWellFormed()}… (${value.length} characters)` : value
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  const inner = (part: unknown) => shown(part, { textMax }, depth + 1)
  if (depth > depthMax) return '…'
  if (Array.isArray(value)) return value.map(inner)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return { bytes: value.byteLength }
  if (value instanceof Error) return { name: value.name, message: inner(value.message), ...record(value, inner) }
  if (value instanceof Actor) return { actor: value.id }
  if (value instanceof Map || value instanceof Set) return [...value].map(inner)
  return record(value, inner)
}

const record = (value: object, inner: (part: unknown) => unknown): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value)) {
    const one = key === '__proto__' ? undefined : inner(part)
    if (one !== undefined) copy[key] = one
  }
  return copy
}
