/** What a root knows about its own journal, besides the state of its machine. A pure fold over commits. */
import type { ErrorBody } from '../../contracts/errors.ts'
import type { Commit, Input } from '../../contracts/journal.ts'

type Seen = { seq: number; at: number; error?: ErrorBody }

export type Ledger = {
  seq: number
  epoch: number
  writer: string
  /** CRC-32 of the bytes of the first commit: what began anew under the same address has another. */
  birth: number
  /** ms since the epoch of the last commit. */
  at: number
  /** CRC-32 of the bytes of the last commit, which the next one names. */
  prev: number
  /** With the machine that it belongs to now. */
  create: NonNullable<Commit['create']> | undefined
  /** When the last restarts happened, newest last. */
  crashes: number[]
  quarantine: ErrorBody | undefined
  /** Hosts in a row that took over and got no further: they wrote no input, nor that they let go. */
  takeovers: number
  /** The last commit that other roots wrote, whose past a fork shares; 0 for what is none. */
  shared: number
  /** Ids of recent inputs from outside, in order, with the commit that has them, and the error of those that it refused. */
  recent: Map<string, Seen>
}

/** Inputs whose ids are remembered; a repeat from before that is a new input. */
export const recentMax = 1000
const crashesKept = 20

/** A claim by whoever took the root into memory, unlike the one by which a host begins anew after a crash of its own, or an event that it had to undo. */
const isTakeover = ({ claim, create, crash, refused, revived }: Commit): boolean => claim === true && !create && !crash && !refused && !revived

/** In a word, how whoever claims an actor came to it. @param before the commit before, where it is known */
export const claimWord = (
  commit: Commit,
  before: Pick<Commit, 'address' | 'writer' | 'released'> | undefined,
): 'claimed' | 'forked' | 'taken over' | undefined => {
  if (!isTakeover(commit)) return undefined
  // What was before happened under another name.
  if (before && before.address !== commit.address) return 'forked'
  return before && (before.released || before.writer === commit.writer) ? 'claimed' : 'taken over'
}

export const emptyLedger = (): Ledger => ({
  seq: 0,
  epoch: 0,
  writer: '',
  birth: 0,
  at: 0,
  prev: 0,
  create: undefined,
  crashes: [],
  quarantine: undefined,
  takeovers: 0,
  shared: 0,
  recent: new Map(),
})

/** All of it so far is by others, and a fork goes on from here: what became of their hosts says nothing about its own. */
export const beginFork = (ledger: Ledger): void => {
  ledger.shared = ledger.seq
  ledger.takeovers = 0
}

/** Whether a commit is the first that a root writes by itself. */
export const isBeginning = ({ shared }: Ledger, { seq }: Pick<Commit, 'seq'>): boolean => seq === shared + 1

/** Takes one commit into account, in place. @param crc of its bytes */
export const advance = (ledger: Ledger, commit: Commit, crc: number): void => {
  ledger.seq = commit.seq
  ledger.epoch = commit.epoch
  ledger.writer = commit.writer
  ledger.at = commit.at
  ledger.prev = crc
  if (commit.seq === 1) ledger.birth = crc
  if (commit.create) ledger.create = commit.create
  if (commit.adopts && ledger.create) ledger.create = { ...ledger.create, ...commit.adopts }
  if (commit.revived) {
    ledger.quarantine = undefined
    ledger.crashes = []
  }
  if (isTakeover(commit) && !isBeginning(ledger, commit)) ledger.takeovers++
  else if (commit.inputs.length > 0 || commit.revived || commit.released) ledger.takeovers = 0
  if (commit.crash) ledger.crashes = [...ledger.crashes, commit.at].slice(-crashesKept)
  if (commit.quarantine) ledger.quarantine = commit.quarantine
  const remember = (input: Input, seen: Seen) => {
    if ('timer' in input || 'from' in input) return
    for (const id of [input.id, input.renews]) {
      if (id === undefined) continue
      // Anew, so that it counts from now.
      ledger.recent.delete(id)
      ledger.recent.set(id, seen)
      if (ledger.recent.size > recentMax) ledger.recent.delete(ledger.recent.keys().next().value as string)
    }
  }
  const { seq, at } = commit
  for (const input of commit.inputs) remember(input, { seq, at })
  for (const { input, error } of commit.refused ?? []) remember(input, { seq, at, error })
}

/** @property shared is not in snapshots of older versions */
export type PersistedLedger = Omit<Ledger, 'recent' | 'shared'> & { recent: [string, Seen][]; shared?: number }
export const persistLedger = (ledger: Ledger): PersistedLedger => ({ ...ledger, recent: [...ledger.recent] })
export const reviveLedger = ({ shared = 0, ...persisted }: PersistedLedger): Ledger => ({ ...persisted, shared, recent: new Map(persisted.recent) })
