/** Conversations inside an actor that is no session: each reads its own, from whichever end, and none is kept longer than it is wanted. */
import { expect, test } from 'vitest'
import { encode } from '../../../src/actors/index.ts'
import type { Commit, Input } from '../../../src/contracts/journal.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import type { TranscriptNote } from '../../../src/contracts/turn.ts'
import { Transcripts } from '../../../src/machines/transcript/transcript.ts'

const address = { kind: 'study', id: 's' }
const inside = (conversation: string) => ({ ...address, conversation })
const came = (conversation: string, id: string): Input => ({
  from: '/ask/model#1',
  to: '/ask',
  event: { type: 'xstate.promise.resolve', data: { kind: 'model', id, conversation, text: `text of ${id}`, calls: [] } },
})
const asked = (conversation: string, id: string): Omit<TranscriptNote, 'type'> => ({
  conversation,
  clear: true,
  add: [{ role: 'user', id, text: id }],
})

const commitsOf = (...all: [Input[], ...Omit<TranscriptNote, 'type'>[]][]): Commit[] =>
  all.map(([inputs, ...notes], index) => ({
    v: 1 as const,
    address: 'study/s',
    epoch: 1,
    writer: 'w',
    at: index,
    prev: 0,
    states: {},
    digest: 0,
    seq: index + 1,
    inputs,
    ...(notes.length > 0 ? { notes: notes.map((note) => ({ type: 'transcript', ...note })) } : {}),
  }))

/** Two at once, between commits that are about neither. */
const commits = commitsOf(
  [[]],
  [[], asked('a', 'qa')],
  [[], asked('b', 'qb')],
  [[came('a', 'a1')], { conversation: 'a', add: [{ content: 'a1' }] }],
  [[]],
  [[came('b', 'b1')], { conversation: 'b', add: [{ content: 'b1' }] }],
  [[came('a', 'a2')], { conversation: 'a', add: [{ content: 'a2' }] }],
)

const journalOf = (all: readonly Commit[]) => {
  const reads: number[] = []
  const journal = {
    head: async () => ({ address, seq: all.length, wakeAt: null, at: 0 }),
    read: async (_: unknown, from: number, { limit = Number.POSITIVE_INFINITY } = {}) => {
      reads.push(from)
      return all.slice(from - 1, from - 1 + limit).map((commit) => ({ seq: commit.seq, bytes: encode(commit) }))
    },
  } as Partial<Journal> as Journal
  return { journal, reads }
}

const idsIn = async (transcripts: Transcripts, conversation: string, upTo?: number) =>
  (await transcripts.read(inside(conversation), upTo)).map((message) => ('id' in message ? message.id : ''))

test('each sees its own, whether it was followed or is read from the journal, and up to where it is asked', async () => {
  const { journal, reads } = journalOf(commits)
  const followed = new Transcripts(journal)
  for (const commit of commits) followed.feed(commit)
  const read = new Transcripts(journal)

  expect(await idsIn(followed, 'a', 3)).toEqual(['qa', 'a1', 'a2'])
  expect(await idsIn(followed, 'b', 2)).toEqual(['qb', 'b1'])
  expect(reads).toEqual([])
  expect(await idsIn(read, 'a', 3)).toEqual(['qa', 'a1', 'a2'])
  expect(await idsIn(read, 'b', 1)).toEqual(['qb'])
  await expect(read.read(inside('b'), 3)).rejects.toMatchObject({ code: 'corrupt_at' })
})

test('one that begins anew under its name knows nothing of what was before', async () => {
  const again = [...commits, ...commitsOf([[], asked('a', 'qa2')]).map((commit) => ({ ...commit, seq: commits.length + 1 }))]
  const { journal } = journalOf(again)
  const followed = new Transcripts(journal)
  for (const commit of again) followed.feed(commit)

  expect(await idsIn(followed, 'a')).toEqual(['qa2'])
  expect(await idsIn(new Transcripts(journal), 'a')).toEqual(['qa2'])
})

test('of one that nobody will read any more, and of an actor that left, nothing is kept at hand', async () => {
  const closed = [...commits, ...commitsOf([[], { conversation: 'a', closed: true }]).map((commit) => ({ ...commit, seq: commits.length + 1 }))]
  const { journal, reads } = journalOf(closed)
  const followed = new Transcripts(journal)
  for (const commit of closed) followed.feed(commit)

  expect(await idsIn(followed, 'b', 2)).toEqual(['qb', 'b1'])
  expect(reads).toEqual([])
  expect(await idsIn(followed, 'a')).toEqual(['qa', 'a1', 'a2'])
  expect(reads).not.toEqual([])

  reads.length = 0
  followed.forget(address)
  await idsIn(followed, 'b', 2)
  expect(reads).not.toEqual([])
})
