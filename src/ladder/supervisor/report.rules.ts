/** What a run of a supervisor comes to: below it, in their order, those that chose and those that were chosen. */
import type { Report } from '../envelope.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { noUsage, together } from '../usage.rules.ts'
import { routeActor, type SupervisorShape } from './supervisor.chart.rules.ts'
import type { BranchRecord, SupervisorRun } from './supervisor.context.ts'

export const reportOf = ({ name, version, intents }: Pick<SupervisorShape, 'name' | 'version' | 'intents'>, run: SupervisorRun): Report => {
  const { runId, error, iterations, now, nested, terminatedBy } = run
  const isCode = new Set(intents.flatMap((intent) => (intent.executable === undefined ? [intent.name] : [])))
  const callback = (intent: string, record: BranchRecord): Report => ({
    type: 'callback',
    name: intent,
    runId: `${runId}/${intent}`,
    parentRunId: runId,
    rootRunId: rootOf(run),
    status: record.status,
    ...(record.error && { error: record.error }),
    ...timesOf(record.startedAt, record.endedAt),
    attempts: record.attempts,
    usage: noUsage,
    children: [],
  })
  const branches = [...iterations.map((one) => one.branches), now.branches].flatMap((all) => Object.entries(all))
  const children = [
    ...branches.flatMap(([intent, record]) => (isCode.has(intent) ? [callback(intent, record)] : [])),
    ...[routeActor, ...intents.map((intent) => intent.name)].flatMap((work) => nested[work] ?? []),
  ].toSorted((one, other) => one.startedAt - other.startedAt || one.endedAt - other.endedAt)
  return {
    ...placeOf(run),
    type: 'supervisor',
    name,
    ...(version !== undefined && { version }),
    status: terminatedBy === 'max-iterations' ? 'max-iterations' : statusOf(error),
    ...(error && { error }),
    attempts: 1,
    ...(terminatedBy && { terminatedBy }),
    iterations,
    usage: together(...children.map(({ usage }) => usage)),
    children,
  }
}
