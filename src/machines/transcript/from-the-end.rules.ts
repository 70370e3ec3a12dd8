/**
 * The same conversation, folded from its newest commit backwards and no further than needed: what was cleared, or replaced by a summary, is not looked at.
 * A session that comes back into memory after 10,000 turns reads so much of its journal as is left of its conversation.
 */

import type { Commit } from '../../contracts/journal.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'
import type { TranscriptItem } from '../../contracts/turn.ts'
import { contentOf, type Folded, isOrphan, keepsMore, leftOut, messageOf, nameOf, notesOf, textsOf, unknownText } from './fold.rules.ts'

/** The newest messages of a conversation. `more`: older ones stand before them. `waiting`: said, and not part of it yet. */
export type Newest = { messages: Message[]; more: boolean; waiting: UserMessage[] }

/** A message whose texts have not all been found. */
type Slot = { item: TranscriptItem; seq: number; texts: Map<string, Message> }

export class FromTheEnd {
  /** Newest first. */
  readonly #slots: Slot[] = []
  /** The summaries that stand before all that was kept: a newer one before those that it kept. */
  readonly #summaries: Slot[] = []
  /** Messages of older commits that are still wanted. */
  #wanted = Number.POSITIVE_INFINITY
  /** By the name of a text that has not been found, the messages made of it. */
  readonly #lacking = new Map<string, Slot[]>()
  /** Texts that nothing after them takes. */
  readonly #pending = new Map<string, Message>()
  readonly #taken = new Set<string>()
  #seq = 0

  /** @returns whether older commits matter */
  get wantsMore(): boolean {
    return this.#wanted > 0 || this.#lacking.size > 0
  }

  /** Whether the newest `count` messages have been found, each with its texts. */
  has(count: number): boolean {
    return this.#wanted === 0 ? this.#lacking.size === 0 : this.#slots.length >= count && this.#lacking.size === 0
  }

  /** To be called with the newest commit first. */
  take(commit: Commit): void {
    const { seq, inputs } = commit
    this.#seq = Math.max(this.#seq, seq)
    for (const note of notesOf(commit).toReversed()) {
      for (const name of leftOut(note)) this.#taken.add(name)
      for (const item of (note.add ?? []).toReversed()) this.#add(item, seq)
      if (note.compact) this.#compact(note.compact, seq)
      if (note.clear) this.#begin(seq)
    }
    for (const input of inputs.toReversed()) {
      const content = contentOf(input)
      if (content) this.#found(...content)
    }
  }

  #add(item: TranscriptItem, seq: number): void {
    this.#use(item)
    if (this.#wanted === 0) return
    this.#wanted--
    this.#slots.push(this.#slot(item, seq))
  }

  #compact({ keep, summary }: { keep: number; summary: string }, seq: number): void {
    const item = { content: summary }
    this.#use(item)
    if (this.#wanted <= keep) return
    if (Number.isFinite(this.#wanted) && this.#wanted > keep + 1) throw keepsMore(seq, this.#wanted, keep + 1)
    this.#wanted = keep
    this.#summaries.unshift(this.#slot(item, seq))
  }

  /** There was nothing before: the conversation was cleared, or the journal begins. @throws RuntimeError corrupt_at */
  #begin(seq: number): void {
    if (Number.isFinite(this.#wanted) && this.#wanted > 0) throw keepsMore(seq, this.#wanted, 0)
    this.#wanted = 0
  }

  #use(item: TranscriptItem): void {
    const { names, kept } = textsOf(item)
    if (!kept) for (const name of names) this.#taken.add(name)
  }

  #slot(item: TranscriptItem, seq: number): Slot {
    const slot: Slot = { item, seq, texts: new Map() }
    for (const name of textsOf(item).names) {
      const others = this.#lacking.get(name)
      if (others) others.push(slot)
      else this.#lacking.set(name, [slot])
    }
    return slot
  }

  #found(name: string, message: Message): void {
    for (const { texts } of this.#lacking.get(name) ?? []) texts.set(name, message)
    this.#lacking.delete(name)
    if (this.#taken.has(name) || this.#pending.has(name) || isOrphan(name, (one) => this.#taken.has(one))) return
    this.#pending.set(name, message)
  }

  /** What it comes to. @param whole it has seen all commits, from the first on @throws RuntimeError corrupt_at where notes and inputs do not fit */
  end(whole: boolean): Folded {
    if (whole) this.#begin(1)
    return { seq: this.#seq, messages: [...this.#slots, ...this.#summaries].toReversed().map(madeOf), pending: this.#pending }
  }

  /** The newest so many, when {@link has} says that they are there, or when all commits have been seen. */
  newest(count: number, whole: boolean): Newest {
    if (whole && this.wantsMore) this.#begin(1)
    // A summary stands before what was kept: it is among the newest only where all of that is.
    const found = this.#wanted === 0 ? [...this.#slots, ...this.#summaries] : this.#slots
    const more = found.length > count || this.#wanted > 0
    return {
      messages: found.slice(0, count).toReversed().map(madeOf),
      more,
      waiting: [...this.#pending.values()].filter((message) => message.role === 'user').toReversed(),
    }
  }
}

const madeOf = ({ item, seq, texts }: Slot): Message =>
  messageOf(item, (name) => {
    const message = texts.get(name)
    if (!message) throw unknownText(seq, name)
    return message
  })

/** Whether a commit takes a text that stands neither in it nor among those that are known to wait. */
export const takesUnknown = ({ pending }: Folded, commit: Commit): boolean => {
  const notes = notesOf(commit)
  if (notes.length === 0) return false
  const names = notes.flatMap(({ add = [], compact }) => [
    ...add.flatMap((item) => textsOf(item).names),
    ...(compact ? [nameOf({ content: compact.summary })] : []),
  ])
  const brought = new Set(commit.inputs.map((input) => contentOf(input)?.[0]))
  return names.some((name) => !pending.has(name) && !brought.has(name))
}
