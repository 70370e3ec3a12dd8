/** A store that may be anybody's: whatever it throws comes as STORE_FAILED, as the contract says. */
import { failed } from './keys.ts'
import type { CheckpointStore } from './store.ts'

const required = [
  'load',
  'rows',
  'save',
  'record',
  'lock',
  'unlock',
  'setSummarizedThrough',
  'delete',
  'schema',
] as const satisfies (keyof CheckpointStore)[]
const optional = ['replace', 'list', 'prune'] as const satisfies (keyof CheckpointStore)[]

/** Whether something can be used as a store of sessions. */
export const isCheckpointStore = (value: unknown): value is CheckpointStore =>
  typeof value === 'object' && value !== null && required.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')

/** What it cannot do, it still cannot. */
export const guardedStore = (store: CheckpointStore): CheckpointStore => {
  const made: Record<string, unknown> = { schema: () => store.schema() }
  for (const method of [...required, ...optional])
    if (method !== 'schema' && store[method])
      made[method] = async (...given: unknown[]): Promise<unknown> => {
        try {
          return await (store[method] as (...given: unknown[]) => unknown)(...given)
        } catch (thrown) {
          return failed(thrown)
        }
      }
  return made as unknown as CheckpointStore
}
