/** Many roots in one process: finds them by address, wakes them in time, lets them sleep, keeps one's trouble from the others. */
import { type Environment, pause } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { ActorPath, AnyEvent, Commit, Receipt } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Head, Journal } from '../contracts/transport.ts'
import { checkEvent, checkMessageId } from './boundary.ts'
import type { Emitted } from './edges.ts'
import { defaultLimits, type HostLimits } from './limits.ts'
import type { Registration } from './registration.ts'
import { Removals } from './removals.ts'
import { Resting } from './resting.ts'
import { Root } from './root.ts'
import type { Moment, RootHost } from './root-host.ts'
import { noSuchError } from './supervision.ts'
import { dueSoon, type RootView, viewOf } from './view.ts'
import { Watchers } from './watchers.ts'

export type HostEvents = {
  committed?(root: Root, commit: Commit, emitted: Emitted[], redo: boolean): void
  live?(root: Root, path: ActorPath, event: AnyEvent): void
  moment?(root: Root, moment: Moment, commit: Commit): void | Promise<void>
  released?(root: Root): void
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
}

/** How often roots that sleep are looked through for one that is due. */
const pollMs = 1000
const wakeBatch = 1000

export class Host {
  readonly #options: HostOptions
  readonly #limits: HostLimits
  readonly #registrations: Map<string, Registration>
  readonly #roots = new Map<string, Promise<Root>>()
  readonly #live = new Map<string, Root>()
  readonly #resting = new Resting()
  readonly #removals: Removals
  readonly #watchers: Watchers
  readonly #rootHost: RootHost
  #poll: unknown
  #closing: RuntimeError | undefined

