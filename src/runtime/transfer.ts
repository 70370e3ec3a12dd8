/** Journals that travel: taken up as they were written elsewhere, with whatever they are in the middle of. */
import { checksum, decodeCommit } from '../actors/codec.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { Commit } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { beingImported, type Frame } from '../contracts/transport.ts'
import type { Runtime } from '../runtime.ts'
import type { StoredFrame } from './trace.ts'

export type Imported = {
  /** The last commit that is there now; beyond those that were given where it has gone on since an earlier import. */
  seq: number
  /** Commits among those given that were there already. */
  known: number
}

/**
 * Appends commits that were exported elsewhere. Repeating it changes nothing.
 * @param wakeAt given with the last ones: when the actor goes on by itself; until then nobody can use it, also when this process ends in the middle
 * @throws RuntimeError bad_request (not commits of this actor, or not in order), conflict (another journal stands there), log_full …
 */
export const importFrames = async (
  runtime: Pick<Runtime, 'services'>,
  address: Address,
  given: readonly StoredFrame[],
  wakeAt: number | null | undefined,
): Promise<Imported> => {
  const { journal } = runtime.services.transport
  const frames = given.map(({ seq, bytes }) => ({ seq, bytes: new Uint8Array(Buffer.from(bytes, 'base64')) }))
  const first = frames[0]?.seq ?? 1
  let before = first === 1 ? undefined : (await journal.read(address, first - 1, { limit: 1 }))[0]
  let known = 0
  for (const [index, frame] of frames.entries()) {
    const commit = commitOf(frame, address)
    if (first > 1 && before === undefined) throw refused(address, `commit ${first - 1} is not there yet`, 'send the commits in order, from the first')
    if (frame.seq !== (before?.seq ?? 0) + 1 || commit.prev !== (before === undefined ? 0 : checksum(before.bytes)))
      throw refused(address, `commit ${frame.seq} does not follow the one before it`, 'export it again: the file is damaged')
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
      `${address.kind === 'session' ? 'delete it (statecast delete), and import it again' : 'import it into another prefix or folder,'} as a whole`,
    )
  return { seq: head?.seq ?? before?.seq ?? 0, known }
}

const commitOf = (frame: Frame, address: Address): Commit => {
  try {
    // By its schema too: what is read from our own journals has been made by us, and this may have been made by anybody.
    const commit = Commit.parse(decodeCommit(frame.bytes, { address: formatAddress(address), seq: frame.seq }))
    if (commit.at >= 0 && commit.at < beingImported) return commit
    throw new RangeError('its time is none')
  } catch (cause) {
    throw refused(address, `what stands as commit ${frame.seq} is none`, 'export it again: the file is damaged', cause)
  }
}

const refused = (address: Address, problem: string, hint: string, cause?: unknown): RuntimeError =>
  new RuntimeError('bad_request', `${formatAddress(address)} cannot be imported: ${problem}`, { field: 'frames', hint, ...(cause ? { cause } : {}) })

const taken = (address: Address): RuntimeError =>
  new RuntimeError('conflict', `there is another ${formatAddress(address)}`, {
    hint: `${address.kind === 'session' ? 'delete it first (statecast delete), or ' : ''}import into another prefix or folder; what stands there was not changed`,
  })
