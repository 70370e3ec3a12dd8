/** All sessions of a journal, and how one is deleted. */
import { commitOf } from '../actors/index.ts'
import type { Access } from '../contracts/access.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import { isDamage } from '../contracts/lost-end.ts'
import type { Address } from '../contracts/subjects.ts'
import { beingImported, type Head, type Journal } from '../contracts/transport.ts'
import type { Parts } from '../runtime/index.ts'
import { reachableHeads, waitingIn } from './actors.ts'

type JournalParts = Pick<Parts, 'transport' | 'host'>

export type SessionRow = {
  key: string
  /** The newest state that the journal names, `quarantined`, `importing`, or null where it lies too far back to be looked for. */
  state: unknown
  seq: number
  /** ms since the epoch of the last commit. */
  at: number
  /** Whether it has work to do. */
  busy: boolean
  /** Tool calls that wait for a person. */
  waiting: number
  /** Of a fork: where it came from, and the last commit that it shares. */
  origin?: { key: string; at: number }
}

/** Commits looked through for the state of a session: a turn is rarely longer, and nobody is woken for a list. */
const lookBack = 20

/** @param access on whose behalf: others see nothing of it */
export const listSessions = async (parts: JournalParts, limit = 1000, access?: Access): Promise<SessionRow[]> => {
  const heads = await reachableHeads(parts, { kind: 'session', limit }, access)
  const rows: SessionRow[] = []
  for (const head of heads) rows.push(await sessionRow(parts, head))
  return rows
}

export const sessionRow = async (parts: JournalParts, head: Head): Promise<SessionRow> => ({
  key: head.address.id,
  state: head.wakeAt === beingImported ? 'importing' : await lastState(parts.transport.journal, head.address, head.seq),
  seq: head.seq,
  at: head.at,
  busy: head.wakeAt === 0,
  waiting: await waitingIn(parts, head),
  ...(head.origin && { origin: { key: head.origin.address.id, at: head.origin.at } }),
})

const lastState = async (journal: Journal, address: Address, seq: number): Promise<unknown> => {
  try {
    const frames = await journal.read(address, Math.max(1, seq - lookBack + 1), { limit: lookBack })
    const commits = frames.map((frame) => commitOf(frame, address)).reverse()
    if (commits.find(({ quarantine, revived }) => quarantine || revived)?.quarantine) return 'quarantined'
    return commits.find(({ states }) => '/' in states)?.states['/'] ?? null
  } catch (error) {
    // One damaged session must not hide the others; `doctor` and `trace` name the place.
    if (isRuntimeError(error) && error.code === 'corrupt_at') return 'corrupt'
    throw error
  }
}

/** Whether a journal has lost its end, as far as its store knows, or is gone while there is a snapshot of it. */
export const journalIsDamaged = async ({ transport }: Pick<Parts, 'transport'>, address: Address): Promise<boolean> => {
  try {
    return (await transport.journal.head(address)) === undefined && (await transport.journal.snapshot(address)) !== undefined
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

/** Ends the session, then forgets its journal, and its files that no other session names. @throws RuntimeError session_busy while a turn is running */
export const deleteSession = async ({ directory }: Pick<Parts, 'directory'>, address: Address): Promise<void> => {
  const root = await directory.read(address).catch((error: unknown) => {
    // What cannot be opened any more can still be deleted, and what is only half here.
    if (isRuntimeError(error) && ['corrupt_at', 'drift', 'conflict'].includes(error.code)) return undefined
    throw error
  })
  if (root && !root.quarantine && root.snapshot?.status === 'active') {
    // Where there is no room for its last word, forgetting it makes some.
    const { emitted } = await directory.send(address, { type: 'close', delete: true }).catch((error: unknown) => {
      if (isRuntimeError(error) && error.code === 'log_full') return { emitted: [] as AnyEvent[] }
      throw error
    })
    const refused = emitted.find(({ type }) => type === 'refused')
    if (refused)
      throw new RuntimeError('session_busy', `the session '${address.id.slice(0, 80)}' has a turn running`, {
        hint: 'cancel the turn, or wait for it to end',
        retryable: true,
      })
  }
  await directory.forget(address)
}
