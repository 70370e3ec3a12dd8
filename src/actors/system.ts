/**
 * The one file that touches names of XState which begin with an underscore. It puts itself between a running actor system and the world:
 * every delivery passes `system._relay`, every timer passes `system.scheduler`. `test/actors/system.test.ts` notices when XState changes.
 */
import type { ActorRefLike, ActorSystem, AnyActorRef } from 'xstate'
import { RuntimeError } from '../contracts/errors.ts'
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'

type AnySystem = ActorSystem<any>

export type ScheduledSend = { from: ActorRefLike; to: AnyActorRef; event: AnyEvent; id: string }

type Relay = (source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent) => void
type Schedule = (source: AnyActorRef, target: AnyActorRef, event: AnyEvent, delay: number, id?: string) => void
type Internals = { _relay: Relay; scheduler: { schedule: Schedule } }

export type SystemHooks = {
  /** True while an input is being applied: then deliveries are part of the transition, otherwise they come from outside. */
  applying(): boolean
  /** A delivery that somebody outside of a transition asked for: an effect's result, `ref.send` in an action or anywhere else. */
  outside(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void
  /** Called around the clock's setTimeout of this delayed send. */
  scheduling(send: ScheduledSend | undefined): void
  /** A name for a delayed send that has none; XState would draw a random one. */
  sendId(): string
}

export const hookSystem = (system: AnySystem, hooks: SystemHooks): void => {
  const internals = system as unknown as Internals
  if (typeof internals._relay !== 'function' || typeof internals.scheduler?.schedule !== 'function')
    throw new RuntimeError('unsupported', 'this version of XState is built differently from those Statecast knows', { hint: 'install xstate 5.33' })
  const relay = internals._relay
  internals._relay = (source, target, event) => (hooks.applying() ? relay(source, target, event) : hooks.outside(source, target, event))
  const { scheduler } = internals
  const { schedule } = scheduler
  scheduler.schedule = (source, target, event, delay, id = hooks.sendId()) => {
    hooks.scheduling({ from: source, to: target, event, id })
    schedule(source, target, event, delay, id)
    hooks.scheduling(undefined)
  }
}

/** Delivers as XState itself does. `source` undefined means: from outside the system. */
export const relay = (system: AnySystem, source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void =>
  (system as unknown as Internals)._relay(source, target, event)

export const reschedule = (system: AnySystem, send: ScheduledSend, delay: number): void =>
  (system as unknown as Internals).scheduler.schedule(send.from as AnyActorRef, send.to, send.event, delay, send.id)

export const parentOf = (ref: AnyActorRef): AnyActorRef | undefined => (ref as unknown as { _parent?: AnyActorRef })._parent

/**
 * Gives every actor of one root a path. A path carries incarnations (`/turn#2`), or a second child under one id would inherit
 * what was meant for the first.
 */
export class Paths {
  readonly #refs = new Map<ActorPath, AnyActorRef>()
  readonly #paths = new WeakMap<AnyActorRef, ActorPath>()
  readonly #counts: Map<ActorPath, Map<string, number>>

  constructor(counts: [ActorPath, [string, number][]][] = []) {
    this.#counts = new Map(counts.map(([path, ids]) => [path, new Map(ids)]))
  }

  /** @param restoring true while XState rebuilds actors that had their incarnation before */
  add(ref: AnyActorRef, restoring: boolean): ActorPath {
    const parent = parentOf(ref)
    let path = '/'
    if (parent) {
      const above = this.of(parent)
      const ids = this.#counts.get(above) ?? new Map<string, number>()
      this.#counts.set(above, ids)
      const incarnation = restoring ? (ids.get(ref.id) ?? 1) : (ids.get(ref.id) ?? 0) + 1
      ids.set(ref.id, incarnation)
      path = `${above === '/' ? '' : above}/${ref.id.replace(/[/#%]/g, encodeURIComponent)}#${incarnation}`
    }
    this.#paths.set(ref, path)
    this.#refs.set(path, ref)
    return path
  }

  /** The actor has ended: nothing will reach this path again. */
  drop(path: ActorPath): void {
    if (path === '/') return
    this.#refs.delete(path)
    this.#counts.delete(path)
  }

  of(ref: AnyActorRef): ActorPath {
    return this.#paths.get(ref) ?? '?'
  }

  get(path: ActorPath): AnyActorRef | undefined {
    return this.#refs.get(path)
  }

  entries(): IterableIterator<[ActorPath, AnyActorRef]> {
    return this.#refs.entries()
  }

  counts(): [ActorPath, [string, number][]][] {
    return [...this.#counts].map(([path, ids]) => [path, [...ids]])
  }
}
