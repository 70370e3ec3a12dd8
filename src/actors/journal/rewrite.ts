/** A journal written anew with other texts in its inputs: folded on the way, so that its states, notes and digests are those of the new inputs. */
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, Commit } from '../../contracts/journal.ts'
import { type Address, formatAddress, parseAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import { firstDifference } from '../replica/difference.ts'
import { Replica } from '../replica/replica.ts'
import { eventsIn, type Output } from '../replica/sink.ts'
import { checksum, commitOf, encode } from './codec.ts'

/** What stands in a commit of its own accord; the rest follows from folding it. `path` says how an actor is called then. */
export type Rewriting = {
  address: Address
  commit(commit: Commit): Pick<Commit, 'writer' | 'inputs'> & Partial<Commit>
  path(path: ActorPath): ActorPath
}

export type Rewritten = {
  frames: Frame[]
  /** Where the new inputs first lead elsewhere than the recorded ones did; the frames end before that. */
  difference?: { seq: number; path: ActorPath; recorded: unknown; now: unknown }
}

/** As it was written, under a name of its own: what a fork shares with its origin then says the name of the fork. */
export const underOwnName = (address: Address): Rewriting => ({ address, commit: (commit) => commit, path: (path) => path })

/** @param frames all of the journal, in order @throws RuntimeError corrupt_at, drift for another machine than the one that recorded it */
export const rewrite = (address: Address, frames: Iterable<Frame>, registration: Registration, rewriting: Rewriting): Rewritten => {
  const [before, after] = [formatAddress(address), formatAddress(rewriting.address)]
  const written: Frame[] = []
  let replica: Replica | undefined
  let prev = 0
  for (const frame of frames) {
    const { seq } = frame
    const recorded = ofOne(address, commitOf(frame, address), registration)
    const changed = { ...recorded, ...rewriting.commit(recorded), address: after }
    const { create, at, epoch, seed, inputs, later } = changed
    if (create) replica = begin(before, registration, changed)
    if (!replica) throw new RuntimeError('corrupt_at', `the journal of ${before} does not begin with its creation`, { data: { seq } })
    const initial: Output[] = create ? replica.takeOutputs() : []
    replica.enter(epoch, later)
    replica.chance.recorded(seed)
    for (const input of inputs) replica.apply(input, at)
    const outputs = [...initial, ...replica.takeOutputs()]
    if (replica.failure) return { frames: written, difference: { seq, path: '/', recorded: 'no failure', now: errorBody(replica.failure.error) } }
    const states = replica.takeStates()
    const difference = differenceIn(recorded, states, rewriting)
    if (difference) return { frames: written, difference: { seq, ...difference } }
    const { notes: _, ...rest } = changed
    const notes = registration.noted ? eventsIn(outputs).filter(registration.noted) : []
    const commit: Commit = { ...rest, prev, states, digest: replica.digest(), ...(notes.length > 0 ? { notes } : {}) }
    const packed = encode(commit)
    written.push({ seq, bytes: packed })
    prev = checksum(packed)
  }
  return { frames: written }
}

/** A fork shares commits that its origin wrote; rewritten, it has had its own name all along. */
const ofOne = (address: Address, commit: Commit, { renamed }: Registration): Commit => {
  const { create } = commit
  if (!create || !renamed) return commit
  const { input } = renamed({ input: create.input }, parseAddress(commit.address).id, address.id) as { input: unknown }
  return { ...commit, create: { ...create, input } }
}

const begin = (name: string, registration: Registration, { create, at, epoch, seed }: Commit): Replica => {
  if (create?.signature !== registration.signature)
    throw new RuntimeError('drift', `${name} was recorded by a machine with signature ${create?.signature}, this one has ${registration.signature}`, {
      hint: 'give the app that recorded it with --app',
    })
  return new Replica({ registration, input: create.input, at, epoch, seed })
}

const differenceIn = (
  { states: recorded }: Commit,
  now: Commit['states'],
  { path }: Rewriting,
): Omit<NonNullable<Rewritten['difference']>, 'seq'> | undefined => {
  const expected = Object.fromEntries(Object.entries(recorded).map(([actor, state]) => [path(actor), state]))
  for (const actor of new Set([...Object.keys(expected), ...Object.keys(now)]))
    if (firstDifference(expected[actor], now[actor], '')) return { path: actor, recorded: expected[actor], now: now[actor] }
  return undefined
}
