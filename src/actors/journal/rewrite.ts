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
import { adoptionIn } from './redefined.ts'

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

/** @param frames all of the journal, in order @throws RuntimeError corrupt_at, drift for another machine than the one that it belongs to */
export const rewrite = (address: Address, frames: Iterable<Frame>, registration: Registration, rewriting: Rewriting): Rewritten => {
  const all = [...frames]
  return written({ address, frames: takenOver(address, all, registration) ?? all, registration }, rewriting)
}

/**
 * A journal that another machine has begun, and this one has taken over: as if this one had recorded all of it.
 * @param frames all of it, in order @returns nothing where this machine has not taken it over @throws RuntimeError corrupt_at, drift
 */
export const takenOver = (address: Address, frames: readonly Frame[], registration: Registration): Frame[] | undefined => {
  const adoption = adoptionIn(frames, address)
  if (adoption?.signature !== registration.signature) return undefined
  const { frames: own, difference } = written({ address, frames, registration, adopted: adoption.seq }, underOwnName(address))
  if (!difference) return own
  const { seq, path } = difference
  throw new RuntimeError('drift', `from commit ${seq} of ${formatAddress(address)} on ${path} is in another state than the one that was recorded`, {
    hint: `see \`statecast replay ${formatAddress(address)}\``,
    data: { seq, path },
  })
}

/** @property adopted the commit by which this machine has taken it over: what was recorded before leads this one where it does */
type Told = { address: Address; frames: readonly Frame[]; registration: Registration; adopted?: number }

/** @param seed of all chance, where the commit that adopts has another one than those before */
const written = (told: Told, rewriting: Rewriting, seed?: string): Rewritten => {
  const { address, registration, adopted } = told
  const [before, after] = [formatAddress(address), formatAddress(rewriting.address)]
  const frames: Frame[] = []
  let replica: Replica | undefined
  let prev = 0
  for (const frame of told.frames) {
    const { seq } = frame
    const { adopts, ...recorded } = asOwn(ofOne(address, commitOf(frame, address), registration), told, seed)
    const changed = { ...recorded, ...rewriting.commit(recorded), address: after }
    const { create, at, epoch, inputs, later } = changed
    if (create) replica = begin(before, registration, changed)
    if (!replica) throw new RuntimeError('corrupt_at', `the journal of ${before} does not begin with its creation`, { data: { seq } })
    const initial: Output[] = create ? replica.takeOutputs() : []
    replica.enter(epoch, later)
    const { chance } = replica
    if (adopts && changed.seed !== undefined && chance.drawn > 0 && chance.seed !== changed.seed) return written(told, rewriting, changed.seed)
    chance.recorded(changed.seed)
    for (const input of inputs) replica.apply(input, at)
    const outputs = [...initial, ...replica.takeOutputs()]
    if (replica.failure) return { frames, difference: { seq, path: '/', recorded: 'no failure', now: errorBody(replica.failure.error) } }
    const states = replica.takeStates()
    const difference = seq <= (adopted ?? 0) ? undefined : differenceIn(recorded, states, rewriting)
    if (difference) return { frames, difference: { seq, ...difference } }
    const { notes: _, ...rest } = changed
    const notes = registration.noted ? eventsIn(outputs).filter(registration.noted) : []
    const commit: Commit = { ...rest, prev, states, digest: replica.digest(), ...(notes.length > 0 ? { notes } : {}) }
    const packed = encode(commit)
    frames.push({ seq, bytes: packed })
    prev = checksum(packed)
  }
  return { frames }
}

/** Of a machine that has taken it over. */
const asOwn = (commit: Commit, { adopted, registration: { machine, signature } }: Told, seed: string | undefined): Commit => {
  if (adopted === undefined || !commit.create) return commit
  return { ...commit, create: { ...commit.create, machine: machine.id, signature }, ...(seed !== undefined && { seed }) }
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
      hint: 'give the app that recorded it with --app, or have this one take it over with actor.adopt()',
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
