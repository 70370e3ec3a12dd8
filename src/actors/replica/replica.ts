/**
 * One root as a deterministic function of its inputs: an ordinary XState system with its edges held. It does no I/O and reads no clock.
 * Live hosts, recovery and replay all run this very thing; only what is done with its outputs differs.
 */
import { type AnyActorRef, type AnyMachineSnapshot, createActor, type InspectionEvent } from 'xstate'
import { during } from '../../contracts/environment.ts'
import type { RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Input } from '../../contracts/journal.ts'
import { detached } from '../../contracts/plain.ts'
import type { Registration } from '../registration.ts'
import { inlineActionError, inlineActorError } from '../root/supervision.ts'
import { Chance, TreeMoment } from './chance.ts'
import { digestOf, fitsDigest } from './digest.ts'
import { isInline, keepGate } from './gate.ts'
import { HeldOutputs } from './held-outputs.ts'
import { LeanMap } from './lean.ts'
import { letGo } from './let-go.ts'
import { Paths } from './paths.ts'
import { type Effect, effectFailure, type Output, type ReplicaSink, type ReplicaSnapshot } from './sink.ts'
import { Timers } from './timers.ts'
import {
  checkActions,
  entryOrders,
  guardListeners,
  hookSystem,
  parentOf,
  relay,
  reschedule,
  restoreEntryOrder,
  type ScheduledSend,
  type SystemHooks,
  takeEmits,
  unschedule,
} from './xstate-hooks.ts'

type ReplicaOptions = {
  registration: Registration
  input: unknown
  at: number
  epoch: number
  /** That its first commit names, if that drew any chance. */
  seed?: string | undefined
  snapshot?: ReplicaSnapshot
  outside?: ReplicaSink
}

/** Messages between actors that one input may cause; two actors that answer each other for ever would hang the process. */
const deliveryMax = 100_000

export class Replica implements SystemHooks {
  readonly actor: AnyActorRef
  readonly timers = new Timers()
  readonly chance: Chance
  readonly #moment = new TreeMoment(this, (actor) => this.#paths.of(actor as AnyActorRef))
  /** The error that ended the root, if one did. */
  failure: { error: unknown } | undefined
  readonly #changed = new LeanMap<AnyActorRef, true>()
  /** Actors that were made and not started: whoever is stopped before that ends without a word. */
  #unstarted: AnyActorRef[] = []
  #phase: 'applying' | 'outside' | 'restoring'
  #deliveries = 0
  #nameLast = 0
  readonly #paths: Paths
  readonly #held: HeldOutputs
  #outside: ReplicaSink | undefined

  /** Takes the initial transition. Its outputs are there to be taken, unless it is restored: then they belong to the past. */
  constructor({ registration, input, at, epoch, seed, snapshot, outside }: ReplicaOptions) {
    this.#outside = outside
    this.chance = new Chance(() => this.#outside?.seed(), snapshot?.chance ?? { seed })
    this.#paths = new Paths(snapshot?.uses)
    this.#held = new HeldOutputs(this.#paths, epoch, snapshot?.effects)
    this.timers.now = at
    this.#phase = snapshot ? 'restoring' : 'applying'
    // XState makes the context here, before the actor starts.
    this.actor = during(this.#moment, () =>
      createActor(registration.gated, {
        id: registration.kind,
        input: detached(input),
        ...(snapshot ? { snapshot: snapshot.tree as AnyMachineSnapshot } : {}),
        clock: this.timers.clock,
        logger: (...args: unknown[]) => void this.#held.outputs.push({ kind: 'log', path: '/', args }),
        // Only the very first event comes this way: it makes the root known, and with it the hooks.
        inspect: (event) => (this.#paths.get('/') ? undefined : this.inspect(event)),
      }),
    ) as AnyActorRef
    this.actor.subscribe({
      error: (error) => {
        this.failure ??= { error }
      },
    })
    this.#run(() => {
      this.actor.start()
      if (snapshot) this.#restore(snapshot)
    })
  }

  /** Runs a part of XState from which deliveries cascade. Never throws. */
  #run(work: () => void): void {
    this.#deliveries = 0
    try {
      during(this.#moment, work)
    } catch (error) {
      this.failure ??= { error }
    } finally {
      this.#settle()
      this.#phase = 'outside'
    }
  }

