/**
 * The conversation as the model reads it, folded from the journal: inputs hold the texts, notes say which of them are part of it and in what
 * order. No machine is run for it, and nothing is stored twice.
 */

import { decodeCommit } from '../../actors/index.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import type { AssistantMessage, Message, UserMessage } from '../../contracts/message.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { ModelCallOutput, Prompt, SummaryOutput, ToolCallOutput, TranscriptItem, TranscriptNote, TurnOutcome } from '../../contracts/turn.ts'
import { collectText } from '../session/collect.rules.ts'

/** Conversations kept at hand. */
const viewMax = 10_000
const pageSize = 500

/** `behind` when a commit went by that could not be taken in: the journal has to be read before the view is used. */
type View = { seq: number; messages: Message[]; pending: Map<string, Message>; behind: boolean }

const emptyView = (): View => ({ seq: 0, messages: [], pending: new Map(), behind: false })

const assistant = ({ id, text, reasoning, calls, partial }: ModelCallOutput): AssistantMessage => ({
  role: 'assistant',
  id,
  text,
  ...(reasoning ? { reasoning } : {}),
  calls: partial ? [] : calls.map(({ callId, name, input }) => ({ callId, name, input })),
  ...(partial ? { partial } : {}),
})

/** Users choose the ids of their messages, so these have names of another form than what effects answer. */
const nameOf = (item: string | { content: string }): string => (typeof item === 'string' ? `message ${item}` : `content ${item.content}`)

/** The text that an input brings in, and the name by which notes find it. */
const contentOf = (input: Input): [string, Message] | undefined => {
  if ('timer' in input) return undefined
  const { event } = input
  if (!('from' in input)) {
    const { id, text } = event
    return event.type === 'message' && typeof id === 'string' && typeof text === 'string' ? [nameOf(id), { role: 'user', id, text }] : undefined
  }
  if (event.type !== 'xstate.promise.resolve') return undefined
  const data = event.data as ModelCallOutput | ToolCallOutput | SummaryOutput | null | undefined
  switch (data?.kind) {
    case 'model':
      return [nameOf({ content: data.id }), assistant(data)]
    case 'tool':
      return [nameOf({ content: data.id }), { role: 'tool', callId: data.callId, name: data.name, output: data.output, isError: false }]
    case 'summary':
      return [nameOf({ content: data.id }), { role: 'summary', id: data.id, text: data.text }]
    default:
      return undefined
  }
}

/** What a turn is told for messages that it does not just take one by one. */
const promptMessage = ({ ids, collected, joined, dropped, before }: Prompt, said: UserMessage[]): UserMessage => {
  const items = said.map(({ text }) => text)
  const text = collected ? collectText({ items, ...(dropped ? { dropped } : {}) }) : items.join(joined ? '\n' : '\n\n')
  return { role: 'user', id: ids[0] ?? '', text, ...(before === undefined ? {} : { before }) }
}

const notesOf = ({ notes = [] }: Commit): TranscriptNote[] => (notes as unknown as TranscriptNote[]).filter(({ type }) => type === 'transcript')

/** Takes one commit into a view, in place. @throws RuntimeError corrupt_at where its notes and its inputs do not fit */
const foldTranscript = (view: View, commit: Commit): void => {
  view.seq = commit.seq
  for (const input of commit.inputs) {
    const content = contentOf(input)
    if (content !== undefined) view.pending.set(...content)
  }
  const corrupt = (why: string) => new RuntimeError('corrupt_at', `the transcript ${why}`, { data: { seq: commit.seq } })
  const find = (name: string): Message => {
    const message = view.pending.get(name)
    if (!message) throw corrupt(`names the ${name}, which the journal does not hold`)
    return message
  }
  const take = (item: TranscriptItem): Message => {
    if (typeof item === 'object' && 'role' in item) return item
    if (typeof item === 'object' && 'prompt' in item) {
      const names = item.prompt.ids.map(nameOf)
      const message = promptMessage(item.prompt, names.map(find) as UserMessage[])
      if (!item.prompt.again) for (const name of names) view.pending.delete(name)
      return message
    }
    const name = nameOf(item)
    const message = find(name)
    view.pending.delete(name)
    return message
  }
  for (const { clear, compact, add, drop = [], ended = [] } of notesOf(commit)) {
    if (clear) view.messages = []
    if (compact) {
      const { length } = view.messages
      if (compact.keep > length) throw corrupt(`keeps ${compact.keep} of ${length} messages`)
      view.messages = [take({ content: compact.summary }), ...view.messages.slice(length - compact.keep)]
    }
    if (add) view.messages = view.messages.concat(add.map(take))
    // What was refused, or ended without a turn, waits for nothing any more: the session's own bounds are those of `pending`.
    for (const id of [...drop, ...ended.flatMap(({ ids }) => ids)]) view.pending.delete(nameOf(id))
  }
}

