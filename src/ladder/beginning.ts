/** What a run begins with, and what becomes of one that does not begin. */
import type { CallPlace } from './calling/calls.ts'
import type { Report } from './envelope.ts'
import { LadderError } from './errors.ts'
import { checkedHistory, type HistoryMessage, type RunHistory } from './history.rules.ts'
import { leaving, unlessAborted } from './leaving.ts'
import type { CallOptions } from './options.ts'
import type { RunInput } from './run.rules.ts'

/** What a caller has given, checked. */
export type Given = { value?: unknown; history?: RunHistory; error?: LadderError }
type Taker = {
  readonly type: Report['type']
  readonly name: string
  fit(input: unknown): Promise<unknown>
  slicesOf(history: readonly HistoryMessage[]): RunHistory
}

export const givenTo = async (taker: Taker, input: unknown, { history: said, signal }: CallOptions): Promise<Given> => {
  try {
    const value = await unlessAborted(signal, taker.fit(input), leaving(taker, 'begun'))
    return said === undefined ? { value } : { value, history: taker.slicesOf(checkedHistory(said, `history of '${taker.name}'`)) }
  } catch (error) {
    if (error instanceof LadderError) return { error }
    throw error
  }
}

/** @param begun what its rung adds @param called by code of another run */
export const runInputOf = (
  runId: string,
  begun: object,
  { value: input, history }: Given,
  inputHash: string | undefined,
  called: CallPlace | undefined,
): RunInput => ({
  ...begun,
  runId,
  input,
  ...(inputHash !== undefined && { inputHash }),
  ...(called && { inside: called.inside }),
  ...(history && { history }),
})

/** A run that never began, where it would have stood. */
export const placed = ({ schemaVersion: _, ...report }: Report, called: CallPlace | undefined): Report =>
  called ? { ...report, rootRunId: called.inside.rootRunId, parentRunId: called.inside.parentRunId } : { schemaVersion: 1, ...report }
