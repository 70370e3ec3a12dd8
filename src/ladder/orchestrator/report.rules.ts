/** What a turn comes to, and what is told of earlier ones. Pure. */
import type { LadderUsage, Report, ReportStatus } from '../envelope.ts'
import type { LadderErrorBody } from '../errors.ts'
import { timesOf } from '../run.rules.ts'
import type { BranchRecord, Decision, IterationRecord, Verdict } from '../supervisor/supervisor.context.ts'
import { together } from '../usage.rules.ts'
import type { Answer } from './session.context.ts'

/** One turn of a session; times are ms since the epoch. */
export type TurnRecord = {
  /** From 0. */
  turn: number
  turnRunId: string
  input: unknown
  decision?: Decision
  /** By intent, those of its last iteration. */
  result: Readonly<Record<string, BranchRecord>>
  state: unknown
  evaluate?: Verdict
  startedAt: number
  endedAt: number
  usage: LadderUsage
  childReport: Report
}

export type OrchestratorReport = Report & {
  sessionId: string
  signature: string
  turnIndex: number
  /** This turn last, before it those that are kept. */
  turns: readonly TurnRecord[]
}

export const recordOf = (turn: number, input: unknown, report: Report): TurnRecord => {
  const last = (report.iterations as readonly IterationRecord[] | undefined)?.at(-1)
  return {
    turn,
    turnRunId: report.runId,
    input,
    ...(last && { decision: last.decision }),
    result: last?.branches ?? {},
    state: last?.state,
    ...(last?.verdict && { evaluate: last.verdict }),
    startedAt: report.startedAt,
    endedAt: report.endedAt,
    usage: report.usage,
    childReport: report,
  }
}

type Reported = { name: string; sessionId: string; signature: string; answer: Answer; children: readonly Report[]; turns: readonly TurnRecord[] }

export const reportOf = ({ name, sessionId, signature, answer, children, turns }: Reported): OrchestratorReport => {
  const { id, status, error, inside, version } = answer
  return {
    ...(inside ? { parentRunId: inside.parentRunId } : { schemaVersion: 1 as const }),
    type: 'orchestrator',
    name,
    ...(typeof version === 'string' && { version }),
    runId: id,
    rootRunId: inside?.rootRunId ?? id,
    sessionId,
    signature: answer.signature ?? signature,
    turnIndex: answer.turnIndex ?? 0,
    status: statusOf(status),
    ...(error && { error }),
    ...timesOf(answer.startedAt, answer.endedAt),
    attempts: 1,
    ...(answer.warnings && { warnings: answer.warnings }),
    usage: together(...children.map(({ usage }) => usage)),
    children: children.map((child) => placed(child, { sessionId, rootRunId: inside?.rootRunId ?? id })),
    turns,
  }
}

const statusOf = (status: Answer['status']): ReportStatus => (status === 'withdrawn' ? 'cancelled' : status)

/** As a part of the whole that the turn stands in. */
const placed = (report: Report, place: { sessionId: string; rootRunId: string }): Report => ({
  ...report,
  ...place,
  children: report.children.map((child) => placed(child, place)),
})

/** Of a call that was refused before its session heard of it. */
export const refusedAnswer = (id: string, error: LadderErrorBody, at: number): Answer => ({
  id,
  wants: 'turn',
  status: 'failed',
  error,
  startedAt: at,
  endedAt: at,
})
