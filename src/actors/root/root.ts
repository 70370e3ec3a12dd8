/**
 * One live root: takes inputs in, applies them to its {@link Replica}, appends them to its journal, and only then lets anything out.
 * `docs/design/root-host.md` tells the order and why it is so.
 */
import { type ErrorBody, errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { AnyEvent, Commit, Receipt } from '../../contracts/journal.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Registration } from '../registration.ts'
import type { Replica } from '../replica/replica.ts'
import { emittedBy, mustBeRepeated, type Output } from '../replica/sink.ts'
import { CommitLoop } from './commit-loop.ts'
import { Committer, Uncommitted } from './committer.ts'
import { EffectRunner, type FailedAction } from './effect-runner.ts'
import { type Arriving, Mailbox, unanswered } from './mailbox.ts'
import { writeRelease } from './release.ts'
import { type InputNames, type RootHost, RootSink } from './root-host.ts'
import { type Applied, State } from './state.ts'
import { backoffMs, lostError, notHereError, Pause, quarantinedError, takeoverRestMs, verdict } from './supervision.ts'
import { goOn, redo, type TakeUpParts } from './take-up.ts'
import { isDeleted } from './view.ts'

export class Root {
  readonly address: Address
  readonly name: string
  readonly registration: Registration
  readonly #host: RootHost
  readonly #mailbox: Mailbox
  readonly #state: State
  readonly #effects: EffectRunner
  readonly #committer: Committer
  readonly #commitLoop: CommitLoop
  readonly #parts: TakeUpParts
  #phase: 'opening' | 'open' | 'closing' | 'gone' = 'opening'
  leaving: Promise<void> | undefined // resolves when it has left memory
  #gone: RuntimeError | undefined
  readonly #pause = new Pause()
  readonly #uncommitted = new Uncommitted()
  #lastActive: number
  constructor(host: RootHost, address: Address, registration: Registration) {
    const { environment, journal, limits } = host
    this.#host = host
    this.address = address
    this.name = formatAddress(address)
    this.registration = registration
    this.#lastActive = environment.clock.now()
    this.#mailbox = new Mailbox(this.name, limits.queueMax, environment.log)
    const outside = new RootSink(this, this.#host, (input) => this.#enqueue(unanswered(input)))
    this.#state = new State({ journal, address, registration, outside, log: environment.log, broken: (tree) => this.#effects.stopAll(tree) })
    this.#commitLoop = new CommitLoop({
      wanted: () => this.#phase !== 'opening' && !this.#gone && (this.#mailbox.urgent || this.#effects.failing),
      cycle: () => this.#cycle(),
      broken: (error) => this.#release(error),
    })
    this.#effects = new EffectRunner({
      environment,
      others: host.others,
      input: (arriving) => this.#enqueue(arriving),
      confirm: (since) =>
        this.#committer.confirm(since).catch((error: unknown) => {
          this.#release(error)
          throw error
        }),
      alone: (work) => void this.#commitLoop.alone(async () => void (this.leaving || this.#gone || work())),
      state: this.#state,
      actionFailed: () => this.#commitLoop.start(),
    })
    this.#committer = new Committer({ root: this, host: this.#host, state: this.#state, effects: this.#effects, alive: () => this.#alive() })
    this.#parts = { root: this, host, state: this.#state, effects: this.#effects, committer: this.#committer }
  }

  get quarantine(): ErrorBody | undefined {
    return this.#state.ledger.quarantine
  }
  get begun(): boolean {
    return this.#phase !== 'opening' // its effects may be running here
  }
  get seq(): number {
    return this.#state.ledger.seq
  }
  get epoch(): number {
    return this.#state.ledger.epoch
  }
  get replica(): Replica | undefined {
    return this.#state.replica
  }
  seqOf(id: string): number | undefined {
    return this.#state.ledger.recent.get(id)?.seq
  }
  /** Looks at the tree as soon as it is what the journal says: nothing may be seen that a crash could undo. @throws RuntimeError fenced, closed … */
  async look<T>(see: (root: this) => T): Promise<T> {
    while (this.#uncommitted.pending && !this.#gone) {
      if (this.#committer.stalled) throw this.#committer.stalled
      await this.#uncommitted.settled()
    }
    this.#alive()
    return see(this) // in the same breath: a tick later the next commit may be under way
  }
  createWith(input: unknown): void {
    this.#state.createWith(input)
  }
  get working(): boolean {
    return this.#phase === 'opening' || this.#commitLoop.running || this.#mailbox.length > 0 || this.#effects.hasPending || this.#effects.working
  }
  /** It does, or will when it has rested. */
  get busy(): boolean {
    return this.working || (!this.quarantine && (this.replica?.effects.size ?? 0) > 0)
  }
  idleMs(now: number): number {
    return this.busy ? 0 : Math.max(0, now - this.#lastActive) // ms without anything to do
  }

  /**
   * Brings the root to where its journal says it is and lets it go on from there. One without a journal is created by its first input.
   * @param adopt also one of another machine @throws RuntimeError drift, corrupt_at, fenced, log_full, log_unavailable
   */
  async begin(createInput?: unknown, { adopt = false }: { adopt?: boolean } = {}): Promise<this> {
    try {
      const { replica, doubtful, adopts } = await this.#state.read({ adopt })
      if (replica?.status === 'done' && isDeleted(this.registration, replica)) {
        await this.#host.remove(this)
        return this
      }
      this.#state.createWith(createInput)
      const restMs = takeoverRestMs(this.#state.ledger)
      const changed = replica && !this.quarantine ? await this.#state.begins() : undefined
      if (changed && this.#mailbox.addAll(changed)) await this.#cycle()
      else if (replica && !this.quarantine && (changed ?? (replica.effects.size > 0 || doubtful.length > 0)))
        await redo(this.#parts, { replica, doubtful }, {})
      else if (adopt && adopts) await this.#committer.note({}) // not adopted until that is written
      this.#alive()
      this.#phase = 'open'
      if (this.replica && !this.quarantine) goOn(this.#parts, this.replica, restMs)
      this.#commitLoop.start()
      return this
    } catch (error) {
      this.#release(error)
      throw this.#gone ?? error
    }
  }

  /**
   * Accepts a message from outside. Resolves when it is durable. A repeated id is answered with the first receipt's sequence and changes nothing.
   * @throws RuntimeError overloaded, closed, quarantined, fenced, log_full, log_unavailable; bad_request when it made the machine fail
   */
  send(event: AnyEvent, { to = '/', ...names }: InputNames = {}, size?: number): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      if (this.#phase === 'closing') throw notHereError(this.name)
      this.#alive()
      if (this.quarantine) throw quarantinedError(this.name, this.quarantine)
      if (this.#committer.stalled) throw this.#committer.stalled
      this.#mailbox.checkRoom()
      this.#enqueue({ input: { to, event, ...names }, lazy: false, emitted: [], resolve, reject, size })
    })
  }

  /** Begins, if it has not yet, with nothing said to it. @throws RuntimeError bad_request when its machine cannot begin, and what {@link send} throws */
  async create(): Promise<void> {
    let creationError: RuntimeError | undefined
    await this.#commitLoop.alone(async () => {
      if (this.seq > 0 || this.leaving || this.#gone) return
      creationError = this.#state.create(this.#host.environment.clock.now())
      if (creationError) return
      this.#uncommitted.begin()
      const commit = await this.#committer.note({})
      this.#uncommitted.end()
      await this.#releaseOutputs(commit, [], [], false)
    })
    if (creationError) throw creationError
    this.#alive()
  }

  #enqueue(waiting: Arriving): void {
    if (this.#gone) waiting.reject(this.#gone)
    else this.#mailbox.add(waiting)
    if (!this.#gone) this.#commitLoop.start()
  }

  async #cycle(): Promise<void> {
    const batch = this.#mailbox.take()
    const failed = this.#effects.takeFailed()
    let crash: ErrorBody | undefined
    let rebuilt = false
    this.#uncommitted.begin()
    try {
      this.#state.tick(this.#host.environment.clock.now())
      const done = this.#state.applyAll(batch)
      const { applied, trouble } = done instanceof Promise ? await done : done
      crash = trouble?.crash ?? (failed[0] && errorBody(failed[0].error))
      if (applied.length === 0 && !crash && !trouble) return this.#uncommitted.end()
      const outputs = applied.flatMap((one) => one.outputs)
      const extra = { ...(crash ? verdict(crash, this.#state.ledger, this.#host.limits) : {}), ...(trouble ? { refused: trouble.refused } : {}) }
      const commit = await this.#committer.commit(applied, outputs, extra)
      this.#uncommitted.end()
      rebuilt = trouble !== undefined
      const after = this.#releaseOutputs(commit, applied, outputs, rebuilt)
      if (after) await after
    } catch (error) {
      for (const { reject } of batch) reject(error)
      throw error
    }
    if (crash || rebuilt) await this.#restart(crash, failed)
  }

  /** The commit is durable: now the world may see what it caused, in the order in which it was caused. */
  #releaseOutputs(commit: Commit, applied: Applied[], outputs: Output[], rebuilt: boolean): Promise<void> | undefined {
    this.#alive() // the snapshot of a root that leaves may share a transaction with this commit, and be told first
    const { environment, limits } = this.#host
    const replica = this.#state.present()
    this.#lastActive = environment.clock.now()
    for (const { waiting } of applied) waiting.resolve({ seq: commit.seq, at: commit.at, duplicate: false, emitted: waiting.emitted })
    const all = [...this.#state.initialOutputs.splice(0), ...outputs]
    this.#effects.addPending(all, commit.seq)
    this.#host.committed(this, commit, emittedBy(all), false)
    // After a rebuild all effects begin again, after a pause, and get everything that they were sent.
    this.#effects.run(rebuilt ? all.filter(mustBeRepeated) : all, replica, commit.epoch)
    if (!rebuilt) this.#effects.arm(replica, commit.at)
    const after = this.#host.reached(this, 'done', commit)
    // A snapshot says that everything before it has been done.
    const save = () => (this.#effects.hasPending ? undefined : this.#state.saveEvery(limits.snapshotEvery, environment.log))
    return after ? after.then(save) : save()
  }

  /** On a rebuilt tree effects run again; after a crash when it has rested, with the actions that failed, unless it was one crash too many. */
  async #restart(crash: ErrorBody | undefined, failed: FailedAction[]): Promise<void> {
    const { environment, limits } = this.#host
    const { replica, ledger } = this.#state
    if (this.#phase !== 'open' || !replica) return
    if (this.quarantine) {
      environment.log.error({ actor: this.name, error: crash }, 'an actor failed too often and was quarantined')
      this.#effects.stopAll(replica)
      this.#effects.discardPending()
      return this.#mailbox.rejectAll(quarantinedError(this.name, this.quarantine))
    }
    if (crash) environment.log.error({ actor: this.name, error: crash }, 'an actor failed and is restarted from its journal')
    if (crash) await this.#pause.wait(environment.clock, backoffMs(ledger.crashes, ledger.at, limits))
    if (this.leaving || this.#gone) return
    goOn(this.#parts, replica)
    for (const { action } of failed) this.#effects.act(action)
  }

  /** Takes a quarantined root into service again, from where its journal ends. @returns whether it was one when its turn came @throws RuntimeError drift … */
  async revive(): Promise<boolean> {
    let revived = false
    await this.#commitLoop.alone(async () => {
      const { replica, doubtful = [] } = this.quarantine && !this.leaving && !this.#gone ? await this.#state.read() : {}
      if (!replica) return
      await redo(this.#parts, { replica, doubtful }, { revived: true })
      revived = true
      goOn(this.#parts, replica)
    })
    if (!revived) await this.leaving
    if (!revived) this.#alive() // one that was let go has not been looked at
    return revived
  }

  /** Leaves memory when what waits is written. Effects are stopped and will be started again by whoever opens the root next. */
  close(): Promise<void> {
    this.leaving ??= this.#leave()
    return this.leaving
  }

  async #leave(): Promise<void> {
    if (this.#phase === 'open') this.#phase = 'closing'
    this.#pause.end()
    await this.#commitLoop.idle()
    // Alone: what an effect says meanwhile must not get into the snapshot without a commit.
    const parts = { ...this.#parts, log: this.#host.environment.log }
    await this.#commitLoop.alone(() => writeRelease(parts, () => this.#gone === undefined))
    this.#release(notHereError(this.name))
  }

  /** Lets go at once, as after a kill, but for the processes of its effects, which are stopped. Nothing more is written. */
  abandon(): void {
    this.#release(new RuntimeError('closed', `${this.name} was abandoned`, { retryable: true }))
  }

  #alive(): void {
    if (this.#gone) throw this.#gone // after every wait: a root that was let go meanwhile does nothing more
  }

  #release(reason: unknown): void {
    if (this.#gone) return
    this.#gone = lostError(this.name, reason)
    this.#phase = 'gone'
    this.#uncommitted.end()
    if (this.#gone.code !== 'closed')
      this.#host.environment.log.warn({ actor: this.name, error: this.#gone.toJSON() }, 'an actor was dropped from memory')
    this.#pause.end()
    if (this.replica) this.#effects.stopAll(this.replica)
    this.#mailbox.rejectAll(this.#gone)
    this.#host.released(this, this.#gone)
  }
}
