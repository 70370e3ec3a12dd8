/** When messages of a history were said, and how the runs ended in which they were: read from the journal, no further back than the history reaches. */
import { commitOf } from '../../actors/index.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { TurnOutcome } from '../../contracts/turn.ts'
import { contentOf, notesOf } from '../../machines/index.ts'
import { type Answered, answeredIn, withAnswered } from './answered.rules.ts'

/** Commits that are read first; each page further back is twice as long. */
const pageSizeMin = 64
const pageSizeMax = 500

/** How a run ended, as the history shows it beside its messages. */
type EndedRun = Pick<
  TurnOutcome,
  'runId' | 'ids' | 'answerId' | 'status' | 'outcome' | 'model' | 'usage' | 'partial' | 'costUsd' | 'durationMs' | 'error'
> & {
  /** ms since the epoch. */
  at: number
}
/** @property at ms since the epoch when it was said, where it has been found */
type DetailedMessage = Message & { at?: number }
/** @property heartbeats ids of messages that nobody has written */
type HistoryDetails = { messages: DetailedMessage[]; runs: EndedRun[]; heartbeats: ReadonlySet<string> }

/**
 * @param page `more`: older messages stand before it. `before`: the one that it ends before
 * @returns with what commands have answered meanwhile
 */
export const withDetails = async (
  journal: Pick<Journal, 'head' | 'read'>,
  address: Address,
  { messages, more, before }: { messages: readonly Message[]; more: boolean; before?: string | undefined },
): Promise<HistoryDetails> => {
  const seqs = new Map<string, number>()
  const said = new Map<string, UserMessage & { at?: number }>()
  const answered: Answered[] = []
  const saidAt = new Map<string, number>()
  const runs: EndedRun[] = []
  const heartbeats = new Set<string>()
  let read = 0
  const wanted = new Set(messages.flatMap((message) => idOf(message) ?? []))
  for await (const commit of fromTheEnd(journal, address)) {
    runs.unshift(...endedIn(commit))
    answered.push(...answeredIn(commit))
    for (const input of commit.inputs) {
      const message = contentOf(input)?.[1]
      if (message?.role === 'user' && isHeartbeat(input)) heartbeats.add(message.id)
      const id = message && idOf(message)
      if (id === undefined) continue
      saidAt.set(id, commit.at)
      seqs.set(id, commit.seq)
      if (message?.role === 'user') said.set(message.id, { ...message, at: commit.at })
      wanted.delete(id)
    }
    if (wanted.size === 0 && (more || isBeginning(commit) || read++ === beyondMax)) break
  }
  const seqOf = (message: Message) => seqs.get(idOf(message) ?? '')
  const end = Math.min(
    ...['user', 'assistant'].map((role) => (before === undefined ? undefined : seqs.get(`${role} ${before}`)) ?? Number.POSITIVE_INFINITY),
  )
  const own = messages.map((message) => ({ ...message, ...definedOf({ at: saidAt.get(idOf(message) ?? '') }) }))
  const here = answered.filter(({ seq }) => seq < end)
  return { messages: withAnswered(own, here, { seqOf, said, isWhole: !more }), runs, heartbeats }
}

/** Commits that are looked through before the first message of a conversation, for commands that were answered there. */
const beyondMax = 500

/** What stands in it and before it belongs to a conversation that has been put away. */
const isBeginning = (commit: Commit): boolean => notesOf(commit).some(({ clear, compact }) => clear === true || compact !== undefined)

const isHeartbeat = (input: Input): boolean => 'event' in input && (input.event as { profile?: { heartbeat?: boolean } }).profile?.heartbeat === true

/** Results of tools stand beside their calls. Users choose the ids of their messages, so a role is part of the name. */
const idOf = (message: Message): string | undefined => (message.role === 'tool' ? undefined : `${message.role} ${message.id}`)

const endedIn = (commit: Commit): EndedRun[] =>
  notesOf(commit).flatMap(({ ended = [] }) =>
    ended
      .filter(({ side }) => !side)
      .map(({ runId, ids, answerId, status, outcome, model, usage, partial, costUsd, durationMs, error }) => ({
        runId,
        ids,
        answerId,
        status,
        outcome,
        model,
        usage,
        partial,
        at: commit.at,
        ...definedOf({ costUsd, durationMs, error }),
      })),
  )

async function* fromTheEnd(journal: Pick<Journal, 'head' | 'read'>, address: Address): AsyncGenerator<Commit> {
  const head = await journal.head(address)
  let size = pageSizeMin
  for (let from = (head?.seq ?? 0) + 1; from > 1; size = Math.min(pageSizeMax, 2 * size)) {
    const limit = Math.min(size, from - 1)
    from -= limit
    const frames = await journal.read(address, from, { limit })
    for (const frame of frames.toReversed()) yield commitOf(frame, address)
  }
}
