/** A store that may be anybody's: whatever it throws, and what it gives that is none of what the contract says, comes as STORE_FAILED. */
import { LadderError } from '../errors.ts'
import { isRecord, shown } from '../given.ts'
import { answered } from './answered.ts'
import { failed } from './keys.ts'
import type { CheckpointRow, CheckpointStore, SessionRecord } from './store.ts'

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
          return read(method, await answered(`${method}()`, () => (store[method] as (...given: unknown[]) => unknown)(...given)))
        } catch (thrown) {
          return failed(thrown)
        }
      }
  return made as unknown as CheckpointStore
}

const isRow = (given: unknown): boolean => {
  if (!isRecord(given)) return false
  const { turn_index, signature } = given as Partial<CheckpointRow>
  return Number.isSafeInteger(turn_index) && typeof signature === 'string'
}
const isText = (given: unknown): boolean => typeof given === 'string'
const isRecordOf = (given: unknown): boolean => isRecord(given) && 'lock' in (given as Partial<SessionRecord>)
const listOf =
  (is: (given: unknown) => boolean) =>
  (given: unknown): boolean =>
    Array.isArray(given) && given.every(is)

/** By the method: what it has to give, and that in words. A session that is not there is undefined; many databases say null. */
const gives: Partial<Record<keyof CheckpointStore, [(given: unknown) => boolean, string]>> = {
  load: [(given) => given === undefined || isRow(given), 'the newest row, with its turn_index and signature, or undefined'],
  rows: [listOf(isRow), 'a list of rows'],
  list: [listOf(isText), 'a list of ids'],
  record: [isRecordOf, '{ summarizedThrough, lock }'],
}

const read = (method: keyof CheckpointStore, said: unknown): unknown => {
  const given = method === 'load' ? (said ?? undefined) : said
  const [is, words] = gives[method] ?? []
  if (!is || is(given)) return given
  throw new LadderError('STORE_FAILED', `${method}() of the store gave ${shown(given)}`, { hint: `it gives ${words}` })
}
