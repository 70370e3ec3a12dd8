/** A fork: a conversation or actor that goes its own way from a moment of another one, whose journal it shares up to there. */
import { changeOf, commitOf, type Registration } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Change, ForkAnswers, ForkChange, Origin } from '../contracts/fork.ts'
import type { Commit } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Parts } from './parts.ts'

type Wanted = { at?: number | undefined; as: string; answers?: ForkAnswers | undefined; change?: ForkChange | undefined }
export type Forked = Address & { origin: Origin }

/**
 * It takes no longer where there are many commits. Whichever node finds it lets it run on.
 * @throws RuntimeError not_found, bad_request, conflict (its key is taken), drift, corrupt_at, log_full
 */
export const forkActor = async (
  { transport: { journal }, environment: { clock } }: Pick<Parts, 'transport' | 'environment'>,
  registration: Registration,
  address: Address,
  { at, as, answers = 'recorded', change: wanted }: Wanted,
): Promise<Forked> => {
  const { kind } = address
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
  const signature = (await commitAt(1))?.create?.signature
  if (signature !== undefined && signature !== registration.signature && registration.onDrift !== 'force')
    throw new RuntimeError(
      'drift',
      `${formatAddress(address)} was begun by another version of its machine (${signature}, this one is ${registration.signature})`,
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
    change = changeOf(registration, commit.inputs, wanted)
  }
  const choice = { answers, ...(change && { change }) }
  await journal.fork(address, seq, { kind, id: as }, choice, { wakeAt: 0, at: clock.now() })
  return { kind, id: as, origin: { address, at: seq, ...choice } }
}
