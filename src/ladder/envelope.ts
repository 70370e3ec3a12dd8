/** What every rung gives back, and the events that it tells on the way. */
import type { LadderError, LadderErrorBody } from './errors.ts'

/** Tokens and, where all that was used has a price, what they cost in US dollars. */
export type LadderUsage = { input: number; output: number; total: number; costUsd?: number }

export type ReportStatus = 'completed' | 'failed' | 'cancelled' | 'skipped'

/** One node of the tree of what ran; times are ms since the epoch, those of the commits. */
export type Report = {
  /** Of this shape; only the root says it. */
  schemaVersion?: 1
  type: 'workflow' | 'step'
  name: string
  version?: string
  runId: string
  parentRunId?: string
  rootRunId: string
  status: ReportStatus
  error?: LadderErrorBody
  startedAt: number
  endedAt: number
  /** ms */
  duration: number
  attempts: number
  usage: LadderUsage
  children: Report[]
}

/** @property data there when all went well @property error there when it did not: nothing that happens at run time is thrown */
export type Result<Data> = { data?: Data; error?: LadderError; usage: LadderUsage; report: Report }

export const noUsage: LadderUsage = { input: 0, output: 0, total: 0 }

/** `type` is `workflow.step.completed` and the like. */
export type LadderEvent = { type: string; runId: string; rootRunId: string; step?: string } & Record<string, unknown>