/** Takes commits from the first on as a transcript does. @throws RuntimeError corrupt_at from the one that cannot be taken */
export const transcriptCheck = (): ((commit: Commit) => void) => {
  const view = emptyView()
  return (commit) => foldTranscript(view, commit)
}

/** Of a message that the session itself has answered. */
const textOf = (reply: TurnOutcome['reply']): string =>
  [reply ?? []]
    .flat()
    .map(({ text = '' }) => text)
    .join('\n\n')

/** Keeps the views of live sessions at hand, fed commit by commit. */
export class Transcripts {
  readonly #journal: Journal
  readonly #views = new Map<string, View>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A commit that has just become durable. */
  feed(commit: Commit): void {
    // A new conversation is followed from its first commit, so that it is never read at all.
    const view = this.#views.get(commit.address) ?? (commit.seq === 1 ? this.#keep(commit.address) : undefined)
    if (!view || commit.seq <= view.seq) return
    if (view.seq === commit.seq - 1) foldTranscript(view, commit)
    else view.behind = true
  }

  #keep(name: string): View {
    const view = emptyView()
    this.#views.set(name, view)
    if (this.#views.size > viewMax) this.#views.delete(this.#views.keys().next().value as string)
    return view
  }

  forget(address: Address): void {
    this.#views.delete(formatAddress(address))
  }

  /** The first `upTo` messages since the last reset or compaction. @throws RuntimeError corrupt_at, log_unavailable */
  async read(address: Address, upTo = Number.POSITIVE_INFINITY): Promise<Message[]> {
    const name = formatAddress(address)
    // Kept before it is read, so that it is fed meanwhile and nothing falls in between.
    const view = this.#views.get(name) ?? this.#keep(name)
    if (view.behind || view.messages.length < upTo) await this.#catchUp(address, view)
    if (Number.isFinite(upTo) && view.messages.length < upTo)
      throw new RuntimeError('corrupt_at', `the transcript of ${name} has ${view.messages.length} messages, ${upTo} were expected`, {
        data: { seq: view.seq },
      })
    return view.messages.slice(0, upTo)
  }

  async #catchUp(address: Address, view: View): Promise<void> {
    do {
      view.behind = false
      for await (const commit of this.#commits(address, () => view.seq + 1)) if (commit.seq === view.seq + 1) foldTranscript(view, commit)
    } while (view.behind)
  }

  async *#commits(address: Address, next: () => number): AsyncGenerator<Commit> {
    for (;;) {
      const frames = await this.#journal.read(address, next(), { limit: pageSize })
      for (const { seq, bytes } of frames) yield decodeCommit(bytes, { address: formatAddress(address), seq })
      if (frames.length < pageSize) return
    }
  }

  /**
   * What the journal says about an answer that may be long gone from the transcript: the outcome of a message, its text, and where it stands.
   * @param from the commit that accepted the message, or one before it
   */
  async recall(address: Address, id: string, from = 1): Promise<{ outcome: TurnOutcome; text: string; seq: number } | undefined> {
    let outcome: TurnOutcome | undefined
    let text = ''
    let answer = ''
    let next = from
    for await (const commit of this.#commits(address, () => next)) {
      next = commit.seq + 1
      for (const input of commit.inputs) {
        const content = contentOf(input)?.[1]
        if (content?.role === 'assistant') [answer, text] = [content.id, content.text]
      }
      outcome = notesOf(commit)
        .flatMap(({ ended = [] }) => ended)
        .find(({ ids }) => ids.includes(id))
      if (outcome) return { outcome, text: outcome.answerId === answer ? text : textOf(outcome.reply), seq: commit.seq }
    }
    return undefined
  }
}
