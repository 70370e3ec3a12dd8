/** What a run of a batch and one of its items remember, and how each thing that happens changes it. Pure. */
import type { Report, ReportStatus } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { began, below, isWithin, type RunEnd, type RunInput, type RunState } from '../run.rules.ts'

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
export type BatchRun = RunState & { items: readonly ItemRecord[] }

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
export type ItemRun = ItemInput & { attempts: number; pauseMs: number; end?: Omit<RunEnd, 'report'> | undefined; isCutOff?: true }
/** @property isCutOff it was told to end, and has come to nothing by then */
export type ItemEnd = Omit<RunEnd, 'report'> & { reports: readonly Report[]; isCutOff?: true }

/** As a tool it is given them in an object. */
export const itemsIn = (input: unknown): readonly unknown[] | undefined => {
  const items = Array.isArray(input) ? input : (input as { items?: unknown } | null | undefined)?.items
  return Array.isArray(items) ? items : undefined
}

export const begun = (input: RunInput, at: number): BatchRun => ({
  ...began(input, at),
  items: (itemsIn(input.input) ?? []).map(() => ({ status: 'waiting', startedAt: at, endedAt: at, reports: [] })),
})

export const itemRunId = ({ runId }: Pick<BatchRun, 'runId'>, index: number): string => `${runId}/${index}`
/** As its actor is called. */
export const itemActor = (index: number): string => `item-${index}`
export const indexOf = (actorId: string): number => Number(actorId.slice('item-'.length))

export const running = ({ items }: Pick<BatchRun, 'items'>): readonly number[] =>
  items.flatMap(({ status }, index) => (status === 'running' ? [index] : []))

/** Those that begin now. */
export const due = (run: BatchRun, concurrency: number): readonly number[] => {
  const free = concurrency - running(run).length
  return free <= 0 ? [] : run.items.flatMap(({ status }, index) => (status === 'waiting' ? [index] : [])).slice(0, free)
}

export const started = ({ items }: BatchRun, indexes: readonly number[], at: number): Partial<BatchRun> => ({
  items: items.map((item, index) => (indexes.includes(index) ? { ...item, status: 'running', startedAt: at, endedAt: at } : item)),
})

export const itemInput = (run: BatchRun, index: number): ItemInput => ({
  runId: itemRunId(run, index),
  batchRunId: run.runId,
  index,
  input: itemsIn(run.input)?.[index],
  reports: run.items[index]?.reports ?? [],
  inside: below(run, itemRunId(run, index)),
})

export const itemEnded = (run: BatchRun, index: number, { data, error: failure, reports, isCutOff }: ItemEnd, at: number): Partial<BatchRun> => {
  const error = isCutOff ? run.error : failure
  const settled = error
    ? { status: error.category === 'cancelled' ? ('cancelled' as const) : ('failed' as const), error }
    : { status: 'completed' as const, data }
  return {
    items: run.items.map((item, place) => (place === index ? { ...settled, startedAt: item.startedAt, endedAt: at, reports } : item)),
    waiting: run.waiting.filter(({ ask }) => !isWithin(ask, itemRunId(run, index))),
  }
}

export const itemBroken = (run: BatchRun, index: number, error: LadderErrorBody, at: number): Partial<BatchRun> =>
  itemEnded(run, index, { error, reports: run.items[index]?.reports ?? [] }, at)

/** What has not ended never will. */
export const cutOff = ({ items, error }: BatchRun, at: number): Partial<BatchRun> => ({
  items: items.map((item) => (isOpen(item) ? { ...item, status: 'cancelled', ...(error && { error }), endedAt: at } : item)),
  waiting: [],
  endedAt: at,
})

/** What has been completed stays. */
export const mended = ({ items }: BatchRun): Partial<BatchRun> => ({
  error: undefined,
  items: items.map(({ error: _, ...item }) => (item.status === 'completed' ? item : { ...item, status: 'waiting' })),
})

export const isOpen = ({ status }: ItemRecord): boolean => status === 'waiting' || status === 'running'

/** In their places; null where there is none. */
export const dataOf = ({ items }: BatchRun): unknown[] => items.map(({ status, data }) => (status === 'completed' ? (data ?? null) : null))
