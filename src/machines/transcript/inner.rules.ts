/** Conversations inside an actor that is no session, and may hold several: what of a commit belongs to one of them. */
import type { Commit, Input } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import { formatAddress } from '../../contracts/subjects.ts'
import type { TranscriptNote } from '../../contracts/turn.ts'
import { notesOf } from './fold.rules.ts'

/** A session, or one of the conversations inside another actor. */
export type Conversation = Address & { conversation?: string | undefined }

/** No address has a space in it. */
export const nameOfConversation = ({ conversation, ...address }: Conversation): string =>
  conversation === undefined ? formatAddress(address) : `${formatAddress(address)} ${conversation}`

/** The commit as that conversation sees it: what belongs to others is not in it. */
export const seenBy = (conversation: string, commit: Commit): Commit => ({
  ...commit,
  inputs: commit.inputs.filter((input) => conversationOf(input) === conversation),
  notes: notesOf(commit).filter((note) => note.conversation === conversation),
})

const conversationOf = (input: Input): string | undefined =>
  'event' in input ? (input.event.data as { conversation?: string } | null | undefined)?.conversation : undefined

/** Conversations that a commit begins, or ends: their views are kept from then on, and no longer. */
export const turnedBy = (commit: Commit, what: 'clear' | 'closed'): string[] =>
  notesOf(commit).flatMap((note: TranscriptNote) => (note[what] && note.conversation !== undefined ? [note.conversation] : []))
