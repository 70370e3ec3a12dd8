/** What a live root asks of the host that has it in memory. */
import type { Environment } from '../../contracts/environment.ts'
import { errorBody, type RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Commit } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import type { Registration } from '../registration.ts'
import type { Replica } from '../replica/replica.ts'
import type { Emitted, ReplicaSink } from '../replica/sink.ts'
import type { ActorDirectory } from './effect.ts'

export type RootLimits = {
  /** Inputs waiting for their commit; more from outside are refused with `overloaded`. */
  queueMax: number
  /** Commits between two snapshots, at least. */
  snapshotEvery: number
  /** Restarts within `crashPeriodMs` after which a root is quarantined. */
  crashMax: number
  crashPeriodMs: number
  /** Processes that may end in a row while they run a root, before it is set aside: perhaps it is what ends them. */
  takeoverMax: number
  /** ms that a root with running effects waits for a store that is full or away, before it lets go and they have to begin again. */
  patienceMs: number
  /** ms within which nobody else can have taken over, as long as our lock or lease is good. After that, whoever may have been frozen asks the journal. */
  takeoverMs: number
}

/** Where in the life of a commit a fail point may strike. */
export type CommitPhase = 'received' | 'appended' | 'done'

/** A live root as its host knows it while something happens to it. */
export interface RootHandle {
  readonly address: Address
  readonly name: string
  readonly registration: Registration
  readonly replica: Replica | undefined
  readonly seq: number
  readonly begun: boolean
  /** Resolves when it has left memory; undefined while it does not leave by itself. */
  readonly leaving: Promise<void> | undefined
}

export type RootHost = {
  journal: Journal
  environment: Environment
  /** Names this host in every commit that it writes. */
  writer: string
  limits: RootLimits
  /** How effects reach actors of other roots. */
  others?: ActorDirectory | undefined
  /** The commit is durable; its outputs are about to run. `redo` when they may have run before. */
  committed(root: RootHandle, commit: Commit, emitted: Emitted[], redo: boolean): void
  /** Live output of an effect, at most once and stored nowhere: a delta comes straight from the actor that says it. */
  live: ((root: RootHandle, path: ActorPath, event: AnyEvent) => void) | undefined
  /** A chance for a test to strike. Returns a promise only when something waits. */
  reached(root: RootHandle, phase: CommitPhase, commit: Commit): void | Promise<void>
  /** Whether our lease stands, so that nobody can have taken over; false where somebody may have at any moment, undefined where there are no leases. */
  sure(): boolean | undefined
  /** Finishes a removal that was cut off. The root has left memory then. @throws RuntimeError where the store is away */
  remove(root: RootHandle): Promise<void>
  /** The root is no longer in memory: fenced, broken or closed. */
  released(root: RootHandle, reason: RuntimeError): void
}

/** What stands beside a message: for whom it is, and by which ids it and what led to it are known. */
export type InputNames = { to?: ActorPath; id?: string; renews?: string; cause?: string }

/** The same host, but what its listeners throw is logged: they are no part of the root. */
export const guarded = (host: RootHost): RootHost => {
  const guard =
    <Rest extends unknown[]>(listener: (root: RootHandle, ...rest: Rest) => void) =>
    (root: RootHandle, ...rest: Rest): void => {
      try {
        listener(root, ...rest)
      } catch (error) {
        host.environment.log.error({ actor: root.name, error: errorBody(error) }, 'a listener on a root threw')
      }
    }
  return { ...host, committed: guard(host.committed), released: guard(host.released) }
}

/** What the actors of a root do outside of transitions, and what they need from there. */
export class RootSink implements ReplicaSink {
  readonly input: ReplicaSink['input']
  /** Bound, so that there is no call of ours in between: of nothing else is there so much. */
  readonly live: ReplicaSink['live']
  readonly #root: RootHandle
  readonly #environment: Environment

  constructor(root: RootHandle, { live, environment }: RootHost, input: ReplicaSink['input']) {
    this.input = input
    this.live = live?.bind(undefined, root) ?? (() => undefined)
    this.#root = root
    this.#environment = environment
  }

  seed(): string {
    return this.#environment.ids.next('seed')
  }

  listenerFailed(path: ActorPath, error: unknown): void {
    this.#environment.log.error({ actor: this.#root.name, path, error: errorBody(error) }, 'a listener on an actor threw')
  }
}
