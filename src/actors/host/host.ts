/** Many roots in one process: finds them by address, wakes them in time, lets them sleep, keeps one's trouble from the others. */
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { Receipt } from '../../contracts/journal.ts'
import { type Address, formatAddress, parseAddress } from '../../contracts/subjects.ts'
import type { Head } from '../../contracts/transport.ts'
import { checkEvent, checkMessageId } from '../event-validation.ts'
import type { Registration } from '../registration.ts'
import { Root } from '../root/root.ts'
import { guarded, type RootHost } from '../root/root-host.ts'
import { noSuchError, shuttingDownError } from '../root/supervision.ts'
import { type Extent, type RootView, viewOf } from '../root/view.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { Deletions } from './deletions.ts'
import { settled, vacated } from './drain.ts'
import type { HostOptions, SendOptions } from './host.options.ts'
import { Idling } from './idling.ts'
import { defaultLimits, type HostLimits } from './limits.ts'
import { Sleeping } from './sleeping.ts'
import { WakeBackoff } from './wake-backoff.ts'
import { Waking } from './waking.ts'

export class Host {
  readonly #options: HostOptions
  readonly #limits: HostLimits
  readonly #registrations: Map<string, Registration>
  readonly #roots = new Map<string, Promise<Root>>() // one that leaves stays until it has left: whoever opens it anew waits for that
  readonly #live = new Map<string, Root>()
  readonly #resting = new WakeBackoff()
  readonly #removals: Deletions
  readonly #watchers: CommitWaiters
  readonly #waking: Waking
  readonly #idling: Idling
  readonly #rootHost: RootHost
  #closing: RuntimeError | undefined

