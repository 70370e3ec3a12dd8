/**
 * One live root: takes inputs in, applies them to its {@link Replica}, appends them to its journal, and only then lets anything out.
 * `docs/design/root-host.md` tells the order and why it is so.
 */
import type { Environment } from '../contracts/environment.ts'
import { type ErrorBody, errorBody, RuntimeError } from '../contracts/errors.ts'
import type { ActorPath, AnyEvent, Commit, Input, Receipt } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import { appendCommit } from './append.ts'
import { checksum, encode } from './codec.ts'
import { Effects } from './effects.ts'
import { advance, type Ledger } from './ledger.ts'
import { encodeSnapshot, type Past, readPast } from './past.ts'
import { plainCopy } from './plain.ts'
import type { Registration } from './registration.ts'
import { type Output, Replica } from './replica.ts'
import { backoffMs, overBudget } from './supervision.ts'

export type RootLimits = {
  /** Inputs waiting for their commit; more from outside are refused with `overloaded`. */
  queueMax: number
  /** Commits between two snapshots. */
  snapshotEvery: number
  /** Restarts within `crashPeriodMs` after which a root is quarantined. */
  crashMax: number
  crashPeriodMs: number
}

/** Where in the life of a commit a fail point may strike. */
export type Moment = 'received' | 'appended' | 'done'

export type RootHost = {
  journal: Journal
  environment: Environment
  /** Names this host in every commit that it writes. */
  writer: string
  limits: RootLimits
  /** The commit is durable; its outputs are about to run. `redo` when they may have run before. */
  committed(root: Root, commit: Commit, emitted: Emitted[], redo: boolean): void
  /** Live output of an effect, at most once and stored nowhere. */
  live(root: Root, path: ActorPath, event: AnyEvent): void
  /** A chance for a test to strike. Returns a promise only when something waits. */
  moment(root: Root, moment: Moment, commit: Commit): void | Promise<void>
  /** The root is no longer in memory: fenced, broken or closed. */
  released(root: Root, reason: RuntimeError): void
}

export type Emitted = { path: ActorPath; event: AnyEvent }
type Waiting = { input: Input; lazy: boolean; emitted: AnyEvent[]; resolve: (receipt: Receipt) => void; reject: (error: unknown) => void }
type Applied = { waiting: Waiting; outputs: Output[] }

const emittedBy = (outputs: Output[]): Emitted[] =>
  outputs.flatMap((output) => (output.kind === 'emit' ? [{ path: output.path, event: output.event }] : []))

/** Outputs that are over once they happened; the others are states of an effect, which launching brings about again. */
const lasting = ({ kind }: Output): boolean => kind === 'action' || kind === 'emit'

const nobody = { resolve: () => undefined, reject: () => undefined }

export class Root {
  readonly address: Address
  readonly name: string
  readonly registration: Registration
  readonly #host: RootHost
  readonly #effects: Effects
  #ledger!: Ledger
  #replica: Replica | undefined
  #createInput: unknown
  #settledSeq = 0
  /** What the initial transition let out, until its commit is durable. */
  #birth: Output[] = []
  #queue: Waiting[] = []
  #pumping: Promise<void> | undefined
  #phase: 'opening' | 'open' | 'gone' = 'opening'
  #gone: RuntimeError | undefined
  #lastActive: number

