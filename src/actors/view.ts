/** What a root is to whoever reads it: a copy, so that the reader and the machine share nothing. */
import type { ErrorBody } from '../contracts/errors.ts'
import { detached } from '../contracts/plain.ts'
import type { Root } from './root.ts'

export type RootView = {
  seq: number
  epoch: number
  quarantine: ErrorBody | undefined
  /** Undefined for a root that does not exist yet. */
  snapshot: { status: 'active' | 'done' | 'error' | 'stopped'; value: unknown; context: unknown; output: unknown } | undefined
}

export const viewOf = ({ replica, seq, epoch, quarantine }: Root): RootView => {
  const { status, value, context, output } = replica?.actor.getSnapshot() ?? {}
  return { seq, epoch, quarantine, snapshot: replica && detached({ status, value, context, output }) }
}

/** Waking takes longer than waiting for what comes soon. */
const soonMs = 120_000
export const dueSoon = (root: Root, now: number): boolean => {
  const due = root.quarantine ? null : (root.replica?.timers.nextDue() ?? null)
  return due !== null && due - now < soonMs
}
