/** What crosses the edges of a root: what a transition may let out, what an effect is, what has to be kept to go on. */
import type { AnyActorRef } from 'xstate'
import type { ActorPath, AnyEvent, Input } from '../../contracts/journal.ts'
import type { PersistedChance } from './chance.ts'
import { effectFailed } from './gate.ts'
import type { PersistedUses } from './paths.ts'
import type { PersistedTimer } from './timers.ts'

/** Something that may happen in the world once the commit that caused it is durable. */
export type Output =
  | { kind: 'start'; path: ActorPath }
  | { kind: 'stop'; path: ActorPath; run: () => void }
  | { kind: 'deliver'; path: ActorPath; event: AnyEvent }
  | { kind: 'action'; path: ActorPath; type: string; run: () => unknown }
  | { kind: 'emit'; path: ActorPath; event: AnyEvent }
  | { kind: 'log'; path: ActorPath; args: unknown[] }

/** Outputs that are over once they happened; the others are states of an effect, which launching brings about again. */
export const mustBeRepeated = ({ kind }: Output): boolean => kind === 'action' || kind === 'emit'

/** What an actor said to whoever listens. */
export type Emitted = { path: ActorPath; event: AnyEvent }

export const emittedBy = (outputs: readonly Output[]): Emitted[] => {
  const emitted: Emitted[] = []
  for (const output of outputs) if (output.kind === 'emit') emitted.push({ path: output.path, event: output.event })
  return emitted
}

/** The same without who said it. */
export const eventsIn = (outputs: readonly Output[]): AnyEvent[] => {
  const events: AnyEvent[] = []
  for (const output of outputs) if (output.kind === 'emit') events.push(output.event)
  return events
}

/** An effect that has been invoked and has not ended. */
export type Effect = {
  path: ActorPath
  ref: AnyActorRef
  /** Epoch of the commit that invoked it: later ones mean that it was interrupted. */
  epoch: number
  /** Every message that it was sent, in order; a restarted effect gets them all again. */
  sent: AnyEvent[]
  launch: () => void
  deliver: (event: AnyEvent) => void
  /** Ends its process without a word to the machine. */
  kill: () => void
}

/** Everything that a replica needs to go on from a commit; plain data when the machine's context is. */
export type ReplicaSnapshot = {
  tree: unknown
  timers: PersistedTimer[]
  timerLast: number
  /** Timers that no `cancel` reaches any more, where there are any. */
  unreached?: number[]
  nameLast: number
  uses: PersistedUses
  effects: { path: ActorPath; epoch: number; sent: AnyEvent[] }[]
  /** In which order the states of machines with regions were entered. */
  orders: [ActorPath, string[]][]
  chance?: PersistedChance
}

/** What an actor does outside of transitions: the host turns it into inputs and live output. */
export type ReplicaSink = {
  input(input: Input): void
  live(path: ActorPath, event: AnyEvent): void
  /** Chance for a tree that has drawn none so far. */
  seed(): string
  /** A listener that the author attached to an actor threw. */
  listenerFailed(path: ActorPath, error: unknown): void
}

/** The input by which an effect that threw is told so. */
export const effectFailure = (path: ActorPath, error: unknown): Input => ({ from: path, to: path, event: { type: effectFailed, error } })
