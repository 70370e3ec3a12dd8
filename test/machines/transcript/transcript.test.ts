/** The conversation of a session: the same from whichever end of its journal it is read, and no more is read than is left of it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encode } from '../../../src/actors/index.ts'
import type { Commit, Input } from '../../../src/contracts/journal.ts'
import type { Frame, Journal } from '../../../src/contracts/transport.ts'
import type { TranscriptItem, TranscriptNote } from '../../../src/contracts/turn.ts'
import { foldTranscript, nothingFolded } from '../../../src/machines/transcript/fold.rules.ts'
import { Transcripts } from '../../../src/machines/transcript/transcript.ts'
import { casesOf } from '../../support/property.ts'

const address = { kind: 'session', id: 'long' }

const said = (id: string): Input => ({ to: '/', event: { type: 'message', id, text: `text of ${id}` }, id })
const came = (id: string, kind: 'model' | 'summary' = 'model'): Input => ({
  from: '/model#1',
  to: '/',
  event: { type: 'xstate.promise.resolve', data: { kind, id, text: `text of ${id}`, calls: [] } },
})

/** A journal in the making: each call adds a commit. */
class Writer {
  readonly commits: Commit[] = []

  write(inputs: Input[], ...notes: Omit<TranscriptNote, 'type'>[]): void {
    const seq = this.commits.length + 1
    const common = { v: 1 as const, address: 'session/long', epoch: 1, writer: 'w', at: seq, prev: 0, states: {}, digest: 0 }
    this.commits.push({ ...common, seq, inputs, ...(notes.length > 0 ? { notes: notes.map((note) => ({ type: 'transcript', ...note })) } : {}) })
  }

  /** As sessions have them: a message, and its answer. */
  turn(number: number): void {
    this.write([said(`m${number}`)], { add: [{ prompt: { ids: [`m${number}`] } }] })
    this.write([came(`a${number}`)], { add: [{ content: `a${number}` }] })
  }

  compact(number: number, keep: number): void {
    this.write([came(`s${number}`, 'summary')], { compact: { keep, summary: `s${number}` } })
  }
}

/** Counts what is read of it. */
const journalOf = (commits: Commit[]) => {
  const counted = { commits: 0, bytes: 0, requests: 0 }
  const frameOf = (commit: Commit): Frame => ({ seq: commit.seq, bytes: encode(commit) })
  const frames = commits.map(frameOf)
  const journal = {
    head: async () => (frames.length === 0 ? undefined : { address, seq: frames.length, wakeAt: null, at: 0 }),
    read: async (_: unknown, from: number, { limit = Number.POSITIVE_INFINITY } = {}) => {
      const page = frames.slice(from - 1, from - 1 + limit)
      counted.requests++
      counted.commits += page.length
      for (const { bytes } of page) counted.bytes += bytes.length
      return page
    },
  } as Partial<Journal> as Journal
  return { journal, counted, append: (commit: Commit) => void frames.push(frameOf(commit)) }
}

const folded = (commits: Commit[]) => {
  const view = nothingFolded()
  for (const commit of commits) foldTranscript(view, commit)
  return view.messages
}

/** What may happen in a conversation, as a machine would note it: nothing is taken that has not come, and no more is kept than there is. */
const story = (steps: { kind: number; pick: number }[]): Commit[] => {
  const writer = new Writer()
  const waiting: string[] = []
  let length = 0
  for (const [number, { kind, pick }] of steps.entries()) {
    const next = `${number}`
    const [oldest] = waiting
    if (kind === 0) {
      writer.write([said(next)])
      waiting.push(next)
    } else if (kind === 1 && oldest !== undefined) {
      writer.write([], { add: [oldest] })
      waiting.shift()
      length++
    } else if (kind === 2 && oldest !== undefined) {
      writer.write([], { add: [{ prompt: { ids: waiting.slice(0, 1 + pick), collected: true } }] })
      waiting.splice(0, 1 + pick)
      length++
    } else if (kind === 3 && oldest !== undefined) {
      // It steers one turn, and gets one of its own later.
      writer.write([], { add: [{ prompt: { ids: [oldest], again: true } }] })
      length++
    } else if (kind === 4 && oldest !== undefined) {
      writer.write([], { drop: [oldest] })
      waiting.shift()
    } else if (kind === 5) {
      const inline: TranscriptItem = { role: 'tool', callId: next, name: 'look', output: 'lost', isError: true }
      writer.write([came(next), came(`${next}b`)], { add: [{ content: next }, inline] }, { add: [{ content: `${next}b` }] })
      length += 3
    } else if (kind === 6) {
      const keep = Math.min(pick, length)
      writer.write([came(next, 'summary')], { compact: { keep, summary: next }, add: [] })
      length = keep + 1
    } else if (kind === 7 && pick === 0) {
      writer.write([], { clear: true })
      length = 0
    } else writer.write([])
  }
  return writer.commits
}
const steps = fc.array(fc.record({ kind: fc.nat({ max: 7 }), pick: fc.nat({ max: 4 }) }), { maxLength: 150 })

