/** Any value as plain data for people and other programs: what a machine holds may be anything, and may not be changed by who looks. */
import { Actor } from 'xstate'
import { depthMax } from '../../contracts/plain.ts'

/** Characters of one text, and, about, of all that an actor holds. Default: nothing is cut. */
export type ShownSize = { textMax?: number | undefined; sizeMax?: number | undefined }

type ShownOptions = {
  /** Characters of one text; longer ones are cut, and say so. Default: none are. */
  textMax?: number | undefined
  /** Characters that are left for all of it, about; what does not fit is `…`, where it stands. Default: all fits. */
  room?: { left: number } | undefined
}

/**
 * Errors become their name and message, bytes their number, actors their id, expressions and addresses their text; functions, values deeper than
 * a journal allows and cycles are left out.
 */
export const shown = (value: unknown, { textMax = Number.POSITIVE_INFINITY, room }: ShownOptions = {}, above: readonly object[] = []): unknown => {
  if (room !== undefined) {
    if (room.left <= 0) return '…'
    // A number, a brace, a comma: what is small in itself can be many.
    room.left -= typeof value === 'string' ? Math.min(value.length, textMax) + 3 : 8
  }
  if (typeof value === 'string') return value.length > textMax ? `${value.slice(0, textMax).toWellFormed()}… (${value.length} characters)` : value
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) return '(circle)'
  if (above.length > depthMax) return '…'
  const around = [...above, value]
  const inner = (part: unknown) => shown(part, { textMax, room }, around)
  if (Array.isArray(value)) return room === undefined ? value.map(inner) : fitting(value, room, inner)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return { bytes: value.byteLength }
  if (value instanceof RegExp || value instanceof URL) return inner(String(value))
  if (value instanceof Error) return { name: value.name, message: inner(value.message), ...record(value, inner) }
  if (value instanceof Actor) return { actor: value.id }
  if (value instanceof Map || value instanceof Set) return [...value].map(inner)
  return record(value, inner, room)
}

/** As many as there is room for, and how many more there are. */
const fitting = (values: readonly unknown[], room: { left: number }, inner: (part: unknown) => unknown): unknown[] => {
  const copy: unknown[] = []
  for (const part of values) {
    if (room.left <= 0) return [...copy, `… (${values.length - copy.length} more)`]
    copy.push(inner(part))
  }
  return copy
}

const record = (value: object, inner: (part: unknown) => unknown, room?: { left: number }): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key]
    if (room !== undefined) {
      if (room.left <= 0) return { ...copy, '…': 'cut' }
      room.left -= key.length + 3
    }
    const one = key === '__proto__' ? undefined : inner(part)
    if (one !== undefined) copy[key] = one
  }
  return copy
}
