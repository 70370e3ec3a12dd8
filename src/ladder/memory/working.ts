/** The newest things that were remembered in this process. */
import type { MemoryHit } from './memory-store.ts'
import { recencyOf } from './scoring.rules.ts'

type Item = { id: string; text: string; scope: string | undefined; at: number }

export const workingTier = (maxItems: number) => {
  /** In the order in which they were remembered. */
  const items = new Map<string, Item>()
  return {
    remember(item: Item): void {
      const key = JSON.stringify([item.scope ?? null, item.id])
      items.delete(key)
      items.set(key, item)
      const [oldest] = items.keys()
      if (items.size > maxItems && oldest !== undefined) items.delete(oldest)
    },
    recall({ scope, k, threshold }: { scope: string | undefined; k: number; threshold: number }): MemoryHit[] {
      const own = [...items.values()].filter((item) => item.scope === scope).toReversed()
      const hits = own.map(({ id, text, at }, place): MemoryHit => ({ id, text, score: recencyOf(place, own.length), tier: 'working', at }))
      return hits.filter(({ score }) => score >= threshold).slice(0, k)
    },
    clear(): void {
      items.clear()
    },
  }
}
