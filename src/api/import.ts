/** Journals that travel: taken up as they were written elsewhere, with whatever they are in the middle of. */

import type { ZodError } from 'zod'
import { checksum, decodeCommit } from '../actors/index.ts'

import { messageOf, RuntimeError } from '../contracts/errors.ts'
import { type AnyEvent, Commit } from '../contracts/journal.ts'
import { isDamage } from '../contracts/lost-end.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { TranscriptContent, TranscriptNote } from '../contracts/transcript.ts'
import { beingImported, type Frame, type Head, type Journal } from '../contracts/transport.ts'
import { transcriptCheck } from '../machines/index.ts'
import type { Parts, StoredFrame } from '../runtime/index.ts'

export type Imported = {
  /** The last commit that is there now; beyond those that were given where it has gone on since an earlier import. */
  seq: number
  /** Commits among those given that were there already. */
  known: number
}

/**
 * Appends commits that were exported elsewhere. Repeating it changes nothing.
 * @param wakeAt given with the last ones: when the actor goes on by itself; until then nobody can use it, also when this process ends in the middle
 * @throws RuntimeError unsupported (what the nodes keep for themselves), bad_request (not commits of this actor, or not in order), conflict (another journal stands there), log_full …
 */
export const importFrames = async (
  { transport, host }: Pick<Parts, 'transport' | 'host'>,
  address: Address,
  given: readonly StoredFrame[],
  wakeAt: number | null | undefined,
): Promise<Imported> => {
  const { journal } = transport
  // All nodes go by it from then on: one that does not fit would keep them from starting.
  if (host.registration(address.kind).forks === false)
    throw new RuntimeError('unsupported', `${formatAddress(address)} is kept by the nodes themselves and cannot be imported`, {
      field: 'kind',
      hint: 'conversations and actors of your own machines can be imported; set the configuration with config.set',
    })
  const frames = given.map(({ seq, bytes }) => ({ seq, bytes: new Uint8Array(Buffer.from(bytes, 'base64')) }))
  const commits = frames.map((frame) => commitOf(frame, address))
  const first = frames[0]?.seq ?? 1
  let before = first === 1 ? undefined : (await journal.read(address, first - 1, { limit: 1 }))[0]
  let known = 0
  const there = await headOf(journal, address)
  if (there && (frames.at(-1)?.seq ?? 0) > there.seq && isRunning({ transport, host }, there)) throw busy(address)
  // With the last of them it can be said whether they make a conversation together; until then nobody can use it.
  if (wakeAt !== undefined && address.kind === 'session') await checkTranscript(journal, address, first, commits)
  for (const [index, frame] of frames.entries()) {
    const commit = commits[index] as Commit
    if (first > 1 && before === undefined) throw refused(address, `commit ${first - 1} is not there yet`, 'send the commits in order, from the first')
    if (frame.seq !== (before?.seq ?? 0) + 1 || commit.prev !== (before === undefined ? 0 : checksum(before.bytes)))
      throw refused(address, `commit ${frame.seq} does not follow the one before it`, damaged)
    const last = index === frames.length - 1
    const head = { at: commit.at, wakeAt: last && wakeAt !== undefined ? wakeAt : beingImported }
    const appended = await journal.append(address, frame.seq - 1, frame.bytes, head)
    if (appended.outcome === 'unknown')
      throw new RuntimeError('log_unavailable', 'the store did not answer', { cause: appended.cause, retryable: true, hint: 'import it again' })
    if (appended.outcome === 'fenced') {
      const [there] = await journal.read(address, frame.seq, { limit: 1 })
      if (there === undefined || Buffer.compare(there.bytes, frame.bytes) !== 0) throw taken(address)
      known++
    }
    before = frame
  }
  const head = known > 0 ? await journal.head(address) : undefined
  // The wake time came with the last commit, and that one has been there for longer.
  if (wakeAt !== undefined && head?.wakeAt === beingImported)
    throw refused(
      address,
      'more of it, or its last commit without a wake time, was sent before',
      `delete it (statecast delete ${formatAddress(address)}), and import it again as a whole`,
    )
  return { seq: head?.seq ?? before?.seq ?? 0, known }
}

