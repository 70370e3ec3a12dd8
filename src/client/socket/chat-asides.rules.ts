/** What is said beside a conversation: side questions and what runs come upon. None of it is an entry of the conversation. */
import { definedOf } from '../../contracts/defined.ts'
import type { SideResultEvent } from '../../contracts/gateway.ts'
import type { SideOutcome, SideResult } from './chat-view.context.ts'
import { withEntry } from './share.rules.ts'

type Results = ReadonlyMap<string, SideResult>

/** Kept until somebody takes them away; beyond it the oldest go. */
const keptMax = 20

const keyOf = (runId: string, seq: number): string => `aside ${runId} ${seq}`

const added = (results: Results, result: SideResult): Results => {
  const all = withEntry(results, result.key, result)
  return all.size <= keptMax ? all : new Map([...all].slice(-keptMax))
}

/** A side question was taken in, or had been: then its outcome comes with the answer. What is known of it already is newer. */
export const withQuestion = (
  results: Results,
  runId: string,
  { question, at, outcome }: { question?: string; at: number; outcome?: SideOutcome | undefined },
): Results => {
  const key = keyOf(runId, 1)
  if (results.has(key) && results.get(key)?.state !== 'asked') return results
  const asked: SideResult = { key, runId, at, state: 'asked', ...definedOf({ question }) }
  if (outcome === undefined) return results.has(key) ? results : added(results, asked)
  const { status, text, error } = outcome
  return added(results, {
    ...asked,
    ...(status === 'completed' ? { state: 'told', text } : { state: 'failed', text: error?.message ?? 'It was not answered.' }),
  })
}

export const withResult = (results: Results, { runId, seq, question, text, isError, ts }: SideResultEvent): Results => {
  const key = keyOf(runId, seq)
  const known = results.get(key)
  if (known && known.state !== 'asked') return results
  return added(results, {
    key,
    runId,
    at: known?.at ?? ts,
    state: isError ? 'failed' : 'told',
    text,
    ...definedOf({ question: question ?? known?.question }),
  })
}