  constructor(options: HostOptions) {
    const { journal, environment, registrations, events = {} } = options
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#registrations = new Map(registrations.map((registration) => [registration.kind, registration]))
    this.#watchers = new Watchers(environment.clock)
    this.#removals = new Removals(journal, (address) => {
      this.#resting.end(formatAddress(address))
      events.forgotten?.(address)
    })
    this.#rootHost = {
      journal,
      environment,
      writer: environment.ids.next('host'),
      limits: this.#limits,
      committed: (root, ...args) => {
        this.#watchers.committed(root.name)
        events.committed?.(root, ...args)
      },
      live: (...args) => events.live?.(...args),
      moment: (...args) => events.moment?.(...args),
      released: (root, reason) => {
        if (this.#live.get(root.name) === root) this.#live.delete(root.name)
        if (reason.code === 'fenced') this.#resting.forGood(root.name)
        events.released?.(root)
      },
    }
  }

  /** Wakes every root that was cut off in its work or has a timer that is due, and goes on doing so. Resolves when the first round is open. */
  async start(): Promise<void> {
    await this.#wake()
    this.#pollSoon()
  }

  #pollSoon(): void {
    if (this.#closing) return
    this.#poll = this.#options.environment.clock.setTimeout(() => {
      // One root that is slow to open must not keep the others asleep: the next round does not wait for this one.
      void this.#wake()
      this.#pollSoon()
    }, pollMs)
  }

  get liveCount(): number {
    return this.#live.size
  }
  /** In alphabetical order. */
  get kinds(): string[] {
    return [...this.#registrations.keys()].sort()
  }
  registration(kind: string): Registration {
    const registration = this.#registrations.get(kind)
    if (!registration)
      throw new RuntimeError('not_found', `no machine is registered as '${kind}'`, {
        field: 'kind',
        hint: `there are: ${this.kinds.join(', ')}`,
      })
    return registration
  }

  /**
   * Delivers a message; the root is woken or created for it. Resolves when it is durable.
   * A repeated id is answered with the first receipt.
   * @throws RuntimeError bad_request (reserved, unknown or malformed event), and whatever {@link Root.send} throws
   */
  async send(address: Address, event: unknown, { input, mustExist, ...options }: SendOptions = {}): Promise<Receipt> {
    const registration = this.registration(address.kind)
    const checked = checkEvent(registration, event)
    checkMessageId(options.id)
    for (let attempt = 1; ; attempt++) {
      const root = await this.get(address, input)
      if (mustExist && !root.replica) throw noSuchError(root.name)
      try {
        return await root.send(checked, options)
      } catch (error) {
        // It fell asleep between our finding it and our sending: wake it again.
        if (attempt < 3 && isRuntimeError(error) && error.code === 'closed' && error.retryable && !this.#closing) continue
        throw error
      }
    }
  }

  /** The live root at an address, woken or prepared for creation. @throws RuntimeError drift, corrupt_at, closed … */
  async get(address: Address, input?: unknown): Promise<Root> {
    const name = formatAddress(address)
    for (;;) {
      if (this.#closing) throw this.#closing
      // Everybody waits for the same promise, so that messages stay in the order in which they were sent.
      const opening = this.#roots.get(name) ?? this.#open(name, address, input)
      const root = await opening
      if (root.leaving) await root.leaving
      else if (this.#live.get(name) === root) {
        root.createWith(input)
        return root
      }
      if (this.#roots.get(name) === opening) this.#roots.delete(name)
    }
  }

  /**
   * What a root is, at a moment when all of it is durable; woken if need be. The copy is the caller's own.
   * @throws RuntimeError drift, corrupt_at, closed …
   */
  read(address: Address): Promise<RootView> {
    return this.#look(address, viewOf)
  }

  /** The commit in which a message was accepted, or refused; undefined when it was longer ago than a root remembers. */
  seqOf(address: Address, id: string): Promise<number | undefined> {
    return this.#look(address, (root) => root.seqOf(id))
  }

  async #look<T>(address: Address, see: (root: Root) => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const root = await this.get(address)
      try {
        return await root.look(see)
      } catch (error) {
        if (attempt < 3 && isRuntimeError(error) && error.retryable && !this.#closing) continue
        throw error
      }
    }
  }

  /**
   * Removes a root from memory and from the journal. Whoever wants it meanwhile waits, and begins it anew.
   * @param seen forget it only while this is its head and nobody has it in memory @returns whether it was forgotten
   */
  async forget(address: Address, seen?: Head): Promise<boolean> {
    const name = formatAddress(address)
    if (seen && (this.#live.has(name) || this.#removals.underWay(name))) return false
    while (this.#removals.underWay(name)) await this.#removals.underWay(name)
    // Without a snapshot: it would outlive the journal and be taken for a journal that lost its end.
    this.#live.get(name)?.abandon()
    return this.#removals.begin(address, seen)
  }

  #open(name: string, address: Address, input: unknown): Promise<Root> {
    const root = new Root(this.#rootHost, address, this.registration(address.kind))
    this.#live.set(name, root)
    // Here rather than in front of it, so that whoever waits for a removal gets the root in the order in which they came.
    const removal = this.#removals.underWay(name)
    const opening = removal ? removal.then(() => root.begin(input)) : root.begin(input)
    this.#roots.set(name, opening)
    opening.then(
      () => this.#resting.end(name),
      () => {
        if (this.#live.get(name) === root) this.#live.delete(name)
        if (this.#roots.get(name) === opening) this.#roots.delete(name)
      },
    )
    return opening
  }

  async #wake(): Promise<void> {
    const { journal, environment } = this.#options
    const now = environment.clock.now()
    try {
      // Before the next round, so that a timer is armed in time. Those awake or resting may be due as well, and must not crowd out the others.
      const due = await journal.due(now + pollMs, wakeBatch + this.#live.size + this.#resting.size)
      const asleep = due.map(({ address }) => address).filter((address) => this.#mayWake(address, now))
      await Promise.all([...asleep.map((address) => this.#wakeOne(address, now)), this.#letSleep(now)])
    } catch (error) {
      if (!this.#closing) environment.log.error({ error: errorBody(error) }, 'the journal could not be looked through for work')
    }
  }

  #mayWake(address: Address, now: number): boolean {
    const name = formatAddress(address)
    return this.#registrations.has(address.kind) && !this.#live.has(name) && !this.#resting.has(name, now)
  }

  async #wakeOne(address: Address, now: number): Promise<void> {
    try {
      await this.get(address)
    } catch (error) {
      if (this.#closing) return
      const name = formatAddress(address)
      this.#resting.after(name, error, now)
      this.#options.environment.log.error({ actor: name, error: errorBody(error) }, 'an actor with unfinished work could not be woken')
    }
  }

  async #letSleep(now: number): Promise<void> {
    const spare = this.#live.size - this.#limits.liveMax
    const idle = [...this.#live.values()]
      .map((root) => ({ root, ms: root.idleMs(now) }))
      .filter(({ root, ms }) => ms > 0 && (spare > 0 || ms >= this.#limits.idleMs) && !dueSoon(root, now))
    if (spare > 0) idle.sort((a, b) => b.ms - a.ms)
    const leaving = idle.filter(({ ms }, index) => ms >= this.#limits.idleMs || index < spare)
    await Promise.all(leaving.map(({ root }) => this.#dismiss(root)))
  }

  async #dismiss(root: Root): Promise<void> {
    const known = this.#roots.get(root.name)
    await root.close()
    if (this.#roots.get(root.name) === known) this.#roots.delete(root.name)
  }

  /** Writes what is in memory to the journal and lets go of it. New messages are refused from the first moment. */
  async close(): Promise<void> {
    this.#closing ??= new RuntimeError('closed', 'this runtime is shutting down', { retryable: true, hint: 'send the message again when it is back' })
    this.#options.environment.clock.clearTimeout(this.#poll)
    await Promise.allSettled(this.#roots.values())
    await Promise.all([...this.#live.values()].map((root) => root.close()))
    this.#roots.clear()
  }

  /** Lets go of everything without another write, as a kill would; for tests and the simulator. */
  abandon(): void {
    this.#closing ??= new RuntimeError('closed', 'this runtime was abandoned', { retryable: true })
    this.#options.environment.clock.clearTimeout(this.#poll)
    for (const root of this.#live.values()) root.abandon()
    this.#roots.clear()
  }

  /** Resolves at the next commit of a root, or after `timeoutMs`. */
  nextCommit(address: Address, timeoutMs: number): Promise<void> {
    return this.#watchers.next(formatAddress(address), timeoutMs)
  }

  /** Resolves when no root has anything to do, or after `timeoutMs`. */
  async settled(timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options.environment
    const until = clock.now() + timeoutMs
    while ([...this.#live.values()].some((root) => root.busy)) {
      if (clock.now() >= until) return false
      await pause(clock, 20)
    }
    return true
  }
}
