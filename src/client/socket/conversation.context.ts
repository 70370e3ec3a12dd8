/** What is said to the chart of a conversation, and what it knows of the history. */

export type ConversationEvent =
  | { type: 'connected' }
  | { type: 'disconnected' }
  /** Something was said that the history which is known, or is being read, may not have. */
  | { type: 'outdated' }
  /** Somebody wants what stands before the first message that is known. */
  | { type: 'earlier' }
  /** Something may have changed that no event tells: settings, costs, what waits. */
  | { type: 'look' }
  | { type: 'stop'; runId: string }
  | { type: 'stop.refused' }
  | { type: 'run.ended' }

/** @property messages that are known by now @property more older ones stand before them */
export type HistoryRead = { messages: number; more: boolean }
