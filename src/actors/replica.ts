/**
 * One root as a deterministic function of its inputs: an ordinary XState system with its edges held. It does no I/O and reads no clock.
 * Live hosts, recovery, replay, fork and the inspector all run this very thing; only what is done with its outputs differs.
 */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { createActor } from 'xstate'
import type { ActorPath, AnyEvent, Input } from '../contracts/journal.ts'
import { checksum, encode } from './codec.ts'
import { effectFailed, type Gatekeeper, keepGate } from './gate.ts'
import { actionNames, type Registration } from './registration.ts'
import { hookSystem, Paths, relay, reschedule } from './system.ts'
import { type PersistedTimer, Timers } from './timers.ts'

/** Something that may happen in the world once the commit that caused it is durable. */
export type Output =
  | { kind: 'start'; path: ActorPath }
  | { kind: 'stop'; path: ActorPath; run: () => void }
  | { kind: 'deliver'; path: ActorPath; event: AnyEvent }
  | { kind: 'action'; path: ActorPath; type: string; run: () => unknown }
  | { kind: 'emit'; path: ActorPath; event: AnyEvent }
  | { kind: 'log'; path: ActorPath; args: unknown[] }

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
  sendLast: number
  counts: [ActorPath, [string, number][]][]
  effects: { path: ActorPath; epoch: number; sent: AnyEvent[] }[]
}

/** What an actor does outside of transitions: the host turns it into inputs and live output. */
export type Outside = {
  input(input: Input): void
  live(path: ActorPath, event: AnyEvent): void
}

export type ReplicaOptions = {
  registration: Registration
  input: unknown
  at: number
  epoch: number
  snapshot?: ReplicaSnapshot
  outside?: Outside
}

/** An effect may be sent this many messages; more are a fault of the machine, not something to keep for a restart. */
const sentMax = 10_000

export class Replica implements Gatekeeper {
  readonly actor: AnyActorRef
  readonly timers = new Timers()
  readonly effects = new Map<ActorPath, Effect>()
  /** The error that ended the root, if one did. */
  failure: { error: unknown } | undefined
  #outputs: Output[] = []
  #changed = new Set<AnyActorRef>()
  #applying = false
  #epoch: number
  #sendLast = 0
  readonly #paths: Paths
  readonly #restored: Map<ActorPath, ReplicaSnapshot['effects'][number]>
  #outside: Outside | undefined

  /** Takes the initial transition. Its outputs are there to be taken, unless it is restored: then they belong to the past. */
  constructor({ registration, input, at, epoch, snapshot, outside }: ReplicaOptions) {
    this.#epoch = epoch
    this.#outside = outside
    this.#paths = new Paths(snapshot?.counts)
    this.#restored = new Map(snapshot?.effects.map((effect) => [effect.path, effect]))
    this.timers.now = at
    this.#applying = true
    let restoring = snapshot !== undefined
    this.actor = createActor(registration.gated as AnyStateMachine, {
      input,
      ...(snapshot ? { snapshot: snapshot.tree as AnyMachineSnapshot } : {}),
      clock: this.timers.clock as unknown as { setTimeout: (fn: () => void, ms: number) => never; clearTimeout: (id: never) => void },
      logger: (...args: unknown[]) => void this.#outputs.push({ kind: 'log', path: '/', args }),
      inspect: (event) => {
        if (event.type === '@xstate.snapshot') this.#changed.add(event.actorRef as AnyActorRef)
        else if (event.type === '@xstate.actor') this.#adopt(event.actorRef as AnyActorRef, restoring)
        else if (event.type === '@xstate.action') this.#refuseInline(event.actorRef as AnyActorRef, event.action.type)
      },
    }) as AnyActorRef
    this.actor.subscribe({
      error: (error) => {
        this.failure = { error }
      },
    })
    this.actor.start()
    restoring = false
    if (snapshot) this.#restore(snapshot)
    this.#settle()
    this.#applying = false
  }

  #adopt(ref: AnyActorRef, restoring: boolean): void {
    if (this.#paths.get('/') === undefined) {
      keepGate(ref.system, this)
      hookSystem(ref.system, {
        applying: () => this.#applying,
        outside: (source, target, event) => this.#fromOutside(source, target, event),
        scheduling: (send) =>
          this.timers.describe(
            send && { from: this.#paths.of(send.from as AnyActorRef), to: this.#paths.of(send.to), event: send.event, id: send.id },
          ),
        sendId: () => `send-${++this.#sendLast}`,
      })
    } else if (typeof ref.src !== 'string') {
      throw new Error(`the actor '${ref.id}' was spawned without a name; declare its logic under setup({ actors }) and spawn it by that name`)
    }
    const path = this.#paths.add(ref, restoring)
    ref.on('*', (event) => {
      const emitted = event as AnyEvent
      if (this.#applying) this.#outputs.push({ kind: 'emit', path, event: emitted })
      else this.#outside?.live(path, emitted)
    })
  }

  /** `enqueueActions` may enqueue a function that has no name; it would act before the commit, so the transition fails instead. */
  #refuseInline(ref: AnyActorRef, type: string): void {
    const machine = (ref as unknown as { logic: AnyStateMachine }).logic
    if (type.startsWith('xstate.') || type in machine.implementations.actions || actionNames(machine).has(type)) return
    throw new Error(`the action '${type}' is an inline function; declare it under setup({ actions }) and enqueue it by that name`)
  }

