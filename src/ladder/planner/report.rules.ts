/** What a run of a planner comes to: below it the runs that planned, and the steps of all plans. */
import type { Report } from '../envelope.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { PlannerShape } from './planner.chart.rules.ts'
import type { PlannerRun, StepRecord } from './planner.context.ts'

export const reportOf = ({ name, version }: Pick<PlannerShape, 'name' | 'version'>, run: PlannerRun): Report => {
  const { runId, error, records, planning, plan, awaits, replans } = run
  const nodeOf = ({ step, status, error: failure, attempts, startedAt, endedAt, reports }: StepRecord): Report => ({
    type: 'step',
    name: step.id,
    runId: `${runId}/${step.id}`,
    parentRunId: runId,
    rootRunId: rootOf(run),
    status: status === 'completed' || status === 'failed' || status === 'skipped' ? status : 'cancelled',
    ...(failure && { error: failure }),
    ...timesOf(startedAt, endedAt),
    attempts,
    usage: together(...reports.map(({ usage }) => usage)),
    children: [...reports],
  })
  const children = [...planning, ...records.flatMap((record) => (record.status === 'waiting' ? [] : [nodeOf(record)]))]
  const followed = awaits ?? plan
  return {
    ...placeOf(run),
    type: 'planner',
    name,
    ...(version !== undefined && { version }),
    status: awaits && error?.category !== 'cancelled' ? 'awaiting-approval' : statusOf(error),
    ...(error && { error }),
    attempts: 1,
    ...(followed && { plan: followed }),
    replans,
    usage: together(...children.map(({ usage }) => usage)),
    children,
  }
}
