/** What the trace of a session tells of a run: where its message was accepted, and what the model has said. */

import type { AnyEvent } from '../../contracts/journal.ts'
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import type { ToolCallOutput } from '../../contracts/tool-call.ts'
import type { SummaryOutput } from '../../contracts/turn.ts'

/** A line of a trace, as far as it is read here. */
type Entry = { seq: number; detail?: AnyEvent }

/** Answers are named by their run and the number of the call; runs are named by users. */
const isOf = (runId: string, answerId: string): boolean => answerId.startsWith(`${runId}:`) && /^\d+$/.test(answerId.slice(runId.length + 1))

/** @param to the last commit that counts */
export const saidBy = (runId: string | undefined, entries: readonly Entry[], to: number): ModelCallOutput[] =>
  entries.flatMap(({ seq, detail }) => {
    if (runId === undefined || seq > to || detail?.type !== 'xstate.promise.resolve') return []
    const data = detail.data as ModelCallOutput | ToolCallOutput | SummaryOutput | null | undefined
    return data?.kind === 'model' && isOf(runId, data.id) ? [data] : []
  })

/** @returns the commit that accepted a message */
export const acceptanceIn = (entries: readonly Entry[], id: string): number | undefined =>
  entries.find(({ detail }) => detail?.type === 'message' && detail.id === id)?.seq
