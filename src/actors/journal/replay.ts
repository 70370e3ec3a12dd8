/** Folds a recorded trace again and compares every state with the recorded one. No effect runs, nothing is written. */
import { definedOf } from '../../contracts/defined.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Commit } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import { firstDifference } from '../replica/difference.ts'
import type { Replica } from '../replica/replica.ts'
import { type Emitted, emittedBy } from '../replica/sink.ts'
import { claimWord } from './ledger.ts'
import { recover } from './recovery.ts'
import { newestAdoption } from './redefined.ts'

export type Replayed = {
  verdict: 'identical' | 'different'
  /** Commits that were compared. */
  commits: number
  inputs: number
  /** States of all live actors at the end. */
  states: Record<ActorPath, unknown>
  context: unknown
  difference?: { seq: number; path?: ActorPath; recorded: unknown; replayed: unknown }
}

type ReplayOptions = { to?: number; compareContext?: boolean; toDifference?: boolean }

/**
 * Commits before this machine adopted the actor are folded too, but another one recorded them: they differ, or not, and that says nothing.
 * @param to stop after this commit @param toDifference stop at the first difference: what comes behind it is not folded
 * @throws RuntimeError not_found for an empty journal, corrupt_at, drift
 */
export const replay = async (journal: Journal, address: Address, registration: Registration, options: ReplayOptions = {}): Promise<Replayed> => {
  const replayed = await replayFrom(1, journal, address, registration, options)
  if (!replayed.difference) return replayed
  const { to = Number.POSITIVE_INFINITY } = options
  const adoption = await newestAdoption(journal, address, replayed.difference.seq + 1, to)
  return adoption?.signature === registration.signature ? replayFrom(adoption.seq, journal, address, registration, options) : replayed
}

/** @param from the first commit that is compared */
const replayFrom = async (
  from: number,
  journal: Journal,
  address: Address,
  registration: Registration,
  { to, compareContext = true, toDifference = false }: ReplayOptions,
): Promise<Replayed> => {
  let difference: Replayed['difference']
  let commits = 0
  let inputs = 0
  let last: Replica | undefined
  const past = recover(journal, address, registration, {
    fromStart: true,
    ...definedOf({ to }),
    onCommit: (commit, present) => {
      last = present
      if (commit.seq < from) return
      commits++
      inputs += commit.inputs.length
      if (difference) return
      if (present.failure) {
        difference = { seq: commit.seq, recorded: commit.states, replayed: errorBody(present.failure.error) }
        return
      }
      const states = present.takeStates()
      // Parents first: what differs below them follows from that.
      for (const path of [...new Set([...Object.keys(commit.states), ...Object.keys(states)])].sort((a, b) => a.length - b.length))
        if (firstDifference(commit.states[path], states[path], ''))
          difference ??= { seq: commit.seq, path, recorded: commit.states[path], replayed: states[path] }
      if (compareContext && !present.fits(commit.digest))
        difference ??= { seq: commit.seq, recorded: `digest ${commit.digest}`, replayed: `digest ${present.digest()}` }
      if (difference && toDifference) throw new Error('the first difference is found')
    },
  })
  await past.catch((error: unknown) => {
    if (!difference) throw error
  })
  return {
    verdict: difference ? 'different' : 'identical',
    commits,
    inputs,
    states: last?.states() ?? {},
    context: last?.actor.getSnapshot().context,
    ...definedOf({ difference }),
  }
}

/** Something that an actor said in a commit: `part` is its place among all that was said there. */
type SaidBefore = Emitted & { seq: number; part: number; at: number }

/** What a root has emitted after a commit, found by folding its journal: nothing that was emitted is stored. @throws RuntimeError corrupt_at, drift */
export const saidAfter = async (journal: Journal, address: Address, registration: Registration, after: number): Promise<SaidBefore[]> => {
  const said: SaidBefore[] = []
  await recover(journal, address, registration, {
    after,
    onCommit: ({ seq, at }, _, outputs) => {
      if (seq > after) for (const [part, emitted] of emittedBy(outputs).entries()) said.push({ ...emitted, seq, part, at })
    },
  })
  return said
}

/** One line of a trace: an input with the moment, the actor and the state that it led to. */
export type TraceEntry = {
  seq: number
  at: number
  epoch: number
  /** The actor that took the input. */
  actor: ActorPath
  event: string
  /** States that changed with the commit, on its last line. */
  states?: Record<ActorPath, unknown>
  detail?: AnyEvent
  error?: ErrorBody
}

/** The entries of one commit, as people read them. @param before the commit before, which says who had the actor until then */
export const traceEntries = (commit: Commit, before?: Commit): TraceEntry[] => {
  const common = { seq: commit.seq, at: commit.at, epoch: commit.epoch }
  const entries: TraceEntry[] = []
  if (commit.create) entries.push({ ...common, actor: '/', event: 'created' })
  if (commit.adopts)
    entries.push({ ...common, actor: '/', event: `adopted by machine '${commit.adopts.machine}' with signature ${commit.adopts.signature}` })
  const claim = claimWord(commit, before)
  if (claim) entries.push({ ...common, actor: '/', event: `${claim} by ${commit.writer}` })
  for (const input of commit.inputs)
    if ('timer' in input) entries.push({ ...common, actor: '/', event: `timer ${input.timer}` })
    else if ('from' in input) entries.push({ ...common, actor: input.from, event: effectEvent(input.event.type), detail: input.event })
    else entries.push({ ...common, actor: input.to, event: input.event.type, detail: input.event })
  for (const { input, error } of commit.refused ?? [])
    entries.push({
      ...common,
      actor: 'to' in input ? input.to : '/',
      event: 'event' in input ? `refused ${input.event.type}` : 'refused timer',
      error,
    })
  if (commit.crash) entries.push({ ...common, actor: '/', event: 'crashed', error: commit.crash })
  if (commit.quarantine) entries.push({ ...common, actor: '/', event: 'quarantined', error: commit.quarantine })
  if (commit.revived) entries.push({ ...common, actor: '/', event: 'revived' })
  const last = entries.at(-1)
  if (last) last.states = commit.states
  return entries
}

const effectEvents: Record<string, string> = {
  'xstate.promise.resolve': 'resolved',
  'xstate.promise.reject': 'rejected',
  'xstate.observable.next': 'next',
  'xstate.observable.complete': 'completed',
  'xstate.observable.error': 'failed',
}
const effectEvent = (type: string): string => effectEvents[type] ?? type