  #fromOutside(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEvent): void {
    const to = this.#paths.of(target)
    this.#outside?.input(source === undefined ? { to, event } : { from: this.#paths.of(source), to, event })
  }

  /** Applies one input at a time that the journal will know it by. Never throws: a machine that does leaves a {@link failure}. */
  apply(input: Input, at: number): void {
    this.timers.now = at
    this.#applying = true
    try {
      if ('timer' in input) this.timers.fire(input.timer)
      else this.#deliver(input)
    } finally {
      this.#settle()
      this.#applying = false
    }
  }

  #deliver(input: Exclude<Input, { timer: number }>): void {
    const target = this.#paths.get(input.to)
    const source = 'from' in input ? this.#paths.get(input.from) : undefined
    // The result of an incarnation that is gone must not reach its successor.
    if (target === undefined || target.getSnapshot().status !== 'active') return
    if ('from' in input && (source === undefined || source.getSnapshot().status !== 'active')) return
    relay(this.actor.system, source, target, input.event)
  }

  /** Whether an input can still have an effect; what comes from an incarnation that is gone is not worth a commit. */
  expects(input: Input): boolean {
    if ('timer' in input) return this.timers.has(input.timer)
    const alive = (path: ActorPath) => this.#paths.get(path)?.getSnapshot().status === 'active'
    return alive(input.to) && (!('from' in input) || alive(input.from))
  }

  #settle(): void {
    for (const ref of this.#changed) {
      if (ref.getSnapshot().status === 'active') continue
      const path = this.#paths.of(ref)
      this.effects.delete(path)
      this.#paths.drop(path)
    }
  }

  /** From now on nobody hears what its effects still say: their process goes on under another replica, or not at all. */
  disconnect(): void {
    this.#outside = undefined
  }

  /** The epoch in which inputs are applied from now on. */
  enter(epoch: number): void {
    this.#epoch = epoch
  }

  takeOutputs(): Output[] {
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }

  /** State values of the machines that changed since the last call; the status of what ended, or of what has no state value. */
  takeStates(): Record<ActorPath, unknown> {
    const states: Record<ActorPath, unknown> = {}
    for (const ref of this.#changed) {
      const snapshot = ref.getSnapshot()
      states[this.#paths.of(ref)] =
        snapshot.status === 'active' ? (snapshot.value ?? 'active') : snapshot.status === 'done' && snapshot.value ? snapshot.value : snapshot.status
    }
    this.#changed.clear()
    return states
  }

  get status(): 'active' | 'done' | 'error' | 'stopped' {
    return this.actor.getSnapshot().status
  }

  /** State values of all live machines, by path. */
  states(): Record<ActorPath, unknown> {
    return Object.fromEntries([...this.#paths.entries()].map(([path, ref]) => [path, ref.getSnapshot().value ?? ref.getSnapshot().status]))
  }

  persisted(): ReplicaSnapshot {
    return {
      tree: this.actor.getPersistedSnapshot(),
      timers: this.timers.persisted(),
      timerLast: this.timers.last,
      sendLast: this.#sendLast,
      counts: this.#paths.counts(),
      effects: [...this.effects.values()].map(({ path, epoch, sent }) => ({ path, epoch, sent })),
    }
  }

  /** CRC-32 of the whole state. Two replicas that applied the same inputs have the same. */
  digest(): number {
    return checksum(encode([this.actor.getPersistedSnapshot(), this.timers.persisted()]))
  }

  #restore(snapshot: ReplicaSnapshot): void {
    for (const timer of snapshot.timers) {
      const [from, to] = [this.#paths.get(timer.from), this.#paths.get(timer.to)]
      if (from && to) this.timers.restore(timer, () => reschedule(this.actor.system, { from, to, event: timer.event, id: timer.id }, timer.delay))
    }
    this.timers.last = snapshot.timerLast
    this.#sendLast = snapshot.sendLast
    this.#outputs = []
    this.takeStates()
  }

  // The gate: all of these are called from within a transition.

  holdAction(self: AnyActorRef, type: string, run: () => unknown): void {
    this.#outputs.push({ kind: 'action', path: this.#paths.of(self), type, run })
  }

  effectInvoked(ref: AnyActorRef, process: Pick<Effect, 'launch' | 'deliver' | 'kill'>): void {
    const path = this.#paths.of(ref)
    const restored = this.#restored.get(path)
    this.effects.set(path, { path, ref, epoch: restored?.epoch ?? this.#epoch, sent: restored?.sent.slice() ?? [], ...process })
    this.#outputs.push({ kind: 'start', path })
  }

  holdDelivery(self: AnyActorRef, event: AnyEvent): void {
    const path = this.#paths.of(self)
    const effect = this.effects.get(path)
    if (effect === undefined) return
    if (effect.sent.length >= sentMax) effect.sent.shift()
    effect.sent.push(event)
    this.#outputs.push({ kind: 'deliver', path, event })
  }

  holdStop(self: AnyActorRef, run: () => void): void {
    this.#outputs.push({ kind: 'stop', path: this.#paths.of(self), run })
  }
}

/** The input by which a launch that threw is told to its own actor. */
export const launchFailed = (path: ActorPath, error: unknown): Input => ({ from: path, to: path, event: { type: effectFailed, error } })