  constructor(options: HostOptions) {
    const { journal, environment, registrations, events = {} } = options
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#registrations = new Map(registrations.map((registration) => [registration.kind, registration]))
    this.#watchers = new CommitWaiters(environment.clock)
    this.#removals = new Deletions({ journal, log: environment.log, events, ended: (name) => this.#resting.end(name) })
    const sleepers = new Sleeping({
      ...options,
      resting: this.#resting,
      live: this.#live,
      mine: (address) => this.mayHave(address) && this.#registrations.has(address.kind),
      get: (address) => this.get(address),
      dismiss: (root) => this.#dismiss(root),
      closing: () => this.closed,
    })
    this.#waking = new Waking({ journal, environment, sleepers, shared: options.placement !== undefined })
    this.#idling = new Idling({ environment, limits: this.#limits, live: this.#live, dismiss: (root) => this.#dismiss(root) })
    this.#rootHost = guarded({
      journal,
      environment,
      writer: environment.ids.next('host'),
      limits: this.#limits,
      others: options.others ?? this,
      committed: (root, ...args) => {
        this.#watchers.committed(root.name)
        if (root.replica && root.replica.status !== 'active') this.#idling.ended()
        const rested = this.#resting.storeTook(environment.clock.now())
        if (rested !== undefined) this.#waking.by(rested)
        events.committed?.(root, ...args)
      },
      sure: () => options.placement?.sure(),
      live: events.live?.bind(events),
      reached: (...args) => events.reached?.(...args),
      remove: ({ address, name }) => this.#removals.finish(address, () => this.#live.get(name)?.abandon()),
      released: (root, reason) => {
        if (this.#live.get(root.name) === root && this.#live.delete(root.name) && !root.leaving) this.#roots.delete(root.name)
        if (reason.code === 'fenced') sleepers.fenced(root.name, reason)
        this.#waking.soon()
        events.released?.(root)
      },
    })
  }

  /** Wakes every root that was cut off in its work or has a timer that is due, and goes on doing so. Resolves when those due now are awake. */
  async start(): Promise<void> {
    this.#idling.start()
    await this.#waking.start()
  }

  get liveCount(): number {
    return this.#live.size
  }
  /** Of those in memory, how many have something to do. */
  get busyCount(): number {
    return [...this.#live.values()].filter(({ busy }) => busy).length
  }
  /** It shuts down, or has. */
  get closed(): boolean {
    return this.#closing !== undefined
  }
  /** Whether a root may be woken here. */
  mayHave(address: Address): boolean {
    return this.#options.placement?.has(address) ?? true
  }
  /** Whether a root is in memory, or on its way there or out. */
  holds(address: Address): boolean {
    return this.#live.has(formatAddress(address))
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
        return await root.send(checked.copy, options, checked.size)
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
        if (input !== undefined) root.createWith(input)
        return root
      }
      if (this.#roots.get(name) === opening) this.#roots.delete(name)
    }
  }

  /** Begins a root with nothing said to it; one that is there already stays as it is. @throws RuntimeError as {@link send} does */
  async create(address: Address, input?: unknown): Promise<void> {
    await this.#trying(address, (root) => root.create(), input)
  }

  /**
   * What a root is, at a moment when all of it is durable; woken if need be. The copy is the caller's own.
   * @throws RuntimeError drift, corrupt_at, closed …
   */
  read(address: Address, extent: Extent = false): Promise<RootView> {
    return this.#trying(address, (root) => root.look(() => viewOf(root, extent)))
  }

  /** The commit in which a message was accepted, or refused; undefined when it was longer ago than a root remembers. */
  seqOf(address: Address, id: string): Promise<number | undefined> {
    return this.#trying(address, (root) => root.look(() => root.seqOf(id)))
  }

  /**
   * Takes a root for the machine that is registered here, where another one recorded it and this one comes to the same state.
   * @returns whether another one had @throws RuntimeError drift where it comes to another state; not_found, corrupt_at, closed …
   */
  async adopt(address: Address): Promise<boolean> {
    const name = formatAddress(address)
    for (;;) {
      try {
        if (!(await this.get(address)).replica) throw noSuchError(name)
        return false
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'drift') throw error
      }
      // Somebody else may be about to.
      if (this.#roots.has(name)) continue
      await this.#open(name, address, undefined, { adopt: true })
      return true
    }
  }

  /** It may fall asleep between our finding it and our asking. */
  async #trying<T>(address: Address, ask: (root: Root) => Promise<T>, input?: unknown): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const root = await this.get(address, input)
      try {
        return await ask(root)
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

  #open(name: string, address: Address, input: unknown, options?: { adopt: boolean }): Promise<Root> {
    const root = new Root(this.#rootHost, address, this.registration(address.kind))
    this.#live.set(name, root)
    if (!this.#idling.armed || this.#live.size > this.#limits.liveMax) this.#idling.opened()
    // Here rather than in front of it, so that whoever waits for a removal gets the root in the order in which they came.
    const before = this.#beforeOpening(name, address)
    const opening = before ? before.then(() => root.begin(input, options)) : root.begin(input, options)
    this.#roots.set(name, opening)
    opening.then(
      () => this.#resting.end(name),
      () => {
        if (this.#live.get(name) === root) this.#live.delete(name)
        if (this.#roots.get(name) === opening) this.#roots.delete(name)
        this.#waking.soon()
      },
    )
    return opening
  }

  #beforeOpening(name: string, address: Address): Promise<void> | undefined {
    const removal = this.#removals.underWay(name)
    const { placement } = this.#options
    return placement ? Promise.resolve(removal).then(() => placement.admit(address)) : removal
  }

  async #dismiss(root: Root): Promise<void> {
    const known = this.#roots.get(root.name)
    await root.close()
    if (this.#roots.get(root.name) === known) this.#roots.delete(root.name)
  }

  /** Has come to have these: whatever kept them from being woken was somebody else's. */
  wakeNow(mine: (address: Address) => boolean): void {
    this.#resting.endAll((name) => mine(parseAddress(name)))
    void this.#waking.look()
  }

  /** Lets go of each of these as soon as it has nothing to do; resolves when none is left. */
  vacate(these: (address: Address) => boolean, signal: AbortSignal): Promise<void> {
    const left = () => (signal.aborted || this.#closing ? [] : [...this.#live.values()].filter(({ address }) => these(address)))
    return vacated(left, (root) => this.#dismiss(root), this.#options.environment.clock)
  }

  /** Lets go of these at once, without another write: somebody else has them. */
  drop(these: (address: Address) => boolean): void {
    for (const root of this.#live.values()) if (these(root.address)) root.abandon()
  }

  /** Writes what is in memory to the journal and lets go of it. New messages are refused from the first moment. */
  async close(): Promise<void> {
    this.#closing ??= shuttingDownError()
    this.#waking.stop()
    this.#idling.stop()
    await Promise.allSettled(this.#roots.values())
    await Promise.all([...this.#live.values()].map((root) => root.close()))
    this.#roots.clear()
  }

  /** Lets go of everything without another write, as a kill would; for tests and the simulator. */
  abandon(): void {
    this.#closing ??= new RuntimeError('closed', 'this runtime was abandoned', { retryable: true })
    this.#waking.stop()
    this.#idling.stop()
    for (const root of this.#live.values()) root.abandon()
    this.#roots.clear()
  }

  /** Resolves at the next commit of a root, or after `timeoutMs`. */
  nextCommit(address: Address, timeoutMs: number): Promise<void> {
    return this.#watchers.next(formatAddress(address), timeoutMs)
  }

  /** Resolves when no root has anything to do, or after `timeoutMs`. */
  settled(timeoutMs: number): Promise<boolean> {
    return settled(() => this.#live.values(), timeoutMs, this.#options.environment.clock)
  }
}
