/** A store that may be anybody's: whatever it throws comes as STORE_FAILED, as the contract says, and so does that it gives no answer. */
import { LadderError } from '../errors.ts'
import { codeMaxMs, inTime, type Timer } from '../in-time.ts'
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

/** What a session waits for in the middle of a turn. What else is asked takes as long as there is much to be read or dropped. */
const awaited: readonly string[] = ['load', 'save', 'prune', 'record', 'lock', 'unlock', 'setSummarizedThrough'] satisfies (keyof CheckpointStore)[]

const late = (method: string): LadderError =>
  new LadderError('STORE_FAILED', `${method}() of the store has given no answer for ${codeMaxMs / 1000} seconds`, {
    hint:
      method === 'save'
        ? 'see whether the store can be reached, and whether the turn is in it'
        : 'see whether the store can be reached, and ask again',
  })

/** What it cannot do, it still cannot. @param timer where there is none, it has as long as it takes */
export const guardedStore = (store: CheckpointStore, timer?: Timer): CheckpointStore => {
  const made: Record<string, unknown> = { schema: () => store.schema() }
  for (const method of [...required, ...optional])
    if (method !== 'schema' && store[method])
      made[method] = async (...given: unknown[]): Promise<unknown> => {
        try {
          const work = async (): Promise<unknown> => (store[method] as (...given: unknown[]) => unknown)(...given)
          return await inTime(awaited.includes(method) ? timer : undefined, work, () => late(method))
        } catch (thrown) {
          return failed(thrown)
        }
      }
  return made as unknown as CheckpointStore
}
