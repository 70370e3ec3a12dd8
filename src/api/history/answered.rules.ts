/**
 * What commands have answered, among the messages of a history. People see it where it was said; no model reads it, so it is no part of the transcript, and
 * is found in what the journal notes of messages that were answered without a turn.
 */
import { definedOf } from '../../contracts/defined.ts'
import type { Commit } from '../../contracts/journal.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'
import { notesOf } from '../../machines/index.ts'
import { textOfReply } from '../chat/run-view.rules.ts'

/** @property seq of the commit that answered it @property at ms since the epoch */
export type Answered = { id: string; text: string; seq: number; at: number }

export const answeredIn = (commit: Commit): Answered[] =>
  notesOf(commit).flatMap(({ ended = [], add = [], clear }) =>
    // What begins a conversation anew stands in none.
    clear || add.length > 0
      ? []
      : ended.flatMap(({ ids, outcome, answerId, reply, steps, side }) => {
          const [id] = ids
          const text = reply === undefined ? '' : textOfReply(reply)
          return outcome === 'replied' && !side && steps === 0 && !answerId && id !== undefined && text !== ''
            ? [{ id, text, seq: commit.seq, at: commit.at }]
            : []
        }),
  )

type Known = {
  /** Commits of messages, as far as they have been found. */
  seqOf: (message: Message) => number | undefined
  /** What somebody has said. */
  said: ReadonlyMap<string, UserMessage & { at?: number }>
  /** Nothing stands before these messages. */
  isWhole: boolean
}

/** Each behind the newest message that was there before it. What was answered before the first message stands on the page before. */
export const withAnswered = <One extends Message & { at?: number }>(
  messages: readonly One[],
  answered: readonly Answered[],
  known: Known,
): (One | Message)[] => {
  const first = known.isWhole ? 0 : (messages.map(known.seqOf).find((seq) => seq !== undefined) ?? Number.POSITIVE_INFINITY)
  const left = answered.filter(({ seq }) => seq >= first).toSorted((a, b) => a.seq - b.seq)
  const placed: (One | Message)[] = []
  for (const message of messages) {
    const seq = known.seqOf(message) ?? 0
    while (left[0] !== undefined && left[0].seq < seq) placed.push(...entriesOf(left.shift() as Answered, known.said))
    placed.push(message)
  }
  return [...placed, ...left.flatMap((one) => entriesOf(one, known.said))]
}

const entriesOf = ({ id, text, at }: Answered, said: Known['said']): Message[] => {
  const question = said.get(id)
  // Of what is nothing but a command the words are not kept, only what it is to do.
  const answer = { role: 'assistant' as const, id: `${id}:reply`, text, calls: [], injected: true as const, ...definedOf({ at }) }
  return question && question.text !== '' ? [question, answer] : [answer]
}
