/** What a schedule remembers, and how each thing that happens changes it. Pure. Times are ms since the epoch. */
import type { LadderErrorBody } from '../errors.ts'

/** What an author may change under a schedule that runs: it comes as an event, so that the past stays what it was. */
export type Plan = {
  /** When it is due, in words: another one is reckoned anew. */
  text: string
  /** What happens to a firing while the run before it is under way. */
  overlap: 'skip' | 'queue' | 'allow'
  /** What happens to those that were missed. */
  catchUp: 'once' | 'all' | 'none'
  /** ms; with `none`, later than that counts as missed. */
  graceMs: number
  /** Firings that are remembered. */
  keep: number
}

/** @property by the clock, or somebody who asked for it @property due for one by hand: when it was asked for */
export type Firing = { runId: string; due: number; by: 'clock' | 'hand' }
export type FiringRecord = Firing & {
  status: 'begun' | 'skipped' | 'failed'
  at: number
  reason?: string
  error?: LadderErrorBody
}

export type ScheduleState = {
  name: string
  plan: Plan
  /** When it began. */
  anchor: number
  /** The last time that was due, or from which on times count. */
  from: number | null
  next: number | null
  reckonedAt: number
  /** The first of them is being begun. */
  queue: readonly Firing[]
  attempts: number
  /** The run that it has begun last. */
  last?: string
  firings: readonly FiringRecord[]
}

/** What reckoning came to. */
export type Fallen = { fallen: readonly { runId: string; due: number }[]; next: number | null }
/** How a run was begun, or not: `again` when it may be tried. */
export type Beginning = { error?: LadderErrorBody; again?: true }

const noPlan: Plan = { text: '', overlap: 'skip', catchUp: 'once', graceMs: 0, keep: 50 }
/** Firings that wait at most. */
const queueMax = 1_000
/** How often a run is tried to be begun, and the pause after the first time and at most, in ms. */
export const attemptsMax = 8
const [pauseMs, pauseMaxMs] = [1_000, 60_000]

export const begun = (name: string): ScheduleState => ({
  name,
  plan: noPlan,
  anchor: 0,
  from: null,
  next: null,
  reckonedAt: 0,
  queue: [],
  attempts: 0,
  firings: [],
})

/** Begins to count from now. */
export const started = (plan: Plan, at: number): Partial<ScheduleState> => ({ plan, anchor: at, from: null, next: null })

/** The same with the plan that it has; what is due once is not due again. */
export const startedAgain = ({ plan, from }: ScheduleState, at: number): Partial<ScheduleState> => ({
  anchor: at,
  from: isOnce(plan) ? from : null,
  next: null,
})

const isOnce = ({ text }: Plan): boolean => text.startsWith('at ')

/** What passed while it was paused is not missed: nobody wanted it. */
export const skippedTo = ({ from, plan }: ScheduleState, at: number): Partial<ScheduleState> =>
  // One that is due once, and was not, stays due.
  isOnce(plan) && from === null ? {} : { from: at }

/** Those that wait are dropped; one that is being begun is not stopped any more. */
export const dropped = ({ queue, attempts }: ScheduleState): Partial<ScheduleState> => ({ next: null, queue: attempts > 0 ? queue.slice(0, 1) : [] })

/** Which of those that are due by now are begun. */
const wanted = ({ plan, reckonedAt }: ScheduleState, { fallen }: Fallen): Fallen['fallen'] => {
  if (plan.catchUp === 'all') return fallen
  const last = fallen.at(-1)
  if (!last || (plan.catchUp === 'none' && reckonedAt - last.due > plan.graceMs)) return []
  return [last]
}

export const missedOf = (state: ScheduleState, fallen: Fallen): number => fallen.fallen.length - wanted(state, fallen).length

export const reckoned = (state: ScheduleState, fallen: Fallen): Partial<ScheduleState> => {
  const due = wanted(state, fallen).map((one): Firing => ({ ...one, by: 'clock' }))
  const room = Math.max(0, queueMax - state.queue.length)
  return {
    next: fallen.next,
    from: fallen.fallen.at(-1)?.due ?? state.from,
    queue: [...state.queue, ...due.slice(0, room)],
    ...recordedAll(
      state,
      due.slice(room).map((one) => ({ ...one, status: 'skipped', at: state.reckonedAt, reason: 'too many wait' })),
    ),
  }
}

export const triggered = (state: ScheduleState, runId: string, at: number): Partial<ScheduleState> =>
  state.queue.some((one) => one.runId === runId) || state.firings.some((one) => one.runId === runId)
    ? {}
    : { queue: [...state.queue, { runId, due: at, by: 'hand' }] }

/** The first in the queue has come to something. */
export const settled = (state: ScheduleState, end: Pick<FiringRecord, 'status' | 'at' | 'reason' | 'error'>): Partial<ScheduleState> => {
  const [first, ...queue] = state.queue
  if (!first) return {}
  return { queue, attempts: 0, ...(end.status === 'begun' && { last: first.runId }), ...recordedAll(state, [{ ...first, ...end }]) }
}

const recordedAll = ({ firings, plan }: ScheduleState, more: readonly FiringRecord[]): Pick<ScheduleState, 'firings'> => ({
  firings: more.length === 0 ? firings : [...firings, ...more].slice(-plan.keep),
})

export const pauseOf = ({ attempts }: ScheduleState): number => Math.min(pauseMaxMs, pauseMs * 2 ** Math.max(0, attempts - 1))
