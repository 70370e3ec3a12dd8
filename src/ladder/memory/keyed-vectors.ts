/** Vectors in keys, for a few hundred of them: each question reads all of its namespace. */
import type { Transport } from '../../index.ts'
import { LadderError } from '../errors.ts'
import { anything, count, optionsIn } from '../given.ts'
import { jsonIn, jsonText } from '../stores/json.ts'
import { checkedRegistry, guarded, inPortions, type Keys, part } from '../stores/keys.ts'
import { type RedisClient, type RedisOptions, redisKeys } from '../stores/redis-store.ts'
import { type Kept, nearest } from './similarity.rules.ts'
import { checkedCount, checkedVector, type VectorMetadata, type VectorStore } from './vectors.ts'

type Stored = { id: string; text: string; metadata: VectorMetadata; vector: string }
type Bounds = {
  /** In each namespace; one more is refused. Default: 1,000. */
  itemsMax?: number
}

/** In the registry of a runtime: in its data folder, or on the NATS server that its nodes share. @throws LadderError MEMORY_CONFIG */
export const registryVectors = (registry: Transport['registry'], bounds: Bounds = {}): VectorStore =>
  keyedVectors(checkedRegistry(registry, 'registryVectors'), bounds)

/** On a Redis server. @throws LadderError LADDER_CONFIG, MEMORY_CONFIG */
export const redisVectors = (client: RedisClient, options: RedisOptions & Bounds = {}): VectorStore => {
  const kinds = { prefix: anything, itemsMax: anything }
  const { itemsMax, ...more } = optionsIn<typeof options>(options, kinds, { who: 'redisVectors()', code: 'MEMORY_CONFIG' })
  return keyedVectors(redisKeys(client, more), itemsMax === undefined ? {} : { itemsMax })
}

const keyedVectors = (given: Keys, bounds: Bounds): VectorStore => {
  const { itemsMax = 1_000 } = optionsIn<Bounds>(bounds, { itemsMax: count(1) }, { who: 'what a store of vectors is given', code: 'MEMORY_CONFIG' })
  const keys = guarded(given)
  const root = (namespace: string): string => `ladder/vectors/${part(namespace, 100)}/`
  const keyOf = (namespace: string, id: string): string => `${root(namespace)}${part(id)}`
  return {
    async upsert(items, { namespace }) {
      const checked = items.map(({ id, text, metadata, vector }) => ({ id, text, metadata, vector: packed(checkedVector(vector)) }))
      for (const item of checked) {
        const key = keyOf(namespace, item.id)
        const isNew = (await keys.get(key)) === undefined
        if (isNew && (await keys.list(root(namespace))).length >= itemsMax)
          throw new LadderError('STORE_FAILED', `the namespace '${namespace}' has ${itemsMax} vectors already`, {
            hint: 'raise itemsMax, delete some, or keep them in a store for many: sqliteVectors, say',
            context: { namespace, itemsMax },
          })
        await keys.put(key, jsonText(item, 'the vector'))
      }
    },
    async query(vector, { k, namespace, filter = {} }) {
      const [asked, count] = [checkedVector(vector), checkedCount(k)]
      return nearest(
        (await keys.list(root(namespace))).map(({ value }) => unpacked(value)),
        asked,
        { k: count, filter },
      )
    },
    async delete(ids, { namespace }) {
      await inPortions(ids, async (id) => keys.delete(keyOf(namespace, id)))
    },
    async clear({ namespace }) {
      await inPortions(await keys.list(root(namespace)), ({ key }) => keys.delete(key))
    },
    schema: () => '',
  }
}

const packed = (vector: Float32Array<ArrayBuffer>): string => Buffer.from(vector.buffer).toString('base64')
const unpacked = (value: string): Kept => {
  const { vector, ...item } = jsonIn(value, 'a vector') as Stored
  return { ...item, vector: floatsIn(Buffer.from(vector, 'base64')) }
}

/** A copy: what a database or a decoder gives need not begin where floats may. */
export const floatsIn = (bytes: Uint8Array): Float32Array => new Float32Array(new Uint8Array(bytes).buffer)
