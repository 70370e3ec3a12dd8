/** What is another value than it was, by place. */
export type Change = { place: string; sign: '+' | '−' | '≠'; before: unknown; after: unknown }

const changesMax = 200
const isOpen = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Of objects and lists the parts that differ; a part that is there only once stands as a whole. */
export const changesOf = (before: unknown, after: unknown, place = '', found: Change[] = []): Change[] => {
  if (found.length >= changesMax || Object.is(before, after)) return found
  if (isOpen(before) && isOpen(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      changesOf(before[key], after[key], Array.isArray(after) ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`, found)
    return found
  }
  found.push({ place, sign: before === undefined ? '+' : after === undefined ? '−' : '≠', before, after })
  return found
}
