/** What the journal says of actors, read without waking one: nothing is started and nothing is written. */

import { recover, saidAfter, viewOf } from '../actors/index.ts'
import { type Access, reaches } from '../contracts/access.ts'
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, isRuntimeError } from '../contracts/errors.ts'
import { halfImportedError } from '../contracts/half-imported.ts'
import type { ActorPath } from '../contracts/journal.ts'
import { shownBody } from '../contracts/redact.ts'
import { type Address, formatAddress, parseAddress } from '../contracts/subjects.ts'
import { beingImported, type Head } from '../contracts/transport.ts'
import type { Approval } from '../contracts/turn.ts'
import type { SessionContext } from '../machines/index.ts'
import { allHeads, type Parts, type Session, type SessionView, sessionView } from '../runtime/index.ts'

type JournalParts = Pick<Parts, 'transport' | 'host'>

export type ActorRow = {
  kind: string
  id: string
  /** Null when it cannot be read, see `error`, and where only heads are asked for. */
  status: 'active' | 'done' | 'error' | 'stopped' | null
  /** State of the root at `/` and of whatever lives below it. */
  states: Record<ActorPath, unknown>
  seq: number
  /** ms since the epoch of the last commit. */
  at: number
  /** When it goes on by itself: 0 as soon as it can, ms since the epoch, or null. */
  wakeAt: number | null
  /** Tool calls of a session that wait for a person. */
  waiting: number
  /** Of a fork: the actor whose past it has, up to that commit. */
  origin?: Address & { at: number }
  /** Why it was set aside. */
  quarantine?: ErrorBody
  /** Why it cannot be woken: drift, corrupt_at, conflict while it is being imported, or a kind that nobody registered. */
  error?: ErrorBody
}

/** `next` is the `after` of the next page, null at the end. */
export type ActorPage = { actors: ActorRow[]; next: string | null }

/** An actor as its journal leaves it. */
export const peek = async ({ host, transport }: JournalParts, address: Address) => {
  const { replica, ledger } = await recover(transport.journal, address, host.registration(address.kind))
  const snapshot = replica?.actor.getSnapshot()
  const approvals = address.kind === 'session' ? ((snapshot?.context as SessionContext | undefined)?.approvals ?? []) : []
  return { replica, status: snapshot?.status ?? null, quarantine: ledger.quarantine, approvals: ledger.quarantine ? [] : approvals }
}

/** A session for whoever only looks: one that sleeps is not woken, here or on another node. @throws RuntimeError not_found, drift, corrupt_at */
export const lookAt = async ({ host, transport }: JournalParts, session: Session): Promise<SessionView> => {
  const { key, address } = session
  // What is being closed says so, rather than what it was: nothing more will happen here.
  if (host.holds(address) || host.closed) return session.view()
  const { replica, ledger } = await recover(transport.journal, address, host.registration(address.kind))
  return sessionView(key, viewOf({ ...ledger, replica }, true))
}

/** A page of heads, in address order. A token of some sessions sees those, and no other actors. */
export const reachableHeads = async (
  { transport }: JournalParts,
  { kind, after, limit }: { kind?: string | undefined; after?: Address | undefined; limit: number },
  access: Access | undefined,
): Promise<Head[]> => {
  if (access?.sessions === undefined) return transport.journal.list({ limit, kind, after })
  if (kind !== undefined && kind !== 'session') return []
  const found: Head[] = []
  let last = after
  while (found.length < limit) {
    const page = await transport.journal.list({ kind: 'session', limit: 1000, after: last })
    found.push(...page.filter(({ address }) => reaches(access, address.id)).map((head) => withoutForeign(head, access)))
    last = page.at(-1)?.address
    if (page.length < 1000) break
  }
  return found.slice(0, limit)
}

/** Where a fork came from is nothing to a token that does not reach that. */
const withoutForeign = ({ origin, ...head }: Head, access: Access): Head =>
  origin && reaches(access, origin.address.id) ? { ...head, origin } : head

type Listing = { kind?: string | undefined; after?: string | undefined; limit?: number | undefined; states?: boolean | undefined }

/** In address order. One that cannot be read is a row with its error: it must not hide the others. */
export const listActors = async (parts: JournalParts, { kind, after, limit = 100, states = true }: Listing, access?: Access): Promise<ActorPage> => {
  const heads = await reachableHeads(parts, { limit, kind, after: after === undefined ? undefined : parseAddress(after) }, access)
  const actors: ActorRow[] = []
  for (const head of heads) actors.push(states ? await actorRow(parts, head) : bareRow(head))
  const last = heads.at(-1)
  return { actors, next: heads.length < limit || !last ? null : formatAddress(last.address) }
}

