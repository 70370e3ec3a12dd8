/** JSON with one spelling per value, so that a hash of it means the value. */
import { createHash } from 'node:crypto'

/** JSON with the keys of every object sorted by code unit, as RFC 8785 does. @param value plain JSON, at most 100 deep */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const record = value as Record<string, unknown>
  const members = Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`)
  return `{${members.join(',')}}`
}

/** SHA-256 of the canonical JSON, in hex. */
export const hashOf = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex')
