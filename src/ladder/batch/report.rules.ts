/** What a run of a batch comes to: an item for each place of the list, and below it its attempts. */
import type { Report } from '../envelope.ts'
import { placeOf, rootOf, statusOf, timesOf } from '../run.rules.ts'
import { together } from '../usage.rules.ts'
import type { BatchShape } from './batch.chart.rules.ts'
import { allItems, type BatchRun, type ItemRecord, isOpen, itemRunId } from './batch.context.ts'

export const reportOf = ({ name, version }: Pick<BatchShape, 'name' | 'version'>, run: BatchRun): Report => {
  const nodeOf = ({ status, error, startedAt, endedAt, reports }: ItemRecord, index: number): Report => ({
    type: 'item',
    name: String(index),
    runId: itemRunId(run, index),
    parentRunId: run.runId,
    rootRunId: rootOf(run),
    status: status === 'completed' || status === 'failed' ? status : 'cancelled',
    ...(error && { error }),
    ...timesOf(startedAt, endedAt),
    attempts: reports.length,
    usage: together(...reports.map(({ usage }) => usage)),
    children: [...reports],
  })
  const children = allItems(run).flatMap((item, index) => (isOpen(item) ? [] : [nodeOf(item, index)]))
  return {
    ...placeOf(run),
    type: 'batch',
    name,
    ...(version !== undefined && { version }),
    status: statusOf(run.error),
    ...(run.error && { error: run.error }),
    attempts: 1,
    usage: together(...children.map(({ usage }) => usage)),
    children,
  }
}
