/** What was said before a run, and who is told how much of it. Pure. */
import { z } from 'zod'
import type { Message } from '../index.ts'
import { LadderError } from './errors.ts'

/** One thing that was said before. What `system` says is added to the instructions of a model. */
export type HistoryMessage = { role: 'user' | 'assistant' | 'system'; content: string }

/** How much of it is read: so many of the newest, none from 0 down; or what code picks, in the process of the caller, before the run begins. */
export type HistoryWindow = number | ((history: readonly HistoryMessage[]) => readonly HistoryMessage[])

/** As a run is given it, once: a run that is killed still has it. `whole` stands there only where an intent picks its own part of it. */
export type RunHistory = {
  agents: readonly HistoryMessage[]
  /** Default: as agents. */
  router?: readonly HistoryMessage[]
  /** Default: nothing. */
  ack?: readonly HistoryMessage[]
  whole?: readonly HistoryMessage[]
}
export type HistoryReader = 'agents' | 'router' | 'ack'

const Said = z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: z.string() }).strict())

/** A copy, with nothing else in it. @throws LadderError SCHEMA_VALIDATION_FAILED */
export const checkedHistory = (history: unknown, what: string): readonly HistoryMessage[] => {
  const read = Said.safeParse(history)
  if (read.success) return read.data
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `${what} is no list of messages: ${read.error.issues[0]?.message}`, {
    cause: read.error,
    hint: "give { role: 'user' | 'assistant' | 'system', content } for each",
  })
}

export const readBy = (history: RunHistory | undefined, reader: HistoryReader): readonly HistoryMessage[] =>
  (reader === 'agents' ? history?.agents : reader === 'router' ? (history?.router ?? history?.agents) : history?.ack) ?? []

export const windowed = (history: readonly HistoryMessage[], window: HistoryWindow | undefined): readonly HistoryMessage[] => {
  if (typeof window === 'function') return window([...history])
  if (window === undefined) return history
  return window <= 0 ? [] : history.slice(-window)
}

/** As a conversation begins with it: `intro` is added to the instructions. */
export const toldBefore = (runId: string, history: RunHistory | undefined): { messages: Message[]; intro: string[] } => {
  const said = readBy(history, 'agents')
  return {
    intro: said.flatMap(({ role, content }) => (role === 'system' ? [content] : [])),
    messages: said.flatMap(({ role, content: text }, index): Message[] => {
      const id = `${runId}:before-${index + 1}`
      if (role === 'system') return []
      return [role === 'user' ? { role, id, text } : { role, id, text, calls: [] }]
    }),
  }
}

/** What a run inside of another one is told before its question, where that is not just what agents are told there. @param own what was picked for it */
export const handedDown = (
  executable: { slicesOf(history: readonly HistoryMessage[]): RunHistory },
  told: readonly HistoryMessage[],
  own?: readonly HistoryMessage[],
): { history?: RunHistory } => {
  if (own === undefined && told.length === 0) return {}
  const history = executable.slicesOf(own ?? told)
  return own === undefined && history.agents === told && Object.keys(history).length === 1 ? {} : { history }
}
