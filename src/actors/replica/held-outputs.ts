/** What a tree would do to the world, kept until its commit is durable, and the effects that it has begun and not ended. */
import type { AnyActorRef } from 'xstate'
import type { ActorPath, AnyEvent } from '../../contracts/journal.ts'
import { detached } from '../../contracts/plain.ts'
import type { Gatekeeper } from './gate.ts'
import { LeanMap } from './lean.ts'
import type { Paths } from './paths.ts'
import type { Effect, Output, ReplicaSnapshot } from './sink.ts'

/** An effect may be sent this many messages; more are a fault of the machine, not something to keep for a restart. */
const sentMax = 10_000

export class HeldOutputs implements Gatekeeper {
  outputs: Output[] = []
  readonly effects = new LeanMap<ActorPath, Effect>()
  /** The epoch in which inputs are applied. */
  epoch: number
  readonly #paths: Paths
  /** Of a tree that comes from a snapshot: what it says of the effects that ran then. */
  readonly #restored = new LeanMap<ActorPath, ReplicaSnapshot['effects'][number]>()

  constructor(paths: Paths, epoch: number, restored: ReplicaSnapshot['effects'] = []) {
    this.#paths = paths
    this.epoch = epoch
    for (const effect of restored) this.#restored.set(effect.path, effect)
  }

  /** The actor at a path is gone. @param below whether it only went with another */
  end(path: ActorPath, below: boolean): void {
    const effect = this.effects.get(path)
    this.effects.delete(path)
    // XState does not stop the children of a machine that threw.
    if (effect && below) this.outputs.push({ kind: 'stop', path, run: effect.kill })
  }

  // The gate: all of these are called from within a transition.

  holdAction(self: AnyActorRef, type: string, run: () => unknown): void {
    this.outputs.push({ kind: 'action', path: this.#paths.of(self), type, run })
  }

  effectInvoked(ref: AnyActorRef, process: Pick<Effect, 'launch' | 'deliver' | 'kill'>): void {
    const path = this.#paths.of(ref)
    const restored = this.#restored.get(path)
    this.effects.set(path, { path, ref, epoch: restored?.epoch ?? this.epoch, sent: restored?.sent.slice() ?? [], ...process })
    this.outputs.push({ kind: 'start', path })
  }

  holdDelivery(self: AnyActorRef, event: AnyEvent): void {
    const path = this.#paths.of(self)
    const effect = this.effects.get(path)
    if (effect === undefined) return
    if (effect.sent.length >= sentMax) effect.sent.shift()
    // As it is now: the machine may keep a part of it and change that in place.
    effect.sent.push(detached(event))
    this.outputs.push({ kind: 'deliver', path, event: effect.sent.at(-1) as AnyEvent })
  }

  holdStop(self: AnyActorRef, run: () => void): void {
    this.outputs.push({ kind: 'stop', path: this.#paths.of(self), run })
  }
}
