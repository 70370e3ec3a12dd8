/** Which part of a history a compaction stands for, and what is said of it. Pure. */
import type { HistoryMessage } from '../history.rules.ts'

/** First and last place in the history of the caller, both included. */
export type Range = { from: number; to: number }

/** A message that may stand in the place of others; who has the history decides that. */
export type Compaction = { summary: { role: 'system'; content: string }; replacesFromIndex: number; replacesToIndex: number }

/** @param foldable messages from the beginning that may be replaced @param through the last that was @returns undefined where nothing is left to do */
export const rangeOf = (foldable: number, through: number | null): Range | undefined => {
  const from = (through ?? -1) + 1
  return from < foldable ? { from, to: foldable - 1 } : undefined
}

export const compactionOf = (content: string, { from, to }: Range): Compaction => ({
  summary: { role: 'system', content },
  replacesFromIndex: from,
  replacesToIndex: to,
})

/** The history with the summary in the place of what it stands for. Those that come after have other places then. */
export const compacted = (history: readonly HistoryMessage[], { summary, replacesFromIndex, replacesToIndex }: Compaction): HistoryMessage[] => [
  ...history.slice(0, replacesFromIndex),
  summary,
  ...history.slice(replacesToIndex + 1),
]

/** In the place of a summary, where no model makes one. */
export const memoOf = ({ from, to }: Range): string => `[${to - from + 1} earlier messages are left out here.]`

/** What an agent is asked that summarises. */
export const summaryQuestion = (foldable: readonly HistoryMessage[], { from, to }: Range): string =>
  [
    'Summarise this part of a conversation for whoever goes on with it. Keep facts, decisions, names, numbers and what is still open. Answer with the summary and nothing else.',
    ...foldable.slice(from, to + 1).map(({ role, content }) => `${role}: ${content}`),
  ].join('\n\n')
