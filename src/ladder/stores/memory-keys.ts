/** Keys in the memory of this process. */
import type { Keys } from './keys.ts'

export const memoryKeys = (): Keys => {
  const entries = new Map<string, { value: string; revision: number }>()
  let last = 0
  const isExpected = (key: string, expected: number | undefined): boolean => expected === undefined || (entries.get(key)?.revision ?? 0) === expected
  return {
    get: async (key) => entries.get(key),
    async put(key, value, { expected } = {}) {
      if (!isExpected(key, expected)) return undefined
      last += 1
      entries.set(key, { value, revision: last })
      return last
    },
    delete: async (key, { expected } = {}) => isExpected(key, expected) && entries.delete(key),
    list: async (prefix) =>
      [...entries].flatMap(([key, entry]) => (key.startsWith(prefix) ? [{ key, ...entry }] : [])).toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  }
}
