/** Brings a root back from its journal: newest good snapshot, then the recorded inputs with all outputs off. No decision is made twice. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Commit } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Frame, Journal } from '../contracts/transport.ts'
import { checksum, decode, decodeCommit, encode } from './codec.ts'
import { advance, emptyLedger, type Ledger, type PersistedLedger, persistLedger, reviveLedger } from './ledger.ts'
import { isPlain } from './plain.ts'
import type { Registration } from './registration.ts'
import { type Output, type Outside, Replica, type ReplicaSnapshot } from './replica.ts'

export type Past = {
  ledger: Ledger
  /** Undefined for a root that does not exist yet. */
  replica: Replica | undefined
  /** Sequence up to which the outputs of every commit are known to have run. */
  settledSeq: number
  /** The last commit, where it was read at all. */
  last: Commit | undefined
  /** What the last commit let out, if it is later than that: perhaps it happened, perhaps not. */
  doubtful: Output[]
}

type SnapshotFile = { v: 1; signature: string; ledger: PersistedLedger; replica: ReplicaSnapshot }

/** Bytes for `saveSnapshot`, or undefined when the context holds something that would come back changed. */
export const encodeSnapshot = (registration: Registration, ledger: Ledger, replica: Replica): Uint8Array | undefined => {
  let persisted: ReplicaSnapshot
  try {
    persisted = replica.persisted()
  } catch {
    return undefined
  }
  if (!isPlain(persisted)) return undefined
  const file: SnapshotFile = { v: 1, signature: registration.signature, ledger: persistLedger(ledger), replica: persisted }
  return encode(file)
}

/** A snapshot that is damaged, foreign or from another version is as good as none: the journal has it all. */
const decodeSnapshot = (registration: Registration, frame: Frame | undefined): SnapshotFile | undefined => {
  if (!frame) return undefined
  try {
    const file = decode(frame.bytes) as SnapshotFile
    return file.v === 1 && file.signature === registration.signature && file.ledger.seq === frame.seq ? file : undefined
  } catch {
    return undefined
  }
}

const driftError = (name: string, registration: Registration, create: NonNullable<Commit['create']>) =>
  new RuntimeError(
    'drift',
    `${name} was recorded by machine '${create.machine}' with signature ${create.signature}, this one has ${registration.signature}`,
    {
      hint: "run it with the machine that recorded it, or register the new one with onDrift: 'force' after `statecast replay --against` says that it fits",
      data: { recorded: create.signature, present: registration.signature },
    },
  )

export type Folder = {
  /** Called after each commit was applied; used by replay and trace. */
  onCommit?: (commit: Commit, replica: Replica, outputs: Output[]) => void
  outside?: Outside
  /** Stop after this commit. */
  to?: number
  /** Ignore snapshots and begin with the first commit. */
  fromStart?: boolean
}

/** Frames are read in pages, so that a long journal never stands in memory as a whole. */
const pageSize = 1000

/** @throws RuntimeError corrupt_at, drift, log_unavailable */
export const readPast = async (journal: Journal, address: Address, registration: Registration, folder: Folder = {}): Promise<Past> => {
  const name = formatAddress(address)
  const saved = folder.fromStart || folder.to !== undefined ? undefined : decodeSnapshot(registration, await journal.snapshot(address))
  const ledger = saved ? reviveLedger(saved.ledger) : emptyLedger()
  const outside = folder.outside ? { outside: folder.outside } : {}
  let replica: Replica | undefined
  if (saved)
    replica = new Replica({ registration, input: ledger.create?.input, at: ledger.at, epoch: ledger.epoch, snapshot: saved.replica, ...outside })
  const settledSeq = ledger.seq
  let doubtful: Output[] = []
  let last: Commit | undefined
  for (;;) {
    const frames = await journal.read(address, ledger.seq + 1, { limit: pageSize })
    for (const { seq, bytes } of frames) {
      if (folder.to !== undefined && seq > folder.to) return { ledger, replica, settledSeq, last, doubtful }
      const commit = decodeCommit(bytes, { address: name, seq })
      checkChain(name, ledger, commit)
      if (commit.create) {
        if (commit.create.signature !== registration.signature && registration.onDrift !== 'force')
          throw driftError(name, registration, commit.create)
        replica = new Replica({ registration, input: commit.create.input, at: commit.at, epoch: commit.epoch, ...outside })
      }
      if (!replica) throw new RuntimeError('corrupt_at', `the journal of ${name} does not begin with its creation`, { data: { seq } })
      replica.enter(commit.epoch)
      for (const input of commit.inputs) replica.apply(input, commit.at)
      doubtful = replica.takeOutputs()
      last = commit
      folder.onCommit?.(commit, replica, doubtful)
      replica.takeStates()
      advance(ledger, commit, checksum(bytes))
    }
    if (frames.length < pageSize) return { ledger, replica, settledSeq, last, doubtful }
  }
}

const checkChain = (name: string, ledger: Ledger, commit: Commit): void => {
  const bad = (why: string) =>
    new RuntimeError('corrupt_at', `commit ${commit.seq} of ${name} ${why}`, {
      data: { seq: commit.seq },
      hint: 'the journal was changed or restored behind our back; restore a backup that is whole',
    })
  if (commit.seq !== ledger.seq + 1) throw bad(`follows ${ledger.seq}`)
  if (commit.prev !== ledger.prev) throw bad('does not continue the commit before it')
  if (commit.epoch < ledger.epoch || (commit.epoch === ledger.epoch && commit.writer !== ledger.writer))
    throw bad(`is of epoch ${commit.epoch} by a writer that did not claim it`)
}