test('a conversation read from its end is the one folded from its beginning, and goes on like it', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat({ max: 150 }), async (taken, cut) => {
      const commits = story(taken)
      const { journal, append } = journalOf(commits.slice(0, cut))
      const transcripts = new Transcripts(journal)

      // Woken at some commit, and fed from then on; what it cannot follow it reads again.
      const early = await transcripts.read(address)
      for (const commit of commits.slice(cut)) {
        append(commit)
        transcripts.feed(commit)
      }

      expect(early).toEqual(folded(commits.slice(0, cut)))
      expect(await transcripts.read(address)).toEqual(folded(commits))
    }),
    casesOf(import.meta.url),
  )
})

test('a message that waited since long before is found when it is taken', async () => {
  const writer = new Writer()
  writer.write([said('early')])
  for (let number = 1; number <= 300; number++) writer.turn(number)
  writer.compact(1, 2)
  const { commits } = writer
  const { journal, counted, append } = journalOf(commits)
  const transcripts = new Transcripts(journal)

  await transcripts.read(address)
  expect(counted.commits).toBeLessThan(commits.length)
  writer.write([], { add: ['early'] })
  const last = commits.at(-1) as Commit
  append(last)
  transcripts.feed(last)

  expect((await transcripts.read(address)).at(-1)).toEqual({ role: 'user', id: 'early', text: 'text of early' })
  expect(await transcripts.read(address)).toEqual(folded(commits))
})

describe('after 10,000 turns', () => {
  const writer = new Writer()
  for (let number = 1; number <= 10_000; number++) {
    writer.turn(number)
    if (number % 200 === 0) writer.compact(number, 20)
  }
  writer.turn(10_001)

  test('no more of the journal is read than is left of the conversation', async () => {
    const { journal, counted } = journalOf(writer.commits)

    const messages = await new Transcripts(journal).read(address)

    expect(messages).toHaveLength(23)
    expect(messages[0]).toMatchObject({ role: 'summary', id: 's10000' })
    expect(counted).toMatchObject({ commits: 64, requests: 1 })
    expect(counted.bytes).toBeLessThan(16_000)
  })

  test('a conversation that begins anew is not looked for any further', async () => {
    const { commits } = writer
    const anew = { ...(commits.at(-1) as Commit), seq: commits.length + 1, inputs: [], notes: [{ type: 'transcript', clear: true }] }
    const { journal, counted } = journalOf([...commits, anew])

    expect(await new Transcripts(journal).read(address)).toEqual([])
    expect(counted.commits).toBe(64)
  })
})

describe('a journal whose notes do not fit its inputs', () => {
  test.each([
    ['a text that never came', [{ add: [{ content: 'nobody' }] }]],
    ['more messages kept than there are', [{ compact: { keep: 2, summary: 's' } }, { compact: { keep: 5, summary: 's' } }]],
  ] as [string, Omit<TranscriptNote, 'type'>[]][])('%s is told as damage', async (_, notes) => {
    const writer = new Writer()
    writer.turn(1)
    for (const note of notes) writer.write([came('s', 'summary')], note)

    await expect(new Transcripts(journalOf(writer.commits).journal).read(address)).rejects.toMatchObject({ code: 'corrupt_at' })
  })

  test('a journal with a hole in it is damaged, and no part of it is left out in silence', async () => {
    const writer = new Writer()
    for (let number = 1; number <= 100; number++) writer.turn(number)
    const { journal } = journalOf(writer.commits)
    const { read } = journal
    Object.assign(journal, { read: async (...args: Parameters<typeof read>) => (await read(...args)).filter(({ seq }) => seq !== 50) })

    await expect(new Transcripts(journal).read(address)).rejects.toMatchObject({ code: 'corrupt_at' })
  })
})
