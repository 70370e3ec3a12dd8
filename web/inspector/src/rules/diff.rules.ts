/** What is different between two moments of a context. */
import { isRecord } from '../../../../src/contracts/record.rules.ts'

export type Difference = { sign: '+' | '≠' | '−'; path: string; before?: unknown; after?: unknown }

/** In the order of the later one. What is nested is gone into as long as both are of the same kind. @param max so many, and one more to tell that there are more */
export const differences = (before: unknown, after: unknown, max = 60): Difference[] => {
  const found: Difference[] = []
  walk(before, after, '', found, max)
  return found
}

const walk = (before: unknown, after: unknown, path: string, found: Difference[], max: number): void => {
  if (found.length > max || Object.is(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    const common = Math.min(before.length, after.length)
    for (let index = 0; index < common && found.length <= max; index++) walk(before[index], after[index], `${path}[${index}]`, found, max)
    for (let index = common; index < after.length && found.length <= max; index++)
      found.push({ sign: '+', path: `${path}[${index}]`, after: after[index] })
    for (let index = common; index < before.length && found.length <= max; index++)
      found.push({ sign: '−', path: `${path}[${index}]`, before: before[index] })
    return
  }
  if (isRecord(before) && isRecord(after)) {
    const joined = (key: string) => (path === '' ? key : `${path}.${key}`)
    for (const [key, value] of Object.entries(after)) {
      if (found.length > max) return
      if (!Object.hasOwn(before, key)) found.push({ sign: '+', path: joined(key), after: value })
      else walk(before[key], value, joined(key), found, max)
    }
    for (const [key, value] of Object.entries(before))
      if (!Object.hasOwn(after, key) && found.length <= max) found.push({ sign: '−', path: joined(key), before: value })
    return
  }
  if (before === undefined && after !== undefined) found.push({ sign: '+', path: path || 'all', after })
  else if (after === undefined) found.push({ sign: '−', path: path || 'all', before })
  else found.push({ sign: '≠', path: path || 'all', before, after })
}

/** A value in a line, as it would be written in a program. */
export const valueWords = (value: unknown, max = 90): string => {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, max * 2)) : compact(value, max * 2)
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text
}

const compact = (value: unknown, room: number): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (typeof value !== 'object' || value === null) return String(value)
  let text = ''
  const parts = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, part] of parts) {
    if (text.length > room) break
    text += `${text === '' ? '' : ', '}${Array.isArray(value) ? '' : `${key}: `}${compact(part, room - text.length)}`
  }
  return Array.isArray(value) ? `[${text}]` : text === '' ? '{}' : `{ ${text} }`
}
