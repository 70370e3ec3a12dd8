/** What a run comes to, as a tree: of what it remembers alone, so that it is the same on every node and after every crash. */
import type { Report } from '../envelope.ts'
import { entriesOf } from '../kept.rules.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { WorkflowShape } from './workflow.chart.rules.ts'
import type { RunContext } from './workflow.context.ts'

export const reportOf = ({ name, version, steps }: WorkflowShape, run: RunContext): Report => {
  const { runId, error } = run
  const [records, inside] = [new Map(entriesOf(run.steps)), new Map(entriesOf(run.nested))]
  const nodesOf = (step: string, parentRunId: string, inner: readonly string[] = []): Report[] => {
    const record = records.get(step)
    if (!record) return []
    const place = `${runId}/${step}`
    const children = [...inner.flatMap((child) => nodesOf(child, place)), ...(inside.get(step) ?? [])]
    const node: Report = {
      rootRunId: rootOf(run),
      usage: together(...children.map(({ usage }) => usage)),
      type: 'step',
      name: step,
      runId: place,
      parentRunId,
      status: record.status,
      ...(record.error && { error: record.error }),
      ...timesOf(record.startedAt, record.endedAt),
      attempts: record.attempts,
      children,
    }
    return [node]
  }
  const children = steps.flatMap(({ name: step, children: inner }) => nodesOf(step, runId, inner))
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