  // What the hooks in XState ask and tell: as methods, since each resting root would hold a closure for each.
  inspect(event: InspectionEvent): void {
    const ref = event.actorRef as AnyActorRef
    if (event.type === '@xstate.actor') this.#adopt(ref)
    else if (event.type === '@xstate.snapshot') this.#changed.set(ref, true)
    else if (event.type !== '@xstate.event') return
    else if (event.event.type === 'xstate.init') {
      this.#unstarted = this.#unstarted.filter((other) => other !== ref)
      this.#changed.set(ref, true)
    }
    // An actor that threw shows no last snapshot; that its parent is told is the only sign.
    else if (event.sourceRef && event.event.type.startsWith('xstate.error.actor.')) this.#changed.set(event.sourceRef as AnyActorRef, true)
  }

  #adopt(ref: AnyActorRef): void {
    if (parentOf(ref) === undefined) {
      keepGate(ref.system, this.#held)
      hookSystem(ref, this)
    } else if (typeof ref.src !== 'string') this.#refuse(inlineActorError(ref.id))
    this.#unstarted.push(ref)
    const path = this.#paths.add(ref, this.#phase === 'restoring')
    guardListeners(ref, (error) => this.#outside?.listenerFailed(path, error))
    checkActions(ref, (action) => isInline(action) && this.#refuse(inlineActionError(action.type)))
    takeEmits(ref, (event) => {
      try {
        // Whoever hears it must not hold a part of the context.
        if (this.#phase === 'applying') this.#held.outputs.push({ kind: 'emit', path, event: detached(event) })
        else this.#outside?.live(path, event)
      } catch (error) {
        this.#outside?.listenerFailed(path, error)
      }
    })
  }

  /** Fails the input as a whole, also where a parent would take the error of its child: the author is told what to name. */
  #refuse(error: RuntimeError): never {
    this.failure ??= { error }
    throw error
  }

  phase(): 'applying' | 'outside' | 'restoring' {
    return this.#phase
  }
  delivering(): void {
    if (++this.#deliveries <= deliveryMax) return
    this.failure ??= { error: new Error(`one input made the actors of this root send each other more than ${deliveryMax} messages`) }
    throw this.failure.error
  }
  scheduling(send: ScheduledSend | undefined): void {
    this.timers.describe(send && { from: this.#paths.of(send.from as AnyActorRef), to: this.#paths.of(send.to), event: send.event, id: send.id })
  }
  name(prefix: string): string {
    return `${prefix}${++this.#nameLast}`
  }
  outside(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void {
    const to = this.#paths.of(target)
    const from = source && this.#paths.of(source)
    if (typeof (event as AnyEvent | undefined)?.type === 'string') {
      this.#outside?.input(from === undefined ? { to, event } : { from, to, event })
      return
    }
    const error = new TypeError(`an event must be an object with a type, not ${JSON.stringify(event)?.slice(0, 80)}`)
    if (from !== undefined && this.effects.has(from)) this.#outside?.input(effectFailure(from, error))
    else throw error
  }

  /**
   * Applies one input at a time that the journal will know it by. The machine gets a copy of its own: what it does to that in place, it does in every
   * replay, and the journal has what came in. Never throws: a machine that does leaves a {@link failure}.
   */
  apply(input: Input, at: number): void {
    this.timers.now = at
    this.#phase = 'applying'
    this.#run(() => {
      if ('timer' in input) this.timers.fire(input.timer)
      else this.#deliver(input)
    })
  }

  #deliver(input: Exclude<Input, { timer: number }>): void {
    // The result of an incarnation that is gone must not reach its successor.
    if (!this.expects(input)) return
    const source = 'from' in input ? this.#paths.get(input.from) : undefined
    relay(this.actor.system, source, this.#paths.get(input.to) as AnyActorRef, detached(input.event))
  }

  /** Whether an input can still have an effect; what comes from an incarnation that is gone is not worth a commit. */
  expects(input: Input): boolean {
    if ('timer' in input) return this.timers.has(input.timer)
    const alive = (path: ActorPath) => this.#paths.get(path)?.getSnapshot().status === 'active'
    return alive(input.to) && (!('from' in input) || alive(input.from))
  }

  /** Lets go of whoever has ended, and of what still stood below it. */
  #settle(): void {
    const ended = [...[...this.#changed.keys()].filter((ref) => ref.getSnapshot().status !== 'active'), ...this.#unstarted]
    if (ended.length > 0) letGo({ system: this.actor.system, paths: this.#paths, held: this.#held, timers: this.timers }, ended)
    this.#unstarted = []
  }

  /** From now on nobody hears what its effects still say: their process goes on under another replica, or not at all. */
  disconnect(): void {
    this.#outside = undefined
  }

  /** The epoch in which inputs are applied from now on. @param later ms by which a fork puts its timers off, see `Commit` */
  enter(epoch: number, later = 0): void {
    this.#held.epoch = epoch
    if (later > 0) this.timers.putOff(later)
  }
  get epoch(): number {
    return this.#held.epoch
  }
  /** All that live, by path. */
  actors(): IterableIterator<[ActorPath, AnyActorRef]> {
    return this.#paths.entries()
  }
  takeOutputs(): Output[] {
    return this.#held.outputs.splice(0)
  }

  /** State values of the machines that changed since the last call; the status of what ended, or of what has no state value. */
  takeStates(): Record<ActorPath, unknown> {
    const states: Record<ActorPath, unknown> = {}
    for (const ref of this.#changed.keys()) {
      const snapshot = ref.getSnapshot()
      states[this.#paths.of(ref)] =
        snapshot.status === 'active' ? (snapshot.value ?? 'active') : snapshot.status === 'done' && snapshot.value ? snapshot.value : snapshot.status
    }
    this.#changed.clear()
    return states
  }
  /** Whether it says more than its journal: something happened to it since its states were last taken. */
  get ahead(): boolean {
    return this.#changed.size > 0
  }

  /** Effects that have been invoked and have not ended. */
  get effects(): Pick<ReadonlyMap<ActorPath, Effect>, 'size' | 'get' | 'has' | 'keys' | 'values'> {
    return this.#held.effects
  }
  get status(): 'active' | 'done' | 'error' | 'stopped' {
    return this.actor.getSnapshot().status
  }

  /** State values of all live machines, by path. */
  states(): Record<ActorPath, unknown> {
    return Object.fromEntries([...this.#paths.entries()].map(([path, ref]) => [path, ref.getSnapshot().value ?? ref.getSnapshot().status]))
  }

  /** @throws TypeError where XState's own snapshot would lose an actor: one spawned without an id, or whose id was given to another since */
  persisted(): ReplicaSnapshot {
    for (const [path, ref] of this.#paths.entries())
      if (path !== '/' && parentOf(ref)?.getSnapshot().children[ref.id] !== ref) throw new TypeError(`no snapshot can hold ${path}`)
    return {
      tree: this.actor.getPersistedSnapshot(),
      ...this.timers.saved(),
      nameLast: this.#nameLast,
      uses: this.#paths.persisted(),
      effects: [...this.effects.values()].map(({ path, epoch, sent }) => ({ path, epoch, sent })),
      ...(this.chance.drawn > 0 ? { chance: this.chance.persisted() } : {}),
      orders: entryOrders(this.#paths.entries()),
    }
  }

  /** 32 bits of the whole state. Two replicas that applied the same inputs have the same. */
  digest(): number {
    return digestOf(this.#paths.entries(), this.timers.persisted(), this.chance.drawn)
  }

  /** Whether the state is one of which a digest was recorded. */
  fits(digest: number): boolean {
    return fitsDigest(digest, () => this.#paths.entries(), this.timers.persisted(), this.chance.drawn)
  }

  #restore(snapshot: ReplicaSnapshot): void {
    for (const [path, order] of snapshot.orders) restoreEntryOrder(this.#paths.get(path), order)
    for (const timer of snapshot.timers) {
      const [from, to] = [this.#paths.get(timer.from), this.#paths.get(timer.to)]
      const cancel = from && snapshot.unreached?.includes(timer.n) ? () => unschedule(this.actor.system, from, timer.id) : undefined
      const { event, id, delay } = timer
      if (from && to) this.timers.restore(timer, () => reschedule(this.actor.system, { from, to, event, id }, delay), cancel)
    }
    this.timers.last = snapshot.timerLast
    this.#nameLast = snapshot.nameLast
    this.#settle()
    this.takeOutputs()
    this.takeStates()
  }
}
