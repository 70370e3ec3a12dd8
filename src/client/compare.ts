/** A recorded journal folded by a machine of today, and where the two first part. Nothing is written and no effect runs. */
import { commitOf, type Registration, recordedSignature, replay, traceEntries } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, isRuntimeError } from '../contracts/errors.ts'
import type { ActorPath, Commit } from '../contracts/journal.ts'
import { shownBody } from '../contracts/redact.ts'
import { stateText } from '../contracts/state-text.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'

/**
 * Where a fold first leads elsewhere. `what` differs: the `state` of an actor; what it remembers (`context`: its state is the same, its context or its timers are
 * not); or the machine of today fails (`failure`).
 */
export type FirstDifference = {
  seq: number
  actor: ActorPath
  what: 'state' | 'context' | 'failure'
  /** The state of that actor in the commits before; undefined where it had none. */
  before?: unknown
  recorded: unknown
  now: unknown
  /** What came in with that commit, by actor: `/ toggle`. */
  events: string[]
}

export type Compared = {
  /** As `formatAddress` writes it, or the name of a file that cannot be read. */
  session: string
  /** The file that it was read from. */
  file?: string
  verdict: 'identical' | 'different' | 'unreadable'
  /** Commits and inputs that were folded: to the first difference, or all. */
  commits: number
  inputs: number
  /** Of the structure of the machine, then and now. */
  signature?: { recorded: string; present: string }
  difference?: FirstDifference
  /** Why nothing can be said. */
  error?: ErrorBody
}

/** Never throws for a journal that is damaged: that is its verdict. @param compareContext false: states alone @throws RuntimeError what a retry could mend */
export const compareTrace = async (
  journal: Journal,
  address: Address,
  registration: Registration,
  { compareContext = true }: { compareContext?: boolean } = {},
): Promise<Compared> => {
  const session = formatAddress(address)
  try {
    const recorded = (await recordedSignature(journal, address)) ?? ''
    const folded = await replay(journal, address, { ...registration, onDrift: 'force' }, { toDifference: true, compareContext })
    const { verdict, commits, inputs } = folded
    const difference = folded.difference && (await explained(journal, address, folded.difference))
    const signature = { recorded, present: registration.signature }
    return { session, verdict, commits, inputs, signature, ...definedOf({ difference }) }
  } catch (error) {
    if (isRuntimeError(error) && error.retryable) throw error
    return unreadable(session, error)
  }
}

export const unreadable = (session: string, error: unknown): Compared => ({
  session,
  verdict: 'unreadable',
  commits: 0,
  inputs: 0,
  error: shownBody(error),
})

type Found = NonNullable<Awaited<ReturnType<typeof replay>>['difference']>

const explained = async (journal: Journal, address: Address, found: Found): Promise<FirstDifference> => {
  const { seq, path, recorded, replayed } = found
  const events = await eventsAt(journal, address, seq)
  const common = { seq, recorded, now: replayed, events }
  if (path === undefined) return { ...common, actor: '/', what: typeof recorded === 'string' ? 'context' : 'failure' }
  return { ...common, actor: path, what: 'state', ...definedOf({ before: await stateBefore(journal, address, seq, path) }) }
}

/** What came in with one commit, as `statecast trace` says it. */
export const eventsAt = async (journal: Journal, address: Address, seq: number): Promise<string[]> => {
  const commits = await commitsIn(journal, address, Math.max(1, seq - 1), seq > 1 ? 2 : 1)
  const at = commits.find((commit) => commit.seq === seq)
  return at ? traceEntries(at, seq > 1 ? commits[0] : undefined).map(({ actor, event }) => `${actor} ${event}`) : []
}

/** Commits that are looked through for the state that an actor had before. */
const lookBack = 500

const stateBefore = async (journal: Journal, address: Address, seq: number, path: ActorPath): Promise<unknown> => {
  const from = Math.max(1, seq - lookBack)
  if (from >= seq) return undefined
  return (await commitsIn(journal, address, from, seq - from)).findLast(({ states }) => Object.hasOwn(states, path))?.states[path]
}

const commitsIn = async (journal: Journal, address: Address, from: number, limit: number): Promise<Commit[]> =>
  (await journal.read(address, from, { limit })).map((frame) => commitOf(frame, address))

/** A first difference in a sentence. */
export const differenceText = ({ seq, actor, what, before, recorded, now }: FirstDifference): string => {
  const at = `commit ${seq}, ${actor}`
  if (what === 'context') return `${at}: the states agree; what the machine remembers (its context), or when it wakes, does not`
  if (what === 'failure') return `${at}: fails now: ${messageIn(now)}`
  return `${at}: ${before === undefined ? '' : `in ${stateText(before)}, `}recorded ${stateOr(recorded)}, now ${stateOr(now)}`
}

const messageIn = (failure: unknown): string => String((failure as { message?: unknown } | null)?.message ?? failure)
const stateOr = (state: unknown): string => (state === undefined ? 'nothing' : stateText(state))