  constructor(host: RootHost, address: Address, registration: Registration) {
    this.#host = host
    this.address = address
    this.name = formatAddress(address)
    this.registration = registration
    this.#lastActive = host.environment.clock.now()
    this.#effects = new Effects({
      name: this.name,
      environment: host.environment,
      input: (input, lazy) => this.#enqueue({ input, lazy, emitted: [], ...nobody }),
      actionFailed: (output, error) => void this.#retryAction(output, error),
    })
  }

  /**
   * Brings the root to where its journal says it is and lets it go on from there. One without a journal is created by its first input.
   * @throws RuntimeError drift, corrupt_at, fenced, log_unavailable
   */
  async open(createInput?: unknown): Promise<this> {
    const past = await this.#read()
    this.#createInput = past.replica ? undefined : plainCopy(createInput ?? this.registration.defaultInput?.(this.address.id))
    const redo = past.doubtful.filter(lasting)
    const unsettled = past.replica !== undefined && !this.quarantine && (past.replica.effects.size > 0 || redo.length > 0)
    // Nothing may be done again before the claim says who does it.
    if (unsettled && !this.#mine) await this.#note({})
    this.#phase = 'open'
    if (unsettled) {
      if (past.last && redo.length > 0) this.#host.committed(this, past.last, emittedBy(redo), true)
      this.#effects.run(redo)
      this.#effects.launchAll(this.#replica as Replica, this.#ledger.epoch)
    }
    if (this.#replica && !this.quarantine) this.#effects.arm(this.#replica)
    this.#pump()
    return this
  }

  async #read(): Promise<Past> {
    const past = await readPast(this.#host.journal, this.address, this.registration, { outside: this.#outside })
    this.#ledger = past.ledger
    this.#replica = past.replica
    this.#settledSeq = past.settledSeq
    return past
  }

  readonly #outside = {
    input: (input: Input) => this.#enqueue({ input, lazy: false, emitted: [], ...nobody }),
    live: (path: ActorPath, event: AnyEvent) => this.#host.live(this, path, event),
  }

  get quarantine(): ErrorBody | undefined {
    return this.#ledger.quarantine
  }
  get seq(): number {
    return this.#ledger.seq
  }
  get epoch(): number {
    return this.#ledger.epoch
  }
  get replica(): Replica | undefined {
    return this.#replica
  }
  /** Whether the last commit is by this very host: then its epoch goes on. */
  get #mine(): boolean {
    return this.#ledger.writer === this.#host.writer
  }
  get busy(): boolean {
    return (
      this.#phase === 'opening' ||
      this.#pumping !== undefined ||
      this.#queue.length > 0 ||
      (!this.quarantine && (this.#replica?.effects.size ?? 0) > 0)
    )
  }
  /** ms that this root has had nothing to do, or 0 while it has. */
  idleMs(now: number): number {
    return this.busy ? 0 : Math.max(0, now - this.#lastActive)
  }

  /**
   * Accepts a message from outside. Resolves when it is durable. A repeated id is answered with the first receipt's sequence and changes nothing.
   * @throws RuntimeError overloaded, closed, quarantined, fenced, log_full, log_unavailable; bad_request when it made the machine fail
   */
  send(event: AnyEvent, options: { id?: string; cause?: string; to?: ActorPath } = {}): Promise<Receipt> {
    const { id, cause, to = '/' } = options
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone)
      if (this.quarantine) return reject(quarantined(this.name, this.quarantine))
      if (this.#queue.length >= this.#host.limits.queueMax)
        return reject(
          new RuntimeError('overloaded', `${this.name} has ${this.#queue.length} messages waiting`, {
            retryable: true,
            hint: 'send slower, or wait for receipts before sending more',
          }),
        )
      const input: Input = { to, event, ...(id === undefined ? {} : { id }), ...(cause === undefined ? {} : { cause }) }
      this.#enqueue({ input, lazy: false, emitted: [], resolve, reject })
    })
  }

  #enqueue(waiting: Waiting): void {
    if (this.#gone) return waiting.reject(this.#gone)
    try {
      waiting.input = plainCopy(waiting.input)
    } catch (error) {
      // What an effect produced and nobody can store becomes the failure of that effect.
      if (!('from' in waiting.input) || !waiting.input.event.type.startsWith('xstate.')) return waiting.reject(error)
      waiting.input = { ...waiting.input, event: this.#effects.unstorable(waiting.input, error) }
    }
    this.#queue.push(waiting)
    if (!waiting.lazy) this.#pump()
  }

  #pump(): void {
    if (this.#phase !== 'open' || this.#pumping || this.#gone) return
    this.#pumping = this.#cycles().finally(() => {
      this.#pumping = undefined
      if (this.#queue.some(({ lazy }) => !lazy)) this.#pump()
    })
  }

  async #cycles(): Promise<void> {
    try {
      // One turn of the event loop: whatever becomes ready together shares a commit.
      await new Promise<void>((resolve) => void setImmediate(resolve))
      while (this.#queue.some(({ lazy }) => !lazy) && !this.#gone) await this.#cycle(this.#queue.splice(0))
    } catch (error) {
      this.#release(error)
    }
  }

  async #cycle(batch: Waiting[]): Promise<void> {
    const applied: Applied[] = []
    const refused: NonNullable<Commit['refused']> = []
    let crash: ErrorBody | undefined
    this.#tick()
    try {
      for (const waiting of batch) {
        if (this.#answerEarly(waiting, applied)) continue
        const failure = this.#apply(waiting, applied)
        if (!failure) continue
        // The tree is broken: rebuild it from the journal and the inputs of this batch that were fine.
        crash = failure
        refused.push({ input: waiting.input, error: failure })
        waiting.reject(
          new RuntimeError('bad_request', `${this.name} failed on this event: ${failure.message}`, {
            hint: "mend the machine's guard or action; the event is kept in the journal, unapplied",
            data: { cause: failure },
          }),
        )
        await this.#rebuild(applied)
      }
      if (applied.length === 0 && !crash) return
      const extra = crash ? { ...this.#verdict(crash), refused } : {}
      const commit = await this.#commit({ applied, extra })
      await this.#after(commit, applied)
    } catch (error) {
      for (const { reject } of batch) reject(error)
      throw error
    }
    if (crash) await this.#restart()
  }

  /** Duplicates, and what can have no effect any more, are answered without a commit. */
  #answerEarly(waiting: Waiting, applied: Applied[]): boolean {
    const { input } = waiting
    if (this.quarantine) {
      waiting.reject(quarantined(this.name, this.quarantine))
      return true
    }
    if ('id' in input && input.id !== undefined) {
      const before = this.#ledger.recent.get(input.id)
      if (before) {
        waiting.resolve({ seq: before.seq, at: before.at, duplicate: true, emitted: [] })
        return true
      }
      const twin = applied.find((one) => 'id' in one.waiting.input && one.waiting.input.id === input.id)
      if (twin) {
        answerTogether(twin.waiting, waiting)
        return true
      }
    }
    if (this.#replica && this.#replica.status !== 'active') {
      waiting.reject(new RuntimeError('closed', `${this.name} has ended`, { hint: 'use another id for a new one' }))
      return true
    }
    if (!this.#replica || this.#replica.expects(input)) return false
    waiting.reject(new RuntimeError('not_found', `there is no actor at this path of ${this.name}`))
    return true
  }

  #apply(waiting: Waiting, applied: Applied[]): ErrorBody | undefined {
    const replica = this.#present()
    replica.apply(waiting.input, this.#ledger.at)
    const outputs = replica.takeOutputs()
    if (replica.failure) return errorBody(replica.failure.error)
    waiting.emitted = emittedBy(outputs).map(({ event }) => event)
    applied.push({ waiting, outputs })
    return undefined
  }

  /** Begins a commit: everything in it happens at this one time, and no commit is earlier than the one before. */
  #tick(): void {
    this.#ledger.at = Math.max(this.#ledger.at, this.#host.environment.clock.now())
  }

  /** The replica in the epoch of the commit that is being made; the first one is born here. */
  #present(): Replica {
    const epoch = this.#mine ? this.#ledger.epoch : this.#ledger.epoch + 1
    if (!this.#replica) {
      this.#replica = new Replica({ registration: this.registration, input: this.#createInput, at: this.#ledger.at, epoch, outside: this.#outside })
      this.#birth = this.#replica.takeOutputs()
    }
    this.#replica.enter(epoch)
    return this.#replica
  }

  async #rebuild(applied: Applied[]): Promise<void> {
    this.#effects.stopAll(this.#replica as Replica)
    const { at } = this.#ledger
    await this.#read()
    this.#ledger.at = at
    for (const one of applied.splice(0)) this.#apply(one.waiting, applied)
  }

  /** What the journal says about a crash: that it happened, and whether it was one too many. */
  #verdict(crash: ErrorBody): Pick<Commit, 'crash' | 'quarantine'> {
    const { limits, environment } = this.#host
    environment.log.error({ actor: this.name, error: crash }, 'an actor failed and is restarted from its journal')
    return overBudget(this.#ledger.crashes, this.#ledger.at, limits) ? { crash, quarantine: crash } : { crash }
  }

  /** A commit without inputs: a claim, a crash. */
  #note(extra: Partial<Commit>): Promise<Commit> {
    this.#tick()
    return this.#commit({ applied: [], extra })
  }

  async #commit({ applied, extra }: { applied: Applied[]; extra: Partial<Commit> }): Promise<Commit> {
    const { journal, environment, writer } = this.#host
    const ledger = this.#ledger
    const claims = !this.#mine
    const replica = this.#present()
    const noted = this.registration.noted
    const notes = noted
      ? [{ outputs: this.#birth }, ...applied].flatMap(({ outputs }) => emittedBy(outputs).map(({ event }) => event)).filter(noted)
      : []
    const commit: Commit = {
      v: 1,
      address: this.name,
      seq: ledger.seq + 1,
      epoch: claims ? ledger.epoch + 1 : ledger.epoch,
      writer,
      at: ledger.at,
      prev: ledger.prev,
      ...(ledger.seq === 0
        ? { create: { machine: this.registration.machine.id, signature: this.registration.signature, input: this.#createInput } }
        : {}),
      ...(claims ? { claim: true as const } : {}),
      inputs: applied.map(({ waiting }) => waiting.input),
      ...extra,
      states: replica.takeStates(),
      digest: replica.digest(),
      ...(notes.length > 0 ? { notes } : {}),
    }
    const bytes = encode(commit)
    const before = this.#host.moment(this, 'received', commit)
    if (before) await before
    const acts = [{ outputs: this.#birth }, ...applied].some(({ outputs }) => outputs.some(({ kind }) => kind === 'action'))
    const wakeAt = extra.quarantine ? null : replica.effects.size > 0 || acts ? 0 : replica.timers.nextDue()
    await appendCommit(journal, environment.clock, this.address, ledger.seq, bytes, { wakeAt, at: commit.at })
    advance(ledger, commit, checksum(bytes))
    return commit
  }

  /** The commit is durable: now the world may see what it caused, in the order in which it was caused. */
  async #after(commit: Commit, applied: Applied[]): Promise<void> {
    const replica = this.#replica as Replica
    const between = this.#host.moment(this, 'appended', commit)
    if (between) await between
    this.#lastActive = this.#host.environment.clock.now()
    for (const { waiting } of applied) waiting.resolve({ seq: commit.seq, at: commit.at, duplicate: false, emitted: waiting.emitted })
    const outputs = [...this.#birth.splice(0), ...applied.flatMap((one) => one.outputs)]
    this.#host.committed(this, commit, emittedBy(outputs), false)
    // After a crash all effects begin again, and get everything that they were sent; see #restart.
    this.#effects.run(commit.crash ? outputs.filter(lasting) : outputs, replica, commit.epoch)
    if (!commit.crash) this.#effects.arm(replica)
    const after = this.#host.moment(this, 'done', commit)
    if (after) await after
    if (commit.seq - this.#settledSeq >= this.#host.limits.snapshotEvery) await this.saveSnapshot()
  }

  /** After a crash: everything is as the journal says, effects run again after a pause, unless it was one crash too many. */
  async #restart(): Promise<void> {
    const { environment, limits } = this.#host
    if (this.quarantine) {
      this.#effects.stopAll(this.#replica as Replica)
      environment.log.error({ actor: this.name, error: this.quarantine }, 'an actor failed too often and was quarantined')
      for (const { reject } of this.#queue.splice(0)) reject(quarantined(this.name, this.quarantine))
      return
    }
    await new Promise<void>((resolve) => void environment.clock.setTimeout(resolve, backoffMs(this.#ledger.crashes, this.#ledger.at, limits)))
    if (this.#gone) return
    this.#effects.launchAll(this.#replica as Replica, this.#ledger.epoch, true)
    this.#effects.arm(this.#replica as Replica)
  }

  /** An action of the author threw after its commit: it is tried again within the same budget. */
  async #retryAction(output: Output, error: unknown): Promise<void> {
    while (this.#pumping) await this.#pumping
    if (this.#gone || this.quarantine) return
    this.#pumping = this.#note(this.#verdict(errorBody(error)))
      .then(() => this.#restart())
      .catch((cause: unknown) => this.#release(cause))
      .finally(() => {
        this.#pumping = undefined
        this.#pump()
      })
    await this.#pumping
    if (!this.#gone && !this.quarantine) this.#effects.run([output], this.#replica, this.#ledger.epoch)
  }

  /** Takes a quarantined root into service again, from where its journal ends. */
  async revive(): Promise<void> {
    while (this.#pumping) await this.#pumping
    if (!this.quarantine) return
    await this.#read()
    await this.#note({ revived: true })
    this.#effects.launchAll(this.#replica as Replica, this.#ledger.epoch, true)
    this.#effects.arm(this.#replica as Replica)
  }

  /** Best effort: losing a snapshot costs time, nothing else. */
  async saveSnapshot(): Promise<void> {
    if (!this.#replica || this.#ledger.seq === this.#settledSeq || this.quarantine) return
    const seq = this.#ledger.seq
    const bytes = encodeSnapshot(this.registration, this.#ledger, this.#replica)
    if (!bytes) return
    try {
      await this.#host.journal.saveSnapshot(this.address, seq, bytes)
      this.#settledSeq = seq
    } catch (error) {
      this.#host.environment.log.warn(
        { actor: this.name, error: errorBody(error) },
        'a snapshot could not be written; recovery will read more of the journal',
      )
    }
  }

  /** Leaves memory. Effects are stopped and will be started again by whoever opens the root next. */
  async close(): Promise<void> {
    while (this.#pumping) await this.#pumping
    if (this.#gone) return
    await this.saveSnapshot()
    this.#release(new RuntimeError('closed', `${this.name} is not running here any more`, { retryable: true, hint: 'send the message again' }))
  }

  /** Lets go at once, as after a kill, but for the processes of its effects, which are stopped. Nothing more is written. */
  abandon(): void {
    this.#release(new RuntimeError('closed', `${this.name} was abandoned`, { retryable: true }))
  }

  #release(reason: unknown): void {
    if (this.#gone) return
    this.#gone =
      reason instanceof RuntimeError ? reason : new RuntimeError('internal', `${this.name} stopped: ${errorBody(reason).message}`, { cause: reason })
    this.#phase = 'gone'
    if (this.#gone.code !== 'closed')
      this.#host.environment.log.warn({ actor: this.name, error: this.#gone.toJSON() }, 'an actor was dropped from memory')
    if (this.#replica) this.#effects.stopAll(this.#replica)
    for (const { reject } of this.#queue.splice(0)) reject(this.#gone)
    this.#host.released(this, this.#gone)
  }
}

const quarantined = (name: string, reason: ErrorBody) =>
  new RuntimeError('quarantined', `${name} was set aside because it kept failing: ${reason.message}`, {
    hint: `see 'statecast trace', mend the cause, then revive it`,
    data: { reason },
  })

/** One id twice in one batch: the second sender waits for the commit of the first. */
const answerTogether = (first: Waiting, second: Waiting): void => {
  const { resolve, reject } = first
  first.resolve = (receipt) => {
    resolve(receipt)
    second.resolve({ ...receipt, duplicate: true, emitted: [] })
  }
  first.reject = (error) => {
    reject(error)
    second.reject(error)
  }
}
