/**
 * The conversation as the model reads it, folded from the journal: inputs hold the texts, notes say which of them are part of it and in what
 * order. No machine is run for it, and nothing is stored twice.
 */

import { commitOf } from '../../actors/index.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Commit } from '../../contracts/journal.ts'
import type { Message, UserMessage } from '../../contracts/message.ts'
import { type Address, escapeToken, formatAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { TurnOutcome } from '../../contracts/turn.ts'
import { resultIn, resultText } from '../loop/tool-results.rules.ts'
import { contentOf, type Folded, foldTranscript, nameOf, notesOf, nothingFolded } from './fold.rules.ts'
import { FromTheEnd, type Newest, takesUnknown } from './from-the-end.rules.ts'
import { type Conversation, nameOfConversation, seenBy, turnedBy } from './inner.rules.ts'

/** Conversations kept at hand. */
const viewMax = 10_000
const pageSize = 500
/** Commits that are read first of the end of a journal: after a compaction little is left of a conversation. Each page further back is twice as long. */
const lastPageSize = 64

/**
 * `behind` when a commit went by that could not be taken in: the journal has to be read before the view is used. `whole` when it knows every text that
 * waits, since it has seen the journal from its beginning.
 */
type View = Folded & { behind: boolean; whole: boolean; conversation?: string | undefined }

const emptyView = (): View => ({ ...nothingFolded(), behind: false, whole: false })

/** Takes the next commit in, or is behind where that is not enough. @throws RuntimeError corrupt_at where its notes and its inputs do not fit */
const follow = (view: View, whole: Commit): void => {
  const commit = view.conversation === undefined ? whole : seenBy(view.conversation, whole)
  if (view.whole || !takesUnknown(view, commit)) foldTranscript(view, commit)
  // What it takes waited from before the place at which the view begins.
  else Object.assign(view, emptyView(), { behind: true })
}

const brokenOff = (address: Address, seq: number): RuntimeError =>
  new RuntimeError('corrupt_at', `the journal of ${formatAddress(address)} lacks commit ${seq}`, {
    data: { seq },
    hint: 'ask again: the session may have been deleted meanwhile; else restore a backup that is whole',
  })

/** Of a message that the session itself has answered. */
const textOf = (reply: TurnOutcome['reply']): string =>
  [reply ?? []]
    .flat()
    .map(({ text = '' }) => text)
    .join('\n\n')

type Recalled = { outcome: TurnOutcome; text: string; texts: string[]; seq: number }

/** Whether a run has said it: answers are named by their run and the number of the call. Runs are named by users. */
const isOf = (runId: string, answerId: string): boolean => answerId.startsWith(`${runId}:`) && /^\d+$/.test(answerId.slice(runId.length + 1))

/** @param commit a later one @throws RuntimeError corrupt_at */
const take = (view: View, commit: Commit): void => {
  if (view.seq === commit.seq - 1) follow(view, commit)
  else view.behind = true
}

/** Keeps the views of live conversations at hand, fed commit by commit. */
export class Transcripts {
  readonly #journal: Journal
  readonly #views = new Map<string, View>()
  /** By the name of an actor, those of the conversations inside of it that are at hand. */
  readonly #inside = new Map<string, Set<string>>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A commit that has just become durable. */
  feed(commit: Commit): void {
    // A new conversation is followed from its first commit, so that it is never read at all.
    const view = this.#views.get(commit.address) ?? (commit.seq === 1 ? this.#keep(commit.address, { whole: true }) : undefined)
    if (view && commit.seq > view.seq) take(view, commit)
    if (!commit.address.startsWith('session/')) this.#feedInside(commit)
  }

  #feedInside(commit: Commit): void {
    for (const conversation of turnedBy(commit, 'clear')) this.#begin(commit, conversation)
    for (const name of this.#inside.get(commit.address) ?? []) {
      const view = this.#views.get(name)
      if (view && commit.seq > view.seq) take(view, commit)
    }
    for (const conversation of turnedBy(commit, 'closed')) this.#drop(commit.address, `${commit.address} ${conversation}`)
  }

  #begin({ address, seq }: Commit, conversation: string): void {
    const name = `${address} ${conversation}`
    if ((this.#views.get(name)?.seq ?? 0) < seq) this.#keep(name, { whole: true, seq: seq - 1, conversation })
  }

  #keep(name: string, known: Partial<View>): View {
    const view = { ...emptyView(), ...known }
    this.#views.set(name, view)
    if (view.conversation !== undefined) {
      const actor = name.slice(0, -1 - view.conversation.length)
      this.#inside.set(actor, (this.#inside.get(actor) ?? new Set()).add(name))
    }
    if (this.#views.size > viewMax) {
      const oldest = this.#views.keys().next().value as string
      this.#drop(oldest.split(' ', 1)[0] as string, oldest)
    }
    return view
  }

  #drop(actor: string, name: string): void {
    this.#views.delete(name)
    const others = this.#inside.get(actor)
    others?.delete(name)
    if (others?.size === 0) this.#inside.delete(actor)
  }

  forget(address: Address): void {
    const actor = formatAddress(address)
    this.#views.delete(actor)
    for (const name of this.#inside.get(actor) ?? []) this.#drop(actor, name)
  }

  /** The first `upTo` messages since the last reset or compaction. @throws RuntimeError corrupt_at, log_unavailable */
  async read(address: Conversation, upTo = Number.POSITIVE_INFINITY): Promise<Message[]> {
    const name = address.conversation === undefined ? formatAddress(address) : nameOfConversation(address)
    // Kept before it is read, so that it is fed meanwhile and nothing falls in between.
    const view = this.#views.get(name) ?? this.#keep(name, { conversation: address.conversation })
    if (view.behind || view.messages.length < upTo) await this.#catchUp(address, view)
    if (Number.isFinite(upTo) && view.messages.length < upTo)
      throw new RuntimeError('corrupt_at', `the transcript of ${name} has ${view.messages.length} messages, ${upTo} were expected`, {
        data: { seq: view.seq },
      })
    return view.messages.slice(0, upTo)
  }

  /**
   * The newest messages of a conversation. One that is not at hand is read from its end and no further than needed, and is not kept.
   * @param awaited ids of messages that may still wait: it is read at least as far back as they were said
   * @throws RuntimeError corrupt_at, log_unavailable
   */
  async newest(address: Address, count: number, awaited: readonly string[] = []): Promise<Newest> {
    const view = this.#views.get(formatAddress(address))
    if (view !== undefined && view.seq > 0) {
      const messages = await this.read(address)
      return {
        messages: messages.slice(-count),
        more: messages.length > count,
        waiting: [...view.pending.values()].filter((message) => message.role === 'user'),
      }
    }
    const names = new Set(awaited.map(nameOf))
    const { reader, whole } = await this.#fromTheEnd(address, (one, commit) => {
      for (const input of commit?.inputs ?? []) names.delete(contentOf(input)?.[0] ?? '')
      return !one.has(count) || names.size > 0
    })
    return reader.newest(count, whole)
  }

  /** What users have said that is not part of it yet, in the order in which it came. @throws RuntimeError corrupt_at, log_unavailable */
  async waiting(address: Address): Promise<UserMessage[]> {
    await this.read(address)
    const { pending } = this.#views.get(formatAddress(address)) ?? nothingFolded()
    return [...pending.values()].filter((message) => message.role === 'user')
  }

  /**
   * The whole result of a tool call, as text: of the conversation, or of what stood there before it was compacted.
   * @param reference the id of the call, or what a shortened result names
   */
  async outputOf(address: Conversation, reference: string): Promise<string | undefined> {
    const prefix = `${escapeToken(address.id)}/`
    const wanted = reference.startsWith(prefix) ? reference.slice(prefix.length) : reference
    const found = resultIn(await this.read(address), wanted)
    if (found) return resultText(found)
    const name = nameOf({ content: `${prefix}${wanted}` })
    let next = 1
    for await (const { seq, inputs } of this.#commits(address, () => next)) {
      next = seq + 1
      for (const input of inputs) {
        const [named, content] = contentOf(input) ?? []
        if (named === name && content?.role === 'tool') return resultText(content)
      }
    }
    return undefined
  }

  async #catchUp(address: Conversation, view: View): Promise<void> {
    do {
      view.behind = false
      if (view.seq === 0) await this.#readFromTheEnd(address, view)
      else for await (const commit of this.#commits(address, () => view.seq + 1)) if (commit.seq === view.seq + 1) follow(view, commit)
    } while (view.behind)
  }

  /** As much of the journal as is left of the conversation. */
  async #readFromTheEnd(address: Conversation, view: View): Promise<void> {
    const { reader, from } = await this.#fromTheEnd(address, ({ wantsMore }) => wantsMore)
    // Another reader may have been faster, and the view have gone on since.
    if (from > 0 && view.seq === 0) Object.assign(view, reader.end(from === 1 && reader.wantsMore), { whole: from === 1 })
  }

  /** @param goesOn asked before the first commit and after each @returns `from`: the oldest commit of the pages that were read, 0 where there is no journal */
  async #fromTheEnd(
    { conversation, ...address }: Conversation,
    goesOn: (reader: FromTheEnd, commit?: Commit) => boolean,
  ): Promise<{ reader: FromTheEnd; from: number; whole: boolean }> {
    const head = await this.#journal.head(address)
    const reader = new FromTheEnd()
    if (!head) return { reader, from: 0, whole: true }
    let from = head.seq + 1
    let more = goesOn(reader)
    for (let size = lastPageSize; from > 1 && more; size = Math.min(pageSize, 2 * size)) {
      const limit = Math.min(size, from - 1)
      from -= limit
      const frames = await this.#journal.read(address, from, { limit })
      // It was removed while we read, or is damaged; only reading it again can tell.
      if (frames.length < limit) throw brokenOff(address, from + frames.length)
      for (const frame of frames.toReversed()) {
        if (!more) break
        const whole = commitOf(frame, address)
        const commit = conversation === undefined ? whole : seenBy(conversation, whole)
        reader.take(commit)
        more = goesOn(reader, commit)
      }
    }
    return { reader, from, whole: from === 1 && more }
  }

  async *#commits({ kind, id }: Address, next: () => number): AsyncGenerator<Commit> {
    for (;;) {
      const address = { kind, id }
      const frames = await this.#journal.read(address, next(), { limit: pageSize })
      for (const frame of frames) yield commitOf(frame, address)
      if (frames.length < pageSize) return
    }
  }

  /**
   * What the journal says about an answer that may be long gone from the transcript: the outcome of a message, its text, those of all calls of the
   * model since then, and where it stands.
   * @param from the commit that accepted the message, or one before it
   */
  async recall(address: Address, id: string, from = 1): Promise<Recalled | undefined> {
    let outcome: TurnOutcome | undefined
    const said: { id: string; text: string }[] = []
    let next = from
    for await (const commit of this.#commits(address, () => next)) {
      next = commit.seq + 1
      for (const input of commit.inputs) {
        const content = contentOf(input)?.[1]
        if (content?.role === 'assistant' && !content.injected) said.push(content)
      }
      outcome = notesOf(commit)
        .flatMap(({ ended = [] }) => ended)
        .find(({ ids }) => ids.includes(id))
      if (!outcome) continue
      const { runId, answerId, reply } = outcome
      const last = said.at(-1)
      return {
        outcome,
        text: last !== undefined && last.id === answerId ? last.text : textOf(reply),
        texts: said.flatMap((one) => (isOf(runId, one.id) && one.text !== '' ? [one.text] : [])),
        seq: commit.seq,
      }
    }
    return undefined
  }
}
