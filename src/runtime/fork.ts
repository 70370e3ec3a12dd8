/** A fork: a conversation or actor that goes its own way from a moment of another one, whose journal it shares up to there. */
import { changeOf, commitOf, type Registration, recordedSignature } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Change, ForkAnswers, ForkChange, Origin } from '../contracts/fork.ts'
import type { Commit, Input } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Parts } from './parts.ts'

/** What whoever asks has to be allowed to, beyond sending messages. @throws RuntimeError forbidden */
export type ForkGate = (scope: 'write' | 'approve' | 'admin') => void

type Wanted = { at?: number | undefined; as: string; answers?: ForkAnswers | undefined; change?: ForkChange | undefined }
export type Forked = Address & { origin: Omit<Origin, 'change'> & { change?: ForkChange } }

/**
 * It takes no longer where there are many commits. Whichever node finds it lets it run on.
 * @throws RuntimeError not_found, bad_request, conflict (its key is taken), drift, corrupt_at, log_full
 */
export const forkActor = async (
  { transport: { journal }, environment: { clock }, files }: Pick<Parts, 'transport' | 'environment' | 'files'>,
  registration: Registration,
  address: Address,
  { at, as, answers = 'recorded', change: wanted }: Wanted,
  gate: ForkGate = () => undefined,
): Promise<Forked> => {
  const { kind } = address
  // As with what is sent to them.
  if (kind !== 'session') gate('admin')
  // What a person has allowed once would happen again.
  else if (answers === 'live') gate('approve')
  if (registration.forks === false)
    throw new RuntimeError('unsupported', `${formatAddress(address)} is kept by the nodes themselves: there is no other one`, {
      hint: 'conversations and actors of your own machines can be forked',
    })
  const head = await journal.head(address)
  if (!head) throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: 'see `statecast actors`' })
  if (wanted && at !== undefined && at !== wanted.seq - 1)
    throw new RuntimeError('bad_request', `what is changed in commit ${wanted.seq} is forked at ${wanted.seq - 1}, and not at ${at}`, {
      field: 'at',
      hint: 'leave `at` out',
    })
  const seq = at ?? (wanted ? wanted.seq - 1 : head.seq)
  const commitAt = async (which: number): Promise<Commit | undefined> => {
    const [frame] = await journal.read(address, which, { limit: 1 })
    return frame?.seq === which ? commitOf(frame, address) : undefined
  }
  // Told now, and not by whoever finds the fork and cannot take it up.
  const begun = (await commitAt(1))?.create?.signature
  // All of it is read only where it did not begin with this machine.
  const signature = begun === registration.signature ? begun : await recordedSignature(journal, address, seq)
  if (signature !== undefined && signature !== registration.signature && registration.onDrift !== 'force')
    throw new RuntimeError(
      'drift',
      `${formatAddress(address)} was recorded by another version of its machine (${signature}, this one is ${registration.signature})`,
      {
        hint: registration.driftHint ?? 'fork it with the app that recorded it',
      },
    )
  let change: Change | undefined
  if (wanted) {
    const commit = await commitAt(wanted.seq)
    if (!commit)
      throw new RuntimeError('bad_request', `${formatAddress(address)} has no commit ${wanted.seq}`, {
        field: 'change.seq',
        hint: `give one from 2 to ${head.seq}`,
      })
    gate(scopeOfChange(commit.inputs[wanted.input], wanted))
    change = changeOf(registration, commit.inputs, wanted)
  }
  // Before it is there: whoever finds it finds its files.
  if (kind === 'session' && (await journal.head({ kind, id: as })) === undefined) await files.share(as, await files.list(address.id))
  await journal.fork(address, seq, { kind, id: as }, { answers, ...(change && { change }) }, { wakeAt: 0, at: clock.now() })
  return { kind, id: as, origin: { address, at: seq, answers, ...(wanted && change && { change: { ...wanted, event: change.event } }) } }
}

/** Other words are as good as a message. A decision is one of somebody who may decide, and whoever says what a model asked for calls any tool with it. */
const scopeOfChange = (input: Input | undefined, { event }: ForkChange): Parameters<ForkGate>[0] => {
  if (input === undefined || 'timer' in input || 'from' in input) return 'admin'
  const fields = Object.keys(event)
  if (input.event.type === 'approve') return 'approve'
  return input.event.type === 'message' && fields.every((field) => field === 'text') ? 'write' : 'admin'
}
