/** What a run of a supervisor comes to: below it, in their order, those that chose and those that were chosen. */
import type { Report } from '../envelope.ts'
import { errorBody, type LadderErrorBody } from '../errors.ts'
import { entriesOf } from '../kept.rules.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import { iterationsOf } from './iterations.rules.ts'
import type { SupervisorShape } from './supervisor.chart.rules.ts'
import type { BranchRecord, SupervisorRun } from './supervisor.context.ts'

export const reportOf = (
  { type, name, version, intents }: Pick<SupervisorShape, 'type' | 'name' | 'version' | 'intents'>,
  run: SupervisorRun,
): Report => {
  const { runId, error, iterations, now, nested, terminatedBy } = run
  const isCode = new Set(intents.flatMap((intent) => (intent.executable === undefined ? [intent.name] : [])))
  const left = new Map(entriesOf(nested).flatMap(([, reports]) => reports.map((report) => [report.runId, report] as const)))
  const taken = (runs: readonly string[] = []): Report[] =>
    runs.flatMap((one) => {
      const report = left.get(one)
      left.delete(one)
      return report ? [report] : []
    })
  const callback = (intent: string, record: Omit<BranchRecord, 'status'> & Pick<Report, 'status'>): Report => {
    const children = taken(record.runs)
    return {
      type: 'callback',
      name: intent,
      runId: `${runId}/${intent}`,
      parentRunId: runId,
      rootRunId: rootOf(run),
      status: record.status,
      ...(record.error && { error: record.error }),
      ...timesOf(record.startedAt, record.endedAt),
      attempts: record.attempts,
      usage: together(...children.map(({ usage }) => usage)),
      children,
    }
  }
  // By iteration, and not by time: of what happens in the same millisecond, a crash would change the order.
  const ordered = [...iterations, now].flatMap(({ decision, branches, runs }) => [
    ...taken(runs),
    ...[...new Set([...(decision?.next ?? []), ...Object.keys(branches)])].flatMap((intent) => {
      const record = branches[intent]
      return record ? (isCode.has(intent) ? [callback(intent, record)] : taken(record.runs)) : []
    }),
  ])
  // Of code that was cut off, what it had called.
  const cut = Object.entries(run.going).flatMap(([intent, work]) =>
    isCode.has(intent) && work.runs ? [callback(intent, { ...work, status: 'cancelled', endedAt: run.endedAt })] : [],
  )
  // What was begun again after it had been cut off stands behind the others.
  // What it was asked for is no node of its own, as it is where code is at work.
  const children = [...ordered, ...cut, ...left.values()].map((child) => (child.parentRunId === runId ? child : { ...child, parentRunId: runId }))
  return {
    ...placeOf(run),
    type,
    name,
    ...(version !== undefined && { version }),
    status: terminatedBy === 'max-iterations' ? 'max-iterations' : statusOf(error),
    ...(error && { error }),
    attempts: 1,
    ...(terminatedBy && { terminatedBy }),
    ...(run.ack && { ack: ackOf(run.ack) }),
    iterations: iterationsOf(run),
    usage: together(...children.map(({ usage }) => usage)),
    children,
  }
}

const ackOf = ({ status, error }: NonNullable<SupervisorRun['ack']>): NonNullable<Report['ack']> =>
  status === 'completed' ? { status } : { status: 'failed', error: error ?? cutOff }

const cutOff: LadderErrorBody = errorBody('SUPERVISOR_CANCELLED', 'the acknowledgement was cut off', {
  hint: 'it is not said again: the run goes on without it',
})
