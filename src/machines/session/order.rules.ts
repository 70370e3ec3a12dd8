/** What becomes of a compaction that somebody has asked for, and what its desk is told of it. */
import { definedOf } from '../../contracts/defined.ts'
import type { CompactionOrder, DeskAnswer, DeskRequest } from '../../contracts/desk.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { SessionEvent, SessionOutput } from '../../contracts/session.ts'
import type { SummaryOutput } from '../../contracts/turn.ts'
import { acceptance, settingsOf } from './queue.rules.ts'
import { summarised, touched } from './record.rules.ts'
import { type SessionContext, summaryUsage } from './session.context.ts'

type Enqueue = {
  assign(change: Partial<SessionContext>): void
  emit(output: SessionOutput): void
  sendTo(desk: 'desk', request: DeskRequest): void
}

/** A command that is no message is answered by its receipt alone. */
export const keepOrder = (
  enqueue: Enqueue,
  { record, key }: SessionContext,
  event: Extract<SessionEvent | DeskAnswer, { type: 'compact' }>,
): void => {
  if (!('id' in event)) return
  const { id, at, annotations, channel, instructions } = event
  const order: CompactionOrder = { id, at, profile: settingsOf(event, record), ...definedOf({ annotations, channel, instructions }) }
  enqueue.assign({ order, record: touched(record, key, event) })
  enqueue.emit(acceptance(id))
}

export const takeSummary = (enqueue: Enqueue, context: SessionContext, summary: SummaryOutput): void => {
  const { id, keep } = summary
  enqueue.assign({ transcriptLength: keep + 1, record: summarised(context.record, summary) })
  enqueue.emit({ type: 'transcript', compact: { keep, summary: id } })
  enqueue.emit({ type: 'compacted', keep })
  for (const said of summaryUsage(context, summary)) enqueue.emit(said)
  answerOrder(enqueue, context, { summary, ...definedOf({ window: context.record.tokens?.window || undefined }) })
}

export const announceTrouble = (enqueue: Enqueue, context: SessionContext, trouble: unknown): void => {
  const error = errorBody(trouble)
  enqueue.emit({ type: 'refused', code: error.code, message: error.message, hint: 'the conversation is unchanged; try again later' })
  answerOrder(enqueue, context, { error })
}

/** With neither a summary nor an error it was stopped. */
export const answerOrder = (
  enqueue: Enqueue,
  { order }: SessionContext,
  outcome: Omit<Extract<DeskRequest, { type: 'compaction.ended' }>, 'type' | 'order'> = {},
): void => {
  if (!order) return
  enqueue.sendTo('desk', { type: 'compaction.ended', order, ...outcome })
  enqueue.assign({ order: null })
}
