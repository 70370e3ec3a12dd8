/** What a run comes to, as a tree: of what it remembers alone, so that it is the same on every node and after every crash. */
import type { Report } from '../envelope.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { WorkflowShape } from './workflow.chart.rules.ts'
import type { RunContext, StepRecord } from './workflow.context.ts'

export const reportOf = ({ name, version, steps }: WorkflowShape, run: RunContext): Report => {
  const { runId, error, nested } = run
  const nodeOf = (step: string, record: StepRecord, parentRunId: string, inner: readonly Report[] = []): Report => {
    const children = [...inner, ...(nested[step] ?? [])]
    return {
      rootRunId: rootOf(run),
      usage: together(...children.map(({ usage }) => usage)),
      type: 'step',
      name: step,
      runId: `${runId}/${step}`,
      parentRunId,
      status: record.status,
      ...(record.error && { error: record.error }),
      ...timesOf(record.startedAt, record.endedAt),
      attempts: record.attempts,
      children,
    }
  }
  const ended = (names: readonly string[]) => names.flatMap((step) => (run.steps[step] ? [[step, run.steps[step]] as const] : []))
  const children = ended(steps.map((step) => step.name)).map(([step, record]) =>
    nodeOf(
      step,
      record,
      runId,
      ended(steps.find((one) => one.name === step)?.children ?? []).map(([child, inner]) => nodeOf(child, inner, `${runId}/${step}`)),
    ),
  )
  return {
    ...placeOf(run),
    usage: together(...children.map(({ usage }) => usage)),
    type: 'workflow',
    name,
    ...(version !== undefined && { version }),
    status: statusOf(error),
    ...(error && { error }),
    attempts: 1,
    children,
  }
}
