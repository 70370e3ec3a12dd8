/**
 * The conversation as the model reads it, folded from the journal: inputs hold the texts, notes say which of them are part of it and in what
 * order. No machine is run for it, and nothing is stored twice.
 */

import { RuntimeError } from '../contracts/errors.ts'
import type { Commit, Input } from '../contracts/journal.ts'
import type { AssistantMessage, Message } from '../contracts/message.ts'
import type { ModelCallOutput, SummaryOutput, ToolCallOutput, TranscriptNote } from '../contracts/session.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import { decodeCommit } from './codec.ts'

/** Texts that wait to become part of the transcript; a session never has more messages waiting than this. */
const pendingMax = 1000
const pageSize = 500

type View = { seq: number; messages: Message[]; pending: Map<string, Message> }

const assistant = ({ id, text, reasoning, calls, partial }: ModelCallOutput): AssistantMessage => ({
  role: 'assistant',
  id,
  text,
  ...(reasoning ? { reasoning } : {}),
  calls: partial ? [] : calls.map(({ callId, name, input }) => ({ callId, name, input })),
  ...(partial ? { partial } : {}),
})

/** The text that an input brings in, and the id by which notes name it. */
const contentOf = (input: Input): [string, Message] | undefined => {
  if ('timer' in input) return undefined
  const { event } = input
  if (!('from' in input)) {
    const { id, text } = event
    return event.type === 'message' && typeof id === 'string' && typeof text === 'string' ? [id, { role: 'user', id, text }] : undefined
  }
  if (event.type !== 'xstate.promise.resolve') return undefined
  const data = event.data as ModelCallOutput | ToolCallOutput | SummaryOutput | null | undefined
  switch (data?.kind) {
    case 'model':
      return [data.id, assistant(data)]
    case 'tool':
      return [data.id, { role: 'tool', callId: data.callId, name: data.name, output: data.output, isError: false }]
    case 'summary':
      return [data.id, { role: 'summary', id: data.id, text: data.text }]
    default:
      return undefined
  }
}

/** Takes one commit into a view, in place. */
export const foldTranscript = (view: View, commit: Commit): void => {
  view.seq = commit.seq
  for (const input of commit.inputs) {
    const content = contentOf(input)
    if (content === undefined) continue
    view.pending.set(...content)
    if (view.pending.size > pendingMax) view.pending.delete(view.pending.keys().next().value as string)
  }
  for (const note of (commit.notes ?? []) as unknown as TranscriptNote[]) {
    if (note.type !== 'transcript') continue
    const take = (id: string): Message => {
      const message = view.pending.get(id)
      if (!message)
        throw new RuntimeError('corrupt_at', `the transcript names '${id}', which the journal does not hold`, { data: { seq: commit.seq } })
      view.pending.delete(id)
      return message
    }
    if (note.clear) view.messages = []
    if (note.compact) view.messages = [take(note.compact.summary), ...view.messages.slice(view.messages.length - note.compact.keep)]
    if (note.add) view.messages = view.messages.concat(note.add.map((item) => (typeof item === 'string' ? take(item) : item)))
  }
}

/** Keeps the views of live sessions at hand, fed commit by commit. */
export class Transcripts {
  readonly #journal: Journal
  readonly #views = new Map<string, View>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A commit that has just become durable. */
  feed(commit: Commit): void {
    const view = this.#views.get(commit.address) ?? { seq: 0, messages: [], pending: new Map() }
    // A new conversation is followed from its first commit, so that it is never read at all.
    if (commit.seq === 1) this.#views.set(commit.address, view)
    if (view.seq === commit.seq - 1) foldTranscript(view, commit)
  }

  forget(address: Address): void {
    this.#views.delete(formatAddress(address))
  }

  /** The first `upTo` messages since the last reset or compaction. @throws RuntimeError corrupt_at, log_unavailable */
  async read(address: Address, upTo = Number.POSITIVE_INFINITY): Promise<Message[]> {
    const name = formatAddress(address)
    const known = this.#views.get(name)
    if (known && known.messages.length >= upTo) return known.messages.slice(0, upTo)
    const view = known ?? { seq: 0, messages: [], pending: new Map() }
    for (;;) {
      const frames = await this.#journal.read(address, view.seq + 1, { limit: pageSize })
      for (const { seq, bytes } of frames) if (seq === view.seq + 1) foldTranscript(view, decodeCommit(bytes, { address: name, seq }))
      if (frames.length < pageSize) break
    }
    this.#views.set(name, view)
    if (Number.isFinite(upTo) && view.messages.length < upTo)
      throw new RuntimeError('corrupt_at', `the transcript of ${name} has ${view.messages.length} messages, ${upTo} were expected`, {
        data: { seq: view.seq },
      })
    return view.messages.slice(0, upTo)
  }
}
