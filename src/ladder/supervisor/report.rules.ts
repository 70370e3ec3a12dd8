/** What a run of a supervisor comes to: below it, in their order, those that chose and those that were chosen. */
import type { Report } from '../envelope.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { noUsage, together } from '../usage.rules.ts'
import { routeActor, type SupervisorShape } from './supervisor.chart.rules.ts'
import type { BranchRecord, IterationRecord, SupervisorRun } from './supervisor.context.ts'

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
  const choices = [...(nested[routeActor] ?? [])]
  const runs = new Map(intents.flatMap((intent) => nested[intent.name] ?? []).map((report) => [report.runId, report]))
  const taken = (runIdOf: string | undefined): Report[] => {
    const report = runs.get(runIdOf ?? '')
    runs.delete(runIdOf ?? '')
    return report ? [report] : []
  }
  /** In the order in which they were chosen, whatever a crash has made of the times. */
  const stages = [...iterations, now].map(
    ({ startedAt, decision, branches }: Pick<IterationRecord, 'startedAt' | 'branches'> & Partial<IterationRecord>) => ({
      startedAt,
      reports: [
        ...(decision?.source === 'router' ? choices.splice(0, 1) : []),
        ...[...new Set([...(decision?.next ?? []), ...Object.keys(branches)])].flatMap((intent) => {
          const record = branches[intent]
          return record ? (isCode.has(intent) ? [callback(intent, record)] : taken(record.runId)) : []
        }),
      ],
    }),
  )
  // What was cut off stands where it was.
  for (const report of [...choices, ...runs.values()])
    (stages.findLast(({ startedAt }) => startedAt <= report.startedAt) ?? stages[0])?.reports.push(report)
  const children = stages.flatMap(({ reports }) => reports)
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