const bareRow = ({ address, seq, at, wakeAt, origin }: Head): ActorRow => ({
  ...address,
  status: null,
  states: {},
  seq,
  at,
  wakeAt,
  waiting: 0,
  ...(origin && { origin: { ...origin.address, at: origin.at } }),
})

const actorRow = async (parts: JournalParts, head: Head): Promise<ActorRow> => {
  const { address, wakeAt } = head
  const row = bareRow(head)
  if (wakeAt === beingImported) return { ...row, wakeAt: null, error: halfImportedError(formatAddress(address)).toJSON() }
  try {
    const { replica, status, approvals, quarantine } = await peek(parts, address)
    return { ...row, status, states: replica?.states() ?? {}, waiting: approvals.length, ...definedOf({ quarantine }) }
  } catch (error) {
    if (isRuntimeError(error) && error.retryable) throw error
    return { ...row, error: shownBody(error) }
  }
}

/** How many tool calls of a session wait for a person; undefined for one that cannot be read. */
const waitingOrUnreadable = async (parts: JournalParts, head: Head): Promise<number | undefined> => {
  // A turn has a deadline, so a session that nothing will wake has none.
  if (head.wakeAt === null) return 0
  const { error, waiting } = await actorRow(parts, head)
  return error ? undefined : waiting
}

/** The same for lists in which one that cannot be read shows so in its state. */
export const waitingIn = async (parts: JournalParts, head: Head): Promise<number> => (await waitingOrUnreadable(parts, head)) ?? 0

/** `at` is when the person was asked, in ms since the epoch. */
export type WaitingApproval = Omit<Approval, 'at'> & { sessionKey: string; at: number | null }

/** @throws RuntimeError drift, corrupt_at, quarantined … */
export const approvalsOf = async (parts: JournalParts, sessionKey: string): Promise<WaitingApproval[]> => {
  const address = { kind: 'session', id: sessionKey }
  const { approvals } = await peek(parts, address)
  if (approvals.length === 0) return []
  const { host, transport } = parts
  if (approvals.every(({ at }) => at !== undefined)) return approvals.map((approval) => ({ sessionKey, ...approval, at: approval.at ?? null }))
  // Earlier builds kept no time with the question.
  const asked = (await saidAfter(transport.journal, address, host.registration('session'), 0)).filter(({ event }) => event.type === 'approval')
  return approvals.map((approval) => ({
    sessionKey,
    ...approval,
    at: asked.findLast(({ event }) => event.callId === approval.callId && event.attempt === approval.attempt)?.at ?? null,
  }))
}

/** A call in a run: of an agent that is asked by an actor of another kind, such as a run of the ladder. */
export type WaitingRun = Omit<WaitingApproval, 'sessionKey'> & { actor: string }
export type Waiting = { approvals: WaitingApproval[]; runs: WaitingRun[]; unreadable: string[] }

/** A run keeps the reports of the agents that it asks about calls that wait. */
const callsIn = (context: unknown): Approval[] => {
  const { waiting } = (context ?? {}) as { waiting?: unknown }
  if (!Array.isArray(waiting)) return []
  return waiting.flatMap((one: { approval?: Approval } | null) => (typeof one?.approval?.callId === 'string' ? [one.approval] : []))
}

const runsThatWait = async ({ host, transport }: JournalParts, { address, wakeAt }: Head): Promise<WaitingRun[]> => {
  if (wakeAt === null || wakeAt === beingImported || !host.kinds.includes(address.kind)) return []
  const { replica, ledger } = await recover(transport.journal, address, host.registration(address.kind))
  const snapshot = ledger.quarantine ? undefined : replica?.actor.getSnapshot()
  return callsIn(snapshot?.context).map((approval) => ({ actor: formatAddress(address), ...approval, at: approval.at ?? null }))
}

/** Those of all sessions and runs, the oldest first, and the sessions with unfinished work that cannot be read. */
export const allApprovals = async (parts: JournalParts, access?: Access): Promise<Waiting> => {
  const approvals: WaitingApproval[] = []
  const runs: WaitingRun[] = []
  const unreadable: string[] = []
  for await (const head of allHeads(parts.transport.journal)) {
    if (head.address.kind !== 'session') {
      // One that cannot be read is shown by `statecast actors`; a token of some sessions reaches no run.
      if (access?.sessions === undefined) runs.push(...(await runsThatWait(parts, head).catch(() => [])))
      continue
    }
    if (!reaches(access, head.address.id)) continue
    const waiting = await waitingOrUnreadable(parts, head)
    if (waiting === undefined) unreadable.push(head.address.id)
    else if (waiting > 0) approvals.push(...(await approvalsOf(parts, head.address.id)))
  }
  const oldestFirst = (a: { at: number | null }, b: { at: number | null }): number => (a.at ?? 0) - (b.at ?? 0)
  return { approvals: approvals.sort(oldestFirst), runs: runs.sort(oldestFirst), unreadable }
}
