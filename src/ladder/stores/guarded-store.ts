/** A store that may be anybody's: whatever it throws comes as STORE_FAILED, as the contract says; so does what is none of what it has to give, and that it gives no answer. */
import { LadderError } from '../errors.ts'
import { isRecord, shown } from '../given.ts'
import { inTime, type Timer, unanswered } from '../in-time.ts'
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

/** What a session waits for in the middle of a turn. What else is asked takes as long as there is much to be read or dropped. */
const awaited: readonly string[] = ['load', 'save', 'prune', 'record', 'lock', 'unlock', 'setSummarizedThrough'] satisfies (keyof CheckpointStore)[]

const late = (method: string): LadderError =>
  new LadderError('STORE_FAILED', unanswered(`${method}() of the store`), {
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
          return read(method, await inTime(awaited.includes(method) ? timer : undefined, work, () => late(method)))
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
