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

/** Messages that stay as they are where nothing else is said. */
const keptMessages = 8

/** How many have to come after a summary until the next one is made. */
export const marginOf = ({ keep = keptMessages, margin = Math.max(1, keep) }: { keep?: number; margin?: number }): number => margin

/** All but the newest: no more than that can be compacted. */
export const older = (history: readonly HistoryMessage[], keep = keptMessages): readonly HistoryMessage[] =>
  history.slice(0, Math.max(0, history.length - keep))

/** Messages that may be replaced. @property from place of the first in the history of the caller */
export type Foldable = { messages: readonly HistoryMessage[]; from: number }

/** What of it travels with a turn: nothing that was summarised, and nothing at all where that is too little. */
export const foldableOf = (history: readonly HistoryMessage[], through: number | null, policy: { keep?: number; margin?: number }): Foldable => {
  const from = (through ?? -1) + 1
  const messages = older(history, policy.keep).slice(from)
  return through !== null && messages.length < marginOf(policy) ? { messages: [], from: 0 } : { messages, from }
}

/**
 * The part after a turn, which is worth a summary: what was summarised before waits until so many messages have come. Where a caller applies it, that shows in a history that begins
 * with one.
 */
export const dueRange = ({ messages, from }: Foldable, through: number | null, margin: number): Range | undefined => {
  const range = rangeOf(from + messages.length, through)
  const summaries = through === null && messages[0]?.role === 'system' ? 1 : 0
  const isAgain = through !== null || summaries > 0
  // The session may have been deleted meanwhile: then its beginning has not travelled.
  const isThere = range && range.from >= from
  return isThere && (!isAgain || range.to - range.from + 1 - summaries >= margin) ? range : undefined
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
export const summaryQuestion = (foldable: Foldable, { from, to }: Range): string =>
  [
    'Summarise this part of a conversation for whoever goes on with it. Keep facts, decisions, names, numbers and what is still open. Answer with the summary and nothing else.',
    ...foldable.messages.slice(from - foldable.from, to + 1 - foldable.from).map(({ role, content }) => `${role}: ${content}`),
  ].join('\n\n')
