/** Brings a root back from its journal: newest good snapshot, then the recorded inputs with all outputs off. No decision is made twice. */
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Origin } from '../../contracts/fork.ts'
import type { Commit } from '../../contracts/journal.ts'
import { type Address, formatAddress, sameAddress } from '../../contracts/subjects.ts'
import type { Frame, Head, Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import { mustBeRepeated, type Output, type ReplicaSink } from '../replica/sink.ts'
import { adopted, ancestorSnapshot } from './adoption.ts'
import { checksum, commitOf } from './codec.ts'
import { advance, beginFork, emptyLedger, type Ledger } from './ledger.ts'
import { AdoptedPast, newestAdoption } from './redefined.ts'
import { contentOf, type Restored, restore, standsIn } from './snapshots.ts'

export type Recovered = {
  ledger: Ledger
  /** Undefined for a root that does not exist yet. */
  replica: Replica | undefined
  /** Sequence up to which the outputs of every commit are known to have run. */
  settledSeq: number
  /** What later commits let out that perhaps happened, perhaps not, in order. */
  doubtful: Doubtful[]
  /** Another machine has recorded it, so that whoever goes on with it has to say so, see `Commit.adopts`. */
  adopts: boolean
}

export type Doubtful = { commit: Commit; outputs: Output[] }

const driftError = (name: string, registration: Registration, by: NonNullable<Commit['adopts']>) =>
  new RuntimeError(
    'drift',
    `${name} was recorded by machine '${by.machine}' with signature ${by.signature}, this one has ${registration.signature}`,
    {
      hint: [
        // Of what the nodes keep for themselves there is no other machine.
        registration.forks === false ? `delete it while no node runs, and what the app says holds: statecast delete ${name}` : undefined,
        registration.driftHint,
        registration.forks === false
          ? undefined
          : "run it with the machine that recorded it; or, if the change is compatible, adopt() it, or create the runtime with onDrift: 'force'",
      ]
        .filter((hint) => hint !== undefined)
        .join('; else '),
      data: { recorded: by.signature, present: registration.signature },
    },
  )

const failedAgain = (name: string, seq: number, error: unknown) =>
  new RuntimeError('drift', `commit ${seq} of ${name} makes this machine fail, which it did not when it was recorded: ${errorBody(error).message}`, {
    hint: 'a guard, assign or other function has changed since, or is not the same every time it is called',
    cause: error,
    data: { seq },
  })

type FoldOptions = {
  /** Called after each commit was applied; used by replay and trace. */
  onCommit?: (commit: Commit, replica: Replica, outputs: Output[]) => void
  outside?: ReplicaSink
  /** Stop after this commit. */
  to?: number
  /** Ignore snapshots and begin with the first commit. */
  fromStart?: boolean
  /** Commits after this one matter: a later snapshot is of no use. */
  after?: number
  /** Takes it for this machine, whoever recorded it, if that brings it to where it stands. */
  adopt?: boolean
  /** From where it draws, whatever its commits say. */
  seed?: string
}

/** Frames are read in pages, so that a long journal never stands in memory as a whole. */
const pageSize = 1000

/** From where it is folded: a snapshot with the frames from its commit on, or nothing. @throws RuntimeError corrupt_at */
const beginning = async (
  journal: Journal,
  address: Address,
  registration: Registration,
  { fromStart, to, after, outside }: FoldOptions,
): Promise<{ saved?: Restored; read?: Frame[]; of?: Address; head?: Head | undefined }> => {
  if (fromStart || to !== undefined) return {}
  // Asked together, since most roots that are not in memory are new: two questions one after the other are half of what a store over the network makes a first
  // message wait.
  const [own, head] = await Promise.all([journal.snapshot(address), journal.head(address)])
  if (own === undefined && head === undefined) return { read: [] }
  const found = own === undefined && head?.origin ? await ancestorSnapshot(journal, address, head.origin) : own && { frame: own, of: undefined }
  const content = found && contentOf(found.of ?? address, found.frame)
  if (!content) return { head }
  const { seq } = content.ledger
  // From its own commit on, so that it costs no question more to see whether that is the one.
  const read = await journal.read(address, seq, { limit: pageSize })
  if (!(await standsIn(journal, address, content, read)) || seq > (after ?? seq)) return { head }
  const saved = restore(registration, content, outside ? { outside } : {})
  return saved ? { saved, read, head, ...(found.of && { of: found.of }) } : { head }
}

/** @throws RuntimeError corrupt_at (also where the journal has lost its end), drift, log_unavailable */
export const recover = async (journal: Journal, address: Address, registration: Registration, folder: FoldOptions = {}): Promise<Recovered> => {
  const name = formatAddress(address)
  const outside = folder.outside ? { outside: folder.outside } : {}
  const { saved, read, of, head } = await beginning(journal, address, registration, folder)
  const ledger = saved?.ledger ?? emptyLedger()
  let replica = saved?.replica
  const settledSeq = ledger.seq
  const doubtful = new Map<number, Doubtful>()
  let newest: Commit | undefined
  // What lies behind the last commit that is wanted may be damaged.
  const { to = Number.POSITIVE_INFINITY } = folder
  const forced = registration.onDrift === 'force' || folder.adopt === true
  const past = folder.adopt ? new AdoptedPast(name) : undefined
  let isOwnLater: boolean | undefined
  const requireOwn = async (by: NonNullable<Commit['adopts']>, seq: number, frames: readonly Frame[], limit: number): Promise<void> => {
    if (forced || by.signature === registration.signature) return
    isOwnLater ??= (await newestAdoption(journal, address, seq + 1, to, { frames, limit }))?.signature === registration.signature
    if (!isOwnLater) throw driftError(name, registration, by)
  }
  /** Who adopted it has folded all of it: a snapshot may be of the machine before, and chance of before another one. */
  const again = (seed: string | undefined): Promise<Recovered> => {
    replica?.disconnect()
    const { onCommit } = folder
    const told = newest?.seq ?? 0
    return recover(journal, address, registration, {
      ...folder,
      fromStart: true,
      ...(seed !== undefined && { seed }),
      ...(onCommit && { onCommit: (commit, ...args) => void (commit.seq > told && onCommit(commit, ...args)) }),
    })
  }
  let page = read
  /** Who wrote the newest of these commits: a fork takes over what others began. */
  let writer = of ?? address
  let origin: Omit<Origin, 'change'> | undefined
  const takeOver = async (next: Address): Promise<void> => {
    origin ??= (head ?? (await journal.head(address)))?.origin
    if (replica)
      replica = adopted(registration, replica, ledger, { from: writer, to: next, origin: next === address ? origin : undefined, ...outside })
    // What was let out before is the affair of those who let it out.
    doubtful.clear()
    beginFork(ledger)
    writer = next
  }
  for (let next = Math.max(1, settledSeq); next <= to; page = undefined) {
    const limit = Math.min(pageSize, to - next + 1)
    const frames = page ?? (await journal.read(address, next, { limit }))
    for (const frame of frames) {
      const { seq, bytes } = frame
      if (seq <= settledSeq) continue
      const commit = commitOf(frame, address)
      if (seq === 1) writer = frame.of ?? address
      else if (!sameAddress(writer, frame.of ?? address)) await takeOver(frame.of ?? address)
      checkChain(name, ledger, commit)
      if (commit.create) {
        await requireOwn(commit.create, seq, frames, limit)
        const seed = folder.seed ?? commit.seed
        replica = new Replica({ registration, input: commit.create.input, at: commit.at, epoch: commit.epoch, seed, ...outside })
      }
      if (!replica) throw new RuntimeError('corrupt_at', `the journal of ${name} does not begin with its creation`, { data: { seq } })
      replica.enter(commit.epoch, commit.later)
      if (commit.adopts) {
        const { drawn, seed } = replica.chance
        if (saved || (commit.seed !== undefined && drawn > 0 && seed !== commit.seed)) return again(commit.seed)
        await requireOwn(commit.adopts, seq, frames, limit)
      }
      replica.chance.recorded(commit.seed)
      for (const input of commit.inputs) {
        past?.take(input, seq, replica)
        replica.apply(input, commit.at)
      }
      const outputs = replica.takeOutputs()
      // A host lets everything out before its next append; what has not ended well by then, that one says.
      for (const before of doubtful.keys()) if (!commit.owed?.includes(before)) doubtful.delete(before)
      if (outputs.some(mustBeRepeated)) doubtful.set(seq, { commit, outputs: outputs.filter(mustBeRepeated) })
      folder.onCommit?.(commit, replica, outputs)
      if (replica.failure) throw failedAgain(name, seq, replica.failure.error)
      replica.takeStates()
      past?.pass(commit)
      advance(ledger, commit, checksum(bytes))
      newest = commit
    }
    if (frames.length < limit) break
    next = (frames.at(-1)?.seq ?? next) + 1
  }
  // Only at the end, since a digest costs as much as several inputs; `replay` says which commit was the first to differ.
  const arrives = folder.onCommit !== undefined || !newest || replica?.fits(newest.digest) !== false
  if (!arrives && newest && !forced) throw arrivalError(name, newest)
  const adopts = forced && replica !== undefined && (!arrives || ledger.create?.signature !== registration.signature)
  if (adopts && saved) return again(undefined)
  if (adopts && replica) past?.check(replica)
  if (writer !== address && folder.to === undefined) await takeOver(address)
  return { ledger, replica, settledSeq, doubtful: [...doubtful.values()], adopts }
}

const arrivalError = (name: string, { seq }: Commit): RuntimeError =>
  new RuntimeError(
    'drift',
    `the recorded inputs of ${name} lead to another state than they did when they were recorded, at commit ${seq} or before`,
    {
      hint: `a guard, assign or other function has changed since, or is not the same every time it is called; 'statecast replay ${name}' shows where`,
      data: { seq },
    },
  )

const checkChain = (name: string, ledger: Ledger, commit: Commit): void => {
  const bad = (why: string) =>
    new RuntimeError('corrupt_at', `commit ${commit.seq} of ${name} ${why}`, {
      data: { seq: commit.seq },
      hint: 'the journal was changed or restored behind our back; restore a backup that is whole',
    })
  if (commit.seq !== ledger.seq + 1) throw bad(`follows ${ledger.seq}`)
  if (commit.prev !== ledger.prev) throw bad('does not continue the commit before it')
  const claimed = commit.claim === true && commit.epoch === ledger.epoch + 1
  const continued = commit.claim !== true && commit.epoch === ledger.epoch && commit.writer === ledger.writer
  if (!claimed && !continued) throw bad(`is of epoch ${commit.epoch} by a writer that did not claim it`)
}
