/** A conversation, commit by commit: inputs hold the texts, notes say which of them are part of it and in what order. */

import { injectedRun } from '../../contracts/beside.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { FileRef } from '../../contracts/file.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import { type AssistantMessage, type Message, typedText, type UserMessage } from '../../contracts/message.ts'
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import type { SessionEvent } from '../../contracts/session.ts'
import type { ToolCallOutput } from '../../contracts/tool-call.ts'
import type { Prompt, SummaryOutput, TranscriptItem, TranscriptNote } from '../../contracts/turn.ts'
import type { LookUpOutput } from '../../contracts/understanding.ts'
import { collectText } from '../session/collect.rules.ts'
import { injectedText } from '../session/injected.rules.ts'
import { lookedUpIn } from '../understanding/items.rules.ts'

/** The conversation as of a commit, and the texts that are not part of it yet. */
export type Folded = { seq: number; messages: Message[]; pending: Map<string, Message> }

export const nothingFolded = (): Folded => ({ seq: 0, messages: [], pending: new Map() })

const assistant = ({ id, text, reasoning, calls, partial, references, providerMetadata }: ModelCallOutput): AssistantMessage => ({
  role: 'assistant',
  id,
  text,
  ...definedOf({ reasoning: reasoning || undefined }),
  calls: partial ? [] : calls.map(({ callId, name, input }) => ({ callId, name, input })),
  ...definedOf({ partial: partial || undefined, references, providerMetadata: partial ? undefined : providerMetadata }),
})

type InjectEvent = Extract<SessionEvent, { type: 'inject' }>
const injected = ({ id, text, label }: InjectEvent): [string, AssistantMessage] => [
  nameOf(injectedText(id)),
  { role: 'assistant', id: `${injectedRun(id)}:1`, text, calls: [], injected: true, ...definedOf({ label }) },
]

/** Users choose the ids of their messages, so these have names of another form than what effects answer. */
export const nameOf = (item: string | { content: string }): string => (typeof item === 'string' ? `message ${item}` : `content ${item.content}`)

/** The text that an input brings in, and the name by which notes find it. */
export const contentOf = (input: Input): [string, Message] | undefined => {
  if ('timer' in input) return undefined
  const { event } = input
  if (!('from' in input)) {
    const { id, text, typed, files } = event
    if (event.type === 'inject') return injected(event as unknown as InjectEvent)
    if (event.type !== 'message' || typeof id !== 'string' || typeof text !== 'string') return undefined
    // Results alone are no message of a person.
    if (text === '' && event.toolResults !== undefined) return undefined
    return [
      nameOf(id),
      {
        role: 'user',
        id,
        text,
        ...definedOf({
          typed: typeof typed === 'string' ? typed : undefined,
          files: Array.isArray(files) && files.length > 0 ? (files as FileRef[]) : undefined,
        }),
      },
    ]
  }
  if (event.type !== 'xstate.promise.resolve') return undefined
  const data = event.data as ModelCallOutput | ToolCallOutput | SummaryOutput | LookUpOutput | null | undefined
  switch (data?.kind) {
    case 'model':
      return [nameOf({ content: data.id }), assistant(data)]
    case 'tool':
      return [nameOf({ content: data.id }), { role: 'tool', callId: data.callId, name: data.name, output: data.output, isError: false }]
    case 'summary':
      return [nameOf({ content: data.id }), { role: 'summary', id: data.id, text: data.text }]
    // No message by itself: it stands behind the one that it is about.
    case 'lookup':
      return [nameOf({ content: data.id }), { role: 'summary', id: data.id, text: data.text }]
    default:
      return undefined
  }
}

/** All that a commit changes in what can be read of the conversation, but for the order of what came before. */
export const contentsOf = (commit: Commit): unknown[] => [
  ...commit.inputs.flatMap((input) => contentOf(input)?.[1] ?? []),
  ...notesOf(commit).flatMap(({ add = [], compact, clear }) => [
    ...add.filter((item) => typeof item === 'object' && 'role' in item),
    ...(compact ? [compact.keep] : []),
    ...(clear ? ['clear'] : []),
  ]),
]