/** By its schema too: what is read from our own journals has been made by us, and this may have been made by anybody. */
const commitOf = (frame: Frame, address: Address): Commit => {
  const { seq } = frame
  const isNone = (why: string, cause?: unknown) => refused(address, `what stands as commit ${seq} is none: ${why}`, damaged, cause)
  const parsed = Commit.safeParse(decoded(frame, address, isNone))
  if (!parsed.success) throw isNone(issueIn(parsed.error), parsed.error)
  const commit = parsed.data as Commit
  if (!(commit.at >= 0 && commit.at < beingImported)) throw isNone('its time is none')
  if ((seq === 1) !== (commit.create !== undefined)) throw isNone(seq === 1 ? 'nothing is created by it' : 'it begins anew')
  if (address.kind === 'session') {
    const problem = contentProblem(commit)
    if (problem !== undefined) throw isNone(problem)
  }
  return commit
}

const decoded = (frame: Frame, address: Address, isNone: (why: string, cause: unknown) => RuntimeError): unknown => {
  try {
    return decodeCommit(frame.bytes, { address: formatAddress(address), seq: frame.seq })
  } catch (cause) {
    throw isNone(messageOf(cause), cause)
  }
}

/** What the transcript reads in a commit: a note or an answer of another form would keep the whole conversation from being read. */
const contentProblem = ({ inputs, notes = [] }: Commit): string | undefined => {
  for (const [index, note] of notes.entries()) {
    const parsed = TranscriptNote.safeParse(note)
    if (!parsed.success) return issueIn(parsed.error, ['notes', index])
  }
  for (const [index, input] of inputs.entries()) {
    if (!('from' in input) || input.event.type !== 'xstate.promise.resolve') continue
    const { data } = input.event
    const { kind } = (typeof data === 'object' && data !== null ? data : {}) as Partial<AnyEvent>
    const parsed = kinds.has(kind) ? TranscriptContent.safeParse(data) : undefined
    if (parsed?.success === false) return issueIn(parsed.error, ['inputs', index, 'event', 'data'])
  }
  return undefined
}

const kinds = new Set<unknown>(TranscriptContent.options.map(({ shape }) => shape.kind.value))

const issueIn = ({ issues: [issue] }: ZodError, at: PropertyKey[] = []): string =>
  `${[...at, ...(issue?.path ?? [])].map(String).join('.')}: ${issue?.message}`

/** @throws RuntimeError bad_request naming the commit that does not fit to those before it */
const checkTranscript = async (journal: Journal, address: Address, first: number, commits: readonly Commit[]): Promise<void> => {
  const take = transcriptCheck()
  for (let next = 1; next < first; ) {
    const frames = await journal.read(address, next, { limit: Math.min(pageSize, first - next) })
    if (frames.length === 0) return
    for (const { seq, bytes } of frames) takeOne(take, decodeCommit(bytes, { address: formatAddress(address), seq }), address)
    next += frames.length
  }
  for (const commit of commits) takeOne(take, commit, address)
}

const takeOne = (take: (commit: Commit) => void, commit: Commit, address: Address): void => {
  try {
    take(commit)
  } catch (cause) {
    throw refused(address, `commit ${commit.seq} does not fit to those before it: ${messageOf(cause)}`, damaged, cause)
  }
}

/** One at rest can be continued by commits that were made elsewhere. Of what has work to do, a shared store does not tell which node has it. */
const isRunning = ({ transport, host }: Pick<Parts, 'transport' | 'host'>, { address, wakeAt }: Head): boolean =>
  wakeAt !== null && wakeAt !== beingImported && (transport.capabilities.sharedByNodes || host.holds(address))

/** Of one that has lost its end the append says it. */
const headOf = (journal: Journal, address: Address): Promise<Head | undefined> =>
  journal.head(address).catch((error: unknown) => {
    if (isDamage(error)) return undefined
    throw error
  })

const pageSize = 500
const damaged = 'export it again: the file is damaged'

const refused = (address: Address, problem: string, hint: string, cause?: unknown): RuntimeError =>
  new RuntimeError('bad_request', `${formatAddress(address)} cannot be imported: ${problem}`, { field: 'frames', hint, cause })

const busy = (address: Address): RuntimeError =>
  new RuntimeError('conflict', `${formatAddress(address)} has work to do here, and more commits of it cannot be imported`, {
    hint: 'wait until it is at rest, or cancel its turn; then import it again',
    retryable: true,
  })

const taken = (address: Address): RuntimeError =>
  new RuntimeError('conflict', `there is another ${formatAddress(address)}`, {
    hint: `delete it first (statecast delete ${formatAddress(address)}), or import into another prefix or folder; what stands there was not changed`,
  })
