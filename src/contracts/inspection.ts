/** What people see of an actor and its tree: a moment of it, and the steps of one commit. Server and browser make these with the same modules. */
import type { ActorPath, AnyEvent } from './journal.ts'
import type { Address } from './subjects.ts'

/** A transition of a chart: the one at this place among those that a state declares for an event. `eventType` is XState's own, empty for `always`. */
export type TransitionRef = { source: string; eventType: string; index: number }

/** One actor of a tree at a moment. */
export type ActorAt = {
  path: ActorPath
  /** Undefined for the root. */
  parent: ActorPath | undefined
  /** As its parent calls it. */
  id: string
  /** Its name under `setup({ actors })`; undefined for the root. */
  src: string | undefined
  kind: 'machine' | 'effect'
  /** By which its chart is found; undefined for an effect. */
  machine: { id: string; signature: string } | undefined
  status: 'active' | 'done' | 'error' | 'stopped'
  /** The state value; undefined for an effect. */
  value: unknown
  /** Ids of the active states, parents first. */
  active: string[]
  tags: string[]
  /** Of a machine. */
  context: unknown
  /** Of an effect. */
  input: unknown
  output: unknown
  error: unknown
}

/** A delayed event that has not fired. `due` is ms since the epoch. */
type TimerAt = { timer: number; from: ActorPath; to: ActorPath; event: string; due: number }

/** A tree after one of its commits. */
export type Moment = {
  address: string
  seq: number
  /** ms since the epoch, of the commit. */
  at: number
  epoch: number
  /** The root first, each before what is below it, in the order in which they began. */
  actors: ActorAt[]
  timers: TimerAt[]
  /** Transitions that the active states declare, by actor, in the order in which XState would try them. */
  possible: Record<ActorPath, TransitionRef[]>
}

/** A value that a guard looked at, such as `context.attempts`. */
export type Read = { path: string; value: unknown }

/** A transition that could have been taken for an event: asked in this order, until one says yes. */
export type Candidate = TransitionRef & {
  /** `free`: it has no guard, and nobody before it said yes; `unasked`: one before it was taken. */
  verdict: 'yes' | 'no' | 'free' | 'unasked' | 'threw'
  guard?: string
  reads?: Read[]
  error?: string
}

/** What an actor that has come to rest holds, and what its active states declare. */
export type Rest = Pick<ActorAt, 'context' | 'input' | 'output' | 'error' | 'tags'> & { next: TransitionRef[] }

/** An effect that stands for an actor with a journal of its own, wherever that lives. */
export type RemoteAt = { path: ActorPath; address: Address }

/** What happened within one commit, in order. */
export type Step =
  /** An actor began. */
  | { type: 'actor'; path: ActorPath; parent: ActorPath | undefined; src: string | undefined; machine: ActorAt['machine'] }
  /** An event was delivered; `from` is undefined for one from outside, and for a timer. */
  | { type: 'event'; path: ActorPath; from: ActorPath | undefined; event: AnyEvent }
  /** A machine decided: what was taken (nothing where the event changed nothing), and what else was asked. */
  | { type: 'microstep'; path: ActorPath; event: AnyEvent; taken: TransitionRef[]; candidates: Candidate[]; value: unknown }
  /** An actor came to rest. */
  | { type: 'snapshot'; path: ActorPath; status: ActorAt['status']; value: unknown; event?: AnyEvent | undefined; rest?: Rest }

/** What one commit did. */
export type CommitSteps = { seq: number; at: number; steps: Step[] }

/** The same for those who are told of each commit: every rest with all that the actor holds, and which actors elsewhere belong to the tree now. */
export type ToldCommit = CommitSteps & { epoch: number; writer: string; remotes: RemoteAt[] }
/** How often a state was entered by the sessions at hand, and the first of these. */
type StateCoverage = { id: string; visits: number; sessions: string[] }
/** How often a transition was taken by the sessions at hand, and the first of these. */
type TransitionCoverage = { ref: TransitionRef; taken: number; sessions: string[] }

/** What traces have shown of one machine: all of its states and transitions, the rare ones first, those never entered or taken at the very beginning. */
export type MachineCoverage = {
  /** By which its chart is found. */
  machine: { id: string; signature: string }
  /** Sessions, or other roots, in which it has lived. */
  sessions: number
  states: StateCoverage[]
  transitions: TransitionCoverage[]
}
