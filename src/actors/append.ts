/** One append with its three answers turned into two: an unknown outcome is looked up, never believed. */
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'

const attemptMax = 6
const pauseMs = 50

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

const sleep = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.setTimeout(resolve, ms))

/**
 * Appends until it is known that the frame stands in the journal, or that it cannot.
 * @throws RuntimeError fenced (another writer was first, final), log_full, log_unavailable (still unknown after several attempts)
 */
export const appendCommit = async (
  journal: Journal,
  clock: Clock,
  address: Address,
  expected: number,
  bytes: Uint8Array,
  head: { wakeAt: number | null; at: number },
): Promise<void> => {
  let cause: unknown
  for (let attempt = 1; attempt <= attemptMax; attempt++) {
    const appended = await journal.append(address, expected, bytes, head)
    if (appended.outcome === 'ok') return
    if (appended.outcome === 'unknown') {
      cause = appended.cause
      await sleep(clock, pauseMs * 2 ** (attempt - 1))
    }
    // Our own frame may be the one that fences us: a lost acknowledgement followed by a retry looks like that.
    const last = await journal.last(address).catch((error: unknown) => {
      cause = error
      return 'unknown' as const
    })
    if (last === 'unknown') continue
    if (last?.seq === expected + 1 && same(last.bytes, bytes)) return
    if ((last?.seq ?? 0) !== expected)
      throw new RuntimeError('fenced', `${formatAddress(address)} was taken over: commit ${expected + 1} is by another host`, {
        hint: 'send the message again; the new host answers it',
        retryable: true,
      })
  }
  throw new RuntimeError('log_unavailable', `the journal of ${formatAddress(address)} did not answer`, {
    cause,
    retryable: true,
    hint: 'check the store, then send the message again with the same id',
  })
}
