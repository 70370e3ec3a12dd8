/** What a host is given, and what it tells. */
import type { Environment } from '../../contracts/environment.ts'
import type { ActorPath, AnyEvent, Commit } from '../../contracts/journal.ts'
import type { Placement } from '../../contracts/placement.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import type { Emitted } from '../replica/sink.ts'
import type { ActorDirectory } from '../root/effect.ts'
import type { CommitPhase, RootHandle } from '../root/root-host.ts'
import type { HostLimits } from './limits.ts'

export type HostEvents = {
  committed?(root: RootHandle, commit: Commit, emitted: Emitted[], redo: boolean): void
  live?(root: RootHandle, path: ActorPath, event: AnyEvent): void
  reached?(root: RootHandle, phase: CommitPhase, commit: Commit): void | Promise<void>
  released?(root: RootHandle): void
  /** Its journal is about to go: what there is of it elsewhere goes before, or a removal that is cut off would leave it behind. */
  removing?(address: Address): Promise<void>
  /** It is gone from the journal; nobody has begun it anew yet. */
  forgotten?(address: Address): void
}

/** @property renews the id under which the same message was refused before @property input for a root that is created by this message */
export type SendOptions = { id?: string; renews?: string; cause?: string; input?: unknown; mustExist?: boolean }

export type HostOptions = {
  journal: Journal
  environment: Environment
  registrations: Registration[]
  limits?: Partial<HostLimits>
  events?: HostEvents
  /** Where nodes share the actors: which are this one's. Without it all are. */
  placement?: Placement
  /** How effects reach actors of other roots; without it, those of this host. */
  others?: ActorDirectory
}