/** What a turn is told for messages that it does not just take one by one. */
const promptMessage = ({ ids, collected, joined, dropped, before }: Prompt, said: UserMessage[], looked: Message[]): UserMessage => {
  const textOf = (items: string[]) => (collected ? collectText({ items, ...definedOf({ dropped }) }) : items.join(joined ? '\n' : '\n\n'))
  const text = textOf(said.map((one) => one.text))
  const typed = said.some((one) => one.typed !== undefined) ? textOf(said.map(typedText)) : undefined
  const files = said.flatMap((one) => one.files ?? [])
  const after = looked.length > 0 ? looked.map((one) => ('text' in one ? one.text : '')).join('\n\n') : undefined
  return { role: 'user', id: ids[0] ?? '', text, ...definedOf({ typed, before, after, files: files.length > 0 ? files : undefined }) }
}

const noNotes: TranscriptNote[] = []
export const notesOf = ({ notes }: Commit): TranscriptNote[] =>
  notes === undefined ? noNotes : (notes as unknown as TranscriptNote[]).filter(({ type }) => type === 'transcript')

const lookedNames = ({ looked = [] }: Prompt): string[] => looked.map((content) => nameOf({ content }))

/** The texts of which an item of a note is made, and whether they are used up by it. */
export const textsOf = (item: TranscriptItem): { names: string[]; kept: boolean } => {
  if (typeof item === 'object' && 'role' in item) return { names: [], kept: false }
  if (typeof item === 'object' && 'prompt' in item)
    return { names: [...item.prompt.ids.map(nameOf), ...lookedNames(item.prompt)], kept: item.prompt.again === true }
  return { names: [nameOf(item)], kept: false }
}

/** @param find gives the text of a name */
export const messageOf = (item: TranscriptItem, find: (name: string) => Message): Message => {
  if (typeof item === 'object' && 'role' in item) return item
  if (typeof item === 'object' && 'prompt' in item) {
    const { ids } = item.prompt
    return promptMessage(item.prompt, ids.map(nameOf).map(find) as UserMessage[], lookedNames(item.prompt).map(find))
  }
  return find(nameOf(item))
}

/** It was looked up in a message that waits no more: nobody will take it. @param gone whether that is so of the name of a message */
export const isOrphan = (name: string, gone: (message: string) => boolean): boolean => {
  const message = name.startsWith('content ') ? lookedUpIn(name.slice('content '.length)) : undefined
  return message !== undefined && gone(nameOf(message))
}

/** Messages that a note takes out of those that wait: they were refused, or have ended without a turn. */
export const leftOut = ({ drop = [], ended = [] }: TranscriptNote): string[] => [...drop, ...ended.flatMap(({ ids }) => ids)].map(nameOf)

const corrupt = (seq: number, why: string) => new RuntimeError('corrupt_at', `the transcript ${why}`, { data: { seq } })
export const unknownText = (seq: number, name: string) => corrupt(seq, `names the ${name}, which the journal does not hold`)
export const keepsMore = (seq: number, keep: number, length: number) => corrupt(seq, `keeps ${keep} of ${length} messages`)

/** Takes one commit in, in place. @throws RuntimeError corrupt_at where its notes and its inputs do not fit */
export const foldTranscript = (folded: Folded, commit: Commit): void => {
  const { seq } = commit
  folded.seq = seq
  for (const input of commit.inputs) {
    const content = contentOf(input)
    if (content !== undefined) folded.pending.set(...content)
  }
  const find = (name: string): Message => {
    const message = folded.pending.get(name)
    if (!message) throw unknownText(seq, name)
    return message
  }
  const take = (item: TranscriptItem): Message => {
    const message = messageOf(item, find)
    const { names, kept } = textsOf(item)
    if (!kept) for (const name of names) folded.pending.delete(name)
    return message
  }
  for (const note of notesOf(commit)) {
    const { clear, compact, add } = note
    if (clear) folded.messages = []
    if (compact) {
      const { length } = folded.messages
      if (compact.keep > length) throw keepsMore(seq, compact.keep, length)
      folded.messages = [take({ content: compact.summary }), ...folded.messages.slice(length - compact.keep)]
    }
    if (add) folded.messages = folded.messages.concat(add.map(take))
    // The session's own bounds are those of `pending`.
    for (const name of leftOut(note)) folded.pending.delete(name)
  }
  if (folded.pending.size > 0)
    for (const name of folded.pending.keys()) if (isOrphan(name, (message) => !folded.pending.has(message))) folded.pending.delete(name)
}

/** Takes commits from the first on as a transcript does. @throws RuntimeError corrupt_at from the one that cannot be taken */
export const transcriptCheck = (): ((commit: Commit) => void) => {
  const folded = nothingFolded()
  return (commit) => foldTranscript(folded, commit)
}
