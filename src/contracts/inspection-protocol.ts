/**
 * What is published on `statecast.inspect.<kind>.<id>` for each commit of an actor, in XState's inspection protocol: JSON as the Stately inspector
 * takes it, with fields of ours beside its own. Its readers leave out what they do not know.
 */
import type { Candidate, RemoteAt, TransitionRef } from './inspection.ts'
import type { AnyEvent } from './journal.ts'

/** Ids are addresses: `session/main` is a root, `session/main/turn#1` an actor below it. */
type Common = {
  sessionId: string
  /** Of the tree: the same for all its actors, on whatever node they are. */
  rootId: string
  id: null
  /** ms since the epoch, of the commit. */
  createdAt: string
  _version: string
  /** The commit, in the journal of the actor's own root. */
  seq: number
}

type SnapshotShown = { status: string; value?: unknown; context?: unknown; input?: unknown; output?: unknown; error?: unknown; tags?: string[] }

/** Begins what is told of a commit. `states` is not repeated: the snapshots that follow have them. */
type CommitMessage = Common & { type: '@statecast.commit'; epoch: number; writer: string; remotes: RemoteAt[] }
export type InspectionMessage =
  | CommitMessage
  | (Common & { type: '@xstate.actor'; name: string; parentId?: string; definition: string; snapshot: SnapshotShown; signature?: string })
  | (Common & { type: '@xstate.event'; event: AnyEvent; sourceId?: string })
  /** What a machine was asked for an event, in XState's order, what guards said, and what was taken. */
  | (Common & { type: '@xstate.microstep'; event: AnyEvent; _transitions: TransitionRef[]; candidates: Candidate[]; snapshot: { value: unknown } })
  /** `next` are the transitions that the active states declare now. */
  | (Common & { type: '@xstate.snapshot'; event: AnyEvent; snapshot: SnapshotShown; next: TransitionRef[] })
