/** An actor of somebody's own machine, as its users hold it. */

import type { AnyStateMachine, EmittedFrom, EventFrom, OutputFrom, SnapshotFrom } from 'xstate'
import type { Extent } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { pause } from '../contracts/environment.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { type ActorSnapshot, snapshotOf } from './actor-snapshot.ts'
import type { OutputEvent } from './output-event.ts'
import type { Parts } from './parts.ts'

/** How long one wait for the next commit is, in ms; a word that was lost on the way costs that much. */
const lookMs = 1_000

/** @property timeout in ms; default: none */
export type WaitOptions = { timeout?: number; signal?: AbortSignal }

type TagOf<Machine extends AnyStateMachine> = Parameters<SnapshotFrom<Machine>['hasTag']>[0]

type Observer<Value> = { next?(value: Value): void; error?(error: unknown): void; complete?(): void }

/** Nothing is read before somebody asks: an actor may live in another process, so what XState answers at once is here a promise. */
export class Actor<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly address: Address
  readonly #name: string
  readonly #parts: Parts
  readonly #input: unknown
  #seen: ActorSnapshot<Machine> | undefined

  constructor(parts: Parts, kind: string, id: string, input?: unknown) {
    parts.host.registration(kind)
    this.address = { kind, id }
    this.#name = formatAddress(this.address)
    this.#parts = parts
    this.#input = input
  }

  /** Resolves when the event is durable and applied. @throws RuntimeError bad_request, closed, quarantined, overloaded … */
  async send(event: EventFrom<Machine>, options: { id?: string } = {}): Promise<Receipt> {
    this.#parts.admit()
    return this.#parts.directory.send(this.address, event, { ...options, ...definedOf({ input: this.#input }) })
  }

  /** Its state now, with `matches`, `hasTag`, `can` and the rest of what XState has there. @throws RuntimeError not_found, quarantined, drift, corrupt_at */
  async snapshot(): Promise<ActorSnapshot<Machine>> {
    this.#seen = await this.#read(true)
    return this.#seen
  }

  /** @param extent `false` is without tags and children, which makes the answer of another node much smaller */
  async #read(extent: Extent): Promise<ActorSnapshot<Machine>> {
    const { quarantine, snapshot, seq, epoch } = await this.#parts.directory.read(this.address, extent)
    const name = this.#name
    if (quarantine)
      throw new RuntimeError('quarantined', `${name} was quarantined after repeated failures: ${quarantine.message}`, {
        data: { reason: quarantine },
        hint: `see 'statecast trace ${name}', mend the cause, then revive() it`,
      })
    if (!snapshot) throw new RuntimeError('not_found', `there is no ${name}`, { hint: 'send it an event and it is there' })
    // A node of an earlier version knows of no outlines.
    if (extent === 'outline' && snapshot.tags === undefined) return this.#read(true)
    const { machine } = this.#parts.host.registration(this.address.kind)
    return snapshotOf(snapshot, machine, { seq, epoch }) as ActorSnapshot<Machine>
  }

  /**
   * The newest snapshot that this handle has read: for functions that are made for actors of XState, such as `waitFor(actor, …)`.
   * @throws RuntimeError unsupported before the first read
   */
  getSnapshot(): ActorSnapshot<Machine> {
    if (this.#seen) return this.#seen
    throw new RuntimeError('unsupported', `nothing of ${this.#name} has been read yet, and reading takes time`, {
      hint: 'await actor.snapshot() first; to wait for a state, await actor.waitFor((snapshot) => …)',
    })
  }

  /**
   * Hears its snapshots after commits, and the present one unless this handle has read it; what commits in quick succession led through is seen as one.
   * Like the one of XState: it completes when the actor has ended.
   */
  subscribe(observer: Observer<ActorSnapshot<Machine>> | ((snapshot: ActorSnapshot<Machine>) => void)): { unsubscribe(): void } {
    const { next, error, complete } = typeof observer === 'function' ? { next: observer } : observer
    const leave = new AbortController()
    const known = this.#seen
    const follow = async (): Promise<void> => {
      for await (const snapshot of this.#states(leave.signal, () => this.snapshot()))
        if (snapshot.seq !== known?.seq || snapshot.epoch !== known.epoch) next?.call(observer, snapshot)
      if (!leave.signal.aborted) complete?.call(observer)
    }
    follow().catch((thrown: unknown) => {
      if (leave.signal.aborted) return
      if (error) error.call(observer, thrown)
      else this.#parts.environment.log.error({ actor: this.#name, error: String(thrown) }, 'an actor cannot be followed any more')
    })
    return { unsubscribe: () => leave.abort() }
  }

  /**
   * The first snapshot that fits, waited for, also while the store is away; what several commits in quick succession led through may not be seen.
   * @throws RuntimeError timeout, closed when it ends first, and what {@link snapshot} throws; the reason of the signal
   */
  waitFor(fits: (snapshot: ActorSnapshot<Machine>) => boolean, options: WaitOptions = {}): Promise<ActorSnapshot<Machine>> {
    return this.#wait(fits, options, () => this.snapshot())
  }

  /**
   * The same for the first snapshot that has the tag, or in which the actor has ended. What it remembers is not read before that, so that waiting costs the same
   * however much it is.
   * @throws RuntimeError as {@link waitFor} does
   */
  async waitForTag(tag: TagOf<Machine>, options: WaitOptions = {}): Promise<ActorSnapshot<Machine>> {
    const fits = (at: ActorSnapshot<Machine>): boolean => at.status !== 'active' || at.hasTag(tag)
    for (;;) {
      await this.#wait(fits, options, () => this.#read('outline'), true)
      const snapshot = await this.snapshot()
      // It may have gone on meanwhile.
      if (fits(snapshot)) return snapshot
    }
  }

  /** The output of the machine, waited for. @throws RuntimeError timeout, quarantined; internal when it ended without one */
  async output(timeoutMs = 600_000): Promise<OutputFrom<Machine>> {
    const { status, output } = await this.#wait(
      (snapshot) => snapshot.status !== 'active',
      { timeout: timeoutMs },
      () => this.#read(false),
    )
    if (status === 'done') return output as OutputFrom<Machine>
    throw new RuntimeError('internal', `${this.#name} ended without an output`, { hint: `see 'statecast trace ${this.#name}'` })
  }

  async #wait(
    fits: (snapshot: ActorSnapshot<Machine>) => boolean,
    { timeout = Number.POSITIVE_INFINITY, signal }: WaitOptions,
    read: () => Promise<ActorSnapshot<Machine>>,
    isLight = false,
  ): Promise<ActorSnapshot<Machine>> {
    const { clock } = this.#parts.environment
    const late = new AbortController()
    const timer = timeout === Number.POSITIVE_INFINITY ? undefined : clock.setTimeout(() => late.abort(), timeout)
    try {
      for await (const snapshot of this.#states(signal ? AbortSignal.any([signal, late.signal]) : late.signal, read, isLight))
        if (fits(snapshot)) return snapshot
      signal?.throwIfAborted()
      if (late.signal.aborted)
        throw new RuntimeError('timeout', `${this.#name} has not come to what was waited for within ${timeout} ms`, { retryable: true })
      throw new RuntimeError('closed', `${this.#name} has ended, and never came to what was waited for`)
    } finally {
      clock.clearTimeout(timer)
    }
  }

  /**
   * Its states as they are noticed, the present one first, until it has ended or nobody wants more.
   * @param isLight whether to read it costs no more than a head, where it is in memory
   */
  async *#states(signal: AbortSignal, read: () => Promise<ActorSnapshot<Machine>>, isLight = false): AsyncGenerator<ActorSnapshot<Machine>> {
    const { directory, host, transport } = this.#parts
    let leave = (): void => undefined
    signal.addEventListener('abort', () => leave(), { once: true })
    // No race with one promise for all rounds: that would keep something of each until the end.
    const unlessLeft = (awaited: Promise<void>): Promise<void> =>
      new Promise((resolve, reject) => {
        leave = resolve
        if (signal.aborted) resolve()
        awaited.then(resolve, reject)
      })
    let last: ActorSnapshot<Machine> | undefined
    while (!signal.aborted) {
      // Before we look, so that nothing falls in between.
      const next = directory.nextCommit(this.address, lookMs)
      // Nobody waits for it any more where what comes in between throws.
      next.catch(() => undefined)
      try {
        // A head costs little, and wakes nobody who sleeps.
        const isNear = isLight && host.holds(this.address)
        if (last === undefined || isNear || (await transport.journal.head(this.address))?.seq !== last.seq) {
          const snapshot = await read()
          if (signal.aborted) return
          if (snapshot.seq !== last?.seq || snapshot.epoch !== last.epoch) yield snapshot
          if (snapshot.status !== 'active') return
          last = snapshot
        }
        await unlessLeft(next)
      } catch (error) {
        // The actor moves, or the store is away: a caller that waits for days waits for that as well.
        if (last === undefined || !isRuntimeError(error) || !error.retryable || host.closed) throw error
        await unlessLeft(pause(this.#parts.environment.clock, lookMs))
      }
    }
  }

  /**
   * Takes it into service again after it was quarantined, from where its journal ends; else it does nothing.
   * @returns whether it was quarantined @throws RuntimeError drift, corrupt_at …
   */
  async revive(): Promise<boolean> {
    this.#parts.admit()
    return this.#parts.directory.revive(this.address)
  }

  /**
   * Takes it for the machine as it is now, where another version has begun it: what is recorded is given to this one, which has to come to the same state. Its
   * journal says so, so that any node goes on with it from there.
   * @returns whether another version had it @throws RuntimeError drift where this one comes to another state, or fails on the way; not_found, corrupt_at …
   */
  async adopt(): Promise<boolean> {
    this.#parts.admit()
    return this.#parts.directory.adopt(this.address)
  }

  /** Removes it with its journal, whatever it is doing: under its name another one can begin. @returns false where it was not there */
  async forget(): Promise<boolean> {
    this.#parts.admit()
    return this.#parts.directory.forget(this.address)
  }

  /** Hears what the machine emits from now on: events of one type, or all with `*`. As in XState, not what its children emit. */
  on<Type extends EmittedFrom<Machine>['type'] | '*'>(
    type: Type,
    listener: (event: Type extends '*' ? EmittedFrom<Machine> : Extract<EmittedFrom<Machine>, { type: Type }>) => void,
  ): { unsubscribe(): void } {
    const unsubscribe = this.#parts.outputs.listen(this.#name, ({ path, event }) => {
      if (path === '/' && (type === '*' || event.type === type)) listener(event as never)
    })
    return { unsubscribe }
  }

  /** What it and all below it emit, from now on. */
  events(options: { signal?: AbortSignal } = {}): AsyncGenerator<OutputEvent> {
    return this.#parts.outputs.follow(this.#name, options, (output) => output)
  }
}
