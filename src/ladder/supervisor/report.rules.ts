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
  const left = Object.fromEntries(Object.entries(nested).map(([work, reports]) => [work, [...reports]]))
  const next = (work: string): Report[] => left[work]?.splice(0, 1) ?? []
  // By iteration, and not by time: of what happens in the same millisecond, a crash would change the order.
  const ordered = [...iterations, now].flatMap(({ decision, branches }) => [
    ...(decision?.source === 'router' ? next(routeActor) : []),
    ...(decision?.next ?? []).flatMap((intent) => {
      const record = branches[intent]
      return record && isCode.has(intent) ? [callback(intent, record)] : next(intent)
    }),
  ])
  // What was begun again after it had been cut off stands behind the others.
  const children = [...ordered, ...[routeActor, ...intents.map((intent) => intent.name)].flatMap((work) => left[work] ?? [])]
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
