/** What a run of a batch and one of its items remember, and how each thing that happens changes it. Pure. */
import { constant } from '../../index.ts'
import type { Report, ReportStatus } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { entriesOf, type Kept, keep, kept } from '../kept.rules.ts'
import { type Artifacts, began, below, isWithin, type RunEnd, type RunInput, type RunState } from '../run.rules.ts'

/** By its place in the list; times are ms since the epoch. */
export type ItemRecord = {
  status: Extract<ReportStatus, 'completed' | 'failed' | 'cancelled'> | 'waiting' | 'running'
  data?: unknown
  error?: LadderErrorBody
  startedAt: number
  endedAt: number
  /** Of its attempts that have ended. */
  reports: readonly Report[]
}
/** @property artifacts what tools gave beside their answers in items that have ended: of two the one that ended later counts */
export type BatchRun = RunState & {
  /** How many items there are, how many of them have not ended, and how many have not been completed though they have. */
  count: number
  open: number
  failed: number
  /** Of those that have begun, by their place. */
  items: Kept<ItemRecord>
  running: readonly number[]
  /** The first that may have to begin: all before it have. */
  next: number
  artifacts?: Artifacts
}

/** An item, as an actor of its own. `reports` of attempts before a run was gone on with. */
export type ItemInput = {
  runId: string
  batchRunId: string
  index: number
  input: unknown
  reports: readonly Report[]
  /** Where its runs stand. */
  inside: ReturnType<typeof below>
}
/** @property stopped it was cancelled: no attempt follows */
export type ItemRun = ItemInput & { attempts: number; pauseMs: number; end?: Omit<RunEnd, 'report'> | undefined; stopped?: true }
export type ItemEnd = Omit<RunEnd, 'report'> & { reports: readonly Report[] }

/** As a tool it is given them in an object. */
export const itemsIn = (input: unknown): readonly unknown[] | undefined => {
  const items = Array.isArray(input) ? input : (input as { items?: unknown } | null | undefined)?.items
  return Array.isArray(items) ? items : undefined
}

/** The list is constant: of many items each change would go through all. */
export const begun = (input: RunInput, at: number): BatchRun => {
  const run = began(input, at)
  const count = itemsIn(run.input)?.length ?? 0
  return { ...run, input: constant(run.input), count, open: count, failed: 0, items: {}, running: [], next: 0 }
}

export const itemRunId = ({ runId }: Pick<BatchRun, 'runId'>, index: number): string => `${runId}/${index}`
/** As its actor is called. */
export const itemActor = (index: number): string => `item-${index}`
export const indexOf = (actorId: string): number => Number(actorId.slice('item-'.length))

/** Those that begin now. */
export const due = ({ count, items, running, next }: BatchRun, concurrency: number): readonly number[] => {
  const found: number[] = []
  for (let index = next; index < count && running.length + found.length < concurrency; index++) if (isWaiting(items, index)) found.push(index)
  return found
}

const isWaiting = (items: Kept<ItemRecord>, index: number): boolean => (itemOf(items, index)?.status ?? 'waiting') === 'waiting'

export const itemOf = (items: Kept<ItemRecord>, index: number): ItemRecord | undefined => kept(items, String(index))

export const started = ({ items, running }: BatchRun, indexes: readonly number[], at: number): Partial<BatchRun> => ({
  items: indexes.reduce((all, index) => {
    const { reports = [] } = itemOf(all, index) ?? {}
    return keep(all, String(index), { status: 'running', startedAt: at, endedAt: at, reports })
  }, items),
  running: [...running, ...indexes],
  next: (indexes.at(-1) as number) + 1,
})

export const itemInput = (run: BatchRun, index: number): ItemInput => ({
  runId: itemRunId(run, index),
  inside: below(run, itemRunId(run, index)),
  batchRunId: run.runId,
  index,
  input: itemsIn(run.input)?.[index],
  reports: itemOf(run.items, index)?.reports ?? [],
})

export const itemEnded = (run: BatchRun, index: number, { data, error, reports, artifacts }: ItemEnd, at: number): Partial<BatchRun> => {
  const settled = error
    ? { status: error.category === 'cancelled' ? ('cancelled' as const) : ('failed' as const), error }
    : { status: 'completed' as const, data }
  const { startedAt = at } = itemOf(run.items, index) ?? {}
  return {
    items: keep(run.items, String(index), { ...settled, startedAt, endedAt: at, reports }),
    running: run.running.filter((other) => other !== index),
    open: run.open - 1,
    failed: run.failed + (error ? 1 : 0),
    waiting: run.waiting.filter(({ ask }) => !isWithin(ask, itemRunId(run, index))),
    ...(artifacts && { artifacts: { ...run.artifacts, ...artifacts } }),
  }
}

export const itemBroken = (run: BatchRun, index: number, error: LadderErrorBody, at: number): Partial<BatchRun> =>
  itemEnded(run, index, { error, reports: itemOf(run.items, index)?.reports ?? [] }, at)

/** What has not begun never will. */
export const cancelled = (run: BatchRun, error: LadderErrorBody, at: number): Partial<BatchRun> => ({
  ...ended(run, 'waiting', error, at),
  next: run.count,
  error,
})

/** What has not ended by now never will. */
export const cutOff = (run: BatchRun, at: number): Partial<BatchRun> => ({ ...ended(run, 'running', run.error, at), running: [], waiting: [] })

/** All of a status, as cancelled. */
const ended = (run: BatchRun, status: ItemRecord['status'], error: LadderErrorBody | undefined, at: number) => {
  const found = allItems(run).flatMap((item, index) => (item.status === status ? [[String(index), item] as const] : []))
  const items = found.reduce<Kept<ItemRecord>>(
    (all, [index, item]) => keep(all, index, { ...item, status: 'cancelled', ...(error && { error }), endedAt: at }),
    run.items,
  )
  return { items, open: run.open - found.length, failed: run.failed + found.length }
}

/** What has been completed stays. */
export const mended = (run: BatchRun): Partial<BatchRun> => ({
  error: undefined,
  items: allItems(run).reduce(
    (all, { error: _, ...item }, index) => (item.status === 'completed' ? all : keep(all, String(index), { ...item, status: 'waiting' })),
    run.items,
  ),
  open: run.failed,
  failed: 0,
  next: 0,
})

export const isOpen = ({ status }: ItemRecord): boolean => status === 'waiting' || status === 'running'

/** In their places. */
export const allItems = ({ count, items, startedAt }: BatchRun): readonly ItemRecord[] => {
  const begun = new Map(entriesOf(items))
  return Array.from({ length: count }, (_, index) => begun.get(String(index)) ?? { status: 'waiting', startedAt, endedAt: startedAt, reports: [] })
}

/** In their places; null where there is none. */
export const dataOf = (run: BatchRun): unknown[] => allItems(run).map(({ status, data }) => (status === 'completed' ? (data ?? null) : null))
