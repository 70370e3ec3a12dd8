/** Vectors in the memory of this process. */
import { type Kept, nearest } from './similarity.rules.ts'
import { checkedCount, checkedVector, type VectorStore } from './vectors.ts'

export const memoryVectors = (): VectorStore => {
  const namespaces = new Map<string, Map<string, Kept>>()
  return {
    async upsert(items, { namespace }) {
      const checked = items.map(({ id, text, metadata, vector }) => ({ id, text, metadata: { ...metadata }, vector: checkedVector(vector) }))
      const kept = namespaces.get(namespace) ?? new Map<string, Kept>()
      namespaces.set(namespace, kept)
      for (const item of checked) kept.set(item.id, item)
    },
    async query(vector, { k, namespace, filter = {} }) {
      return nearest(namespaces.get(namespace)?.values() ?? [], checkedVector(vector), { k: checkedCount(k), filter })
    },
    async delete(ids, { namespace }) {
      for (const id of ids) namespaces.get(namespace)?.delete(id)
    },
    async clear({ namespace }) {
      namespaces.delete(namespace)
    },
    schema: () => '',
  }
}
