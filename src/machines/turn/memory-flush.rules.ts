/** When an agent is told to take durable notes before its context is shortened, and with which words (OC-40, OC-41). */
import type { MemoryFlush, Profile } from '../../contracts/profile.ts'
import { defaultTokens } from '../../contracts/reply.ts'

const reserveTokens = 20_000
const softTokens = 4_000
const windowTokens = 200_000

type FlushFacts = {
  tokens?: number
  window?: number
  compactions: number
  /** The count of compactions at which notes were taken last. */
  flushedAt?: number
}

/** Once a cycle: from one compaction to the next. */
export const flushDue = ({ memoryFlush, heartbeat, contextTokens }: Profile, { tokens = 0, window, compactions, flushedAt }: FlushFacts): boolean => {
  if (memoryFlush === undefined || heartbeat) return false
  const threshold = (window ?? contextTokens ?? windowTokens) - (memoryFlush.reserveTokens ?? reserveTokens) - (memoryFlush.softTokens ?? softTokens)
  return threshold > 0 && tokens >= threshold && flushedAt !== compactions
}

/** What the agent is told. It always knows how to say that there is nothing to say. @param at ms since the epoch */
export const flushPrompt = ({ prompt }: MemoryFlush, at: number): string => {
  const day = new Date(at).toISOString().slice(0, 10)
  const text = (prompt ?? defaultPrompt).replaceAll('{date}', day)
  return text.includes(defaultTokens.silent) ? text : `${text}\nAnswer ${defaultTokens.silent} when you are done.`
}

const defaultPrompt =
  'The conversation is about to be shortened. With your tools, write down in memory/{date}.md what must outlast it: decisions, facts, names, what is open. Append to the file if it is there. If nothing is worth keeping, write nothing.'
