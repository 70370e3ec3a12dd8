/** One append with its three answers turned into two: an unknown outcome is looked up, never believed. */
import { sameBytes } from '../../contracts/bytes.ts'
import { type Clock, pause } from '../../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { isDamage, lostEndError } from '../../contracts/lost-end.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Frame, Journal } from '../../contracts/transport.ts'
import { checksum } from './codec.ts'

/** ms to wait before another try, from what was waited before the last one. */
export const longer = (pauseMs: number): number => Math.min(Math.max(50, pauseMs * 2), 2000)
/** How long an unknown outcome is looked into, however little there is to lose. */
const unknownMs = 3000

type Append = {
  journal: Journal
  clock: Clock
  address: Address
  expected: number
  /** Checksum of its first commit, see `Ledger`. */
  birth: number
  bytes: Uint8Array
  head: { wakeAt: number | null; at: number }
  /** ms to go on trying while the store is full or away. */
  patienceMs: number
  /** Called before each pause with the error that would be thrown if nothing got better. Throws when nobody waits for this any more. */
  stalled: (error: RuntimeError) => void
}

/**
 * Appends until it is known that the frame stands in the journal, or that it cannot.
 * @throws RuntimeError fenced (another writer was first, final), corrupt_at (the journal has lost its end), log_full, log_unavailable (patience is over), closed, too_large
 */
export const appendCommit = async (append: Append): Promise<void> => {
  const { journal, clock, address, expected, birth, bytes, head, patienceMs, stalled } = append
  let waited = 0
  for (let pauseMs = 0; ; ) {
    let failed: RuntimeError
    try {
      const appended = await journal.append(address, expected, bytes, head)
      if (appended.outcome === 'ok') return
      failed = unavailable(address, appended.outcome === 'unknown' ? appended.cause : undefined)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'log_full') throw error
      failed = error
    }
    // Our own frame may be the one that fences us: a lost acknowledgement followed by a retry looks like that.
    const last = await lastOf(journal, address)
    if (last !== 'unknown') {
      if (last?.seq === expected + 1 && sameBytes(last.bytes, bytes)) return
      if ((last?.seq ?? 0) !== expected) throw await overtaken({ journal, address, seq: expected, birth }, last?.seq ?? 0, isUnbegun(last))
    }
    if (waited >= (failed.code === 'log_full' ? patienceMs : Math.max(patienceMs, unknownMs))) throw failed
    stalled(failed)
    pauseMs = longer(pauseMs)
    await pause(clock, pauseMs)
    waited += pauseMs
  }
}

/** @throws RuntimeError corrupt_at: of damage there is nothing unknown */
export const lastOf = (journal: Journal, address: Address): Promise<Frame | undefined | 'unknown'> =>
  journal.last(address).catch((error: unknown) => {
    if (isDamage(error)) throw error
    return 'unknown' as const
  })

/** Whether a journal ends with what a fork shares: nobody has gone on with it. @param last its last frame */
export const isUnbegun = (last: Frame | undefined): boolean => last?.of !== undefined

/**
 * Why a journal does not end where its owner left it: another host went on with it, or removed it; somebody made a fork there; or it has lost its end.
 * @param owned how far its owner had come @param found where it ends @param fork it is one that nobody has begun
 */
export const overtaken = async (
  { journal, address, seq, birth }: { journal: Journal; address: Address; seq: number; birth: number },
  found: number,
  fork: boolean,
): Promise<RuntimeError> => {
  if (fork) return forkedError(address)
  if (found > 0 && found < seq) {
    const [first] = await journal.read(address, 1, { limit: 1 })
    if (first === undefined || first.seq > 1 || checksum(first.bytes) === birth) return lostEndError(address, found, seq)
  }
  // Of one that is empty the store knows whether it was removed.
  return fencedError(address, seq + 1)
}

const fencedError = (address: Address, seq: number): RuntimeError =>
  new RuntimeError('fenced', `${formatAddress(address)} was taken over: commit ${seq} is by another host`, {
    hint: 'send the message again; the new host answers it',
    retryable: true,
  })

/** No other host has it: whoever asks for it next begins it. */
const forkedError = (address: Address): RuntimeError =>
  new RuntimeError('closed', `${formatAddress(address)} is a fork by now, which was made meanwhile`, {
    hint: 'send the message again; the fork answers it',
    retryable: true,
  })

const unavailable = (address: Address, cause: unknown): RuntimeError =>
  new RuntimeError('log_unavailable', `the journal of ${formatAddress(address)} did not answer`, {
    cause,
    retryable: true,
    hint: 'check the store, then send the message again with the same id',
  })
