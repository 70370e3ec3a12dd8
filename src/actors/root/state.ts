/** What a root is: its ledger and its tree, and the commit that is being made of them. It appends nothing and lets nothing out. */
import type { Logger } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, RuntimeError } from '../../contracts/errors.ts'
import { halfImportedError } from '../../contracts/half-imported.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import { beingImported, type Journal } from '../../contracts/transport.ts'
import { overtaken } from '../journal/append.ts'
import { wholeCopy } from '../journal/journal-value.ts'
import { emptyLedger, type Ledger } from '../journal/ledger.ts'
import { type Recovered, recover } from '../journal/recovery.ts'
import { encodeSnapshot } from '../journal/snapshots.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import { applyAgain, type Twin, twinOf } from '../replica/second-application.ts'
import { eventsIn, type Output, type ReplicaSink } from '../replica/sink.ts'
import { inputsAtFork } from './fork-beginning.ts'
import { answerTogether, type Waiting } from './mailbox.ts'
import { RecordedAnswers } from './recorded.ts'
import { isWorthAnother, type TriedSnapshot } from './snapshot-pace.rules.ts'
import { createFailedError, endedError, isSendersAffair, poisonError, quarantinedError } from './supervision.ts'

/** Folding a longer journal again for one look would hold everybody up. */
const refoldMax = 1_000

export type Applied = { waiting: Waiting; outputs: Output[] }

/** Inputs that made the machine fail, and the last failure that counts as one of the actor. */
type Trouble = { crash: ErrorBody | undefined; refused: NonNullable<Commit['refused']> }

type Result = { applied: Applied[]; trouble: Trouble | undefined }

type StateOptions = {
  journal: Journal
  address: Address
  registration: Registration
  outside: ReplicaSink
  log: Logger
  /** A tree is broken and about to be replaced. */
  broken(replica: Replica): void
}

export class State {
  readonly #options: StateOptions
  readonly name: string
  ledger: Ledger = emptyLedger()
  replica: Replica | undefined
  /** What the initial transition let out, until its commit is durable. */
  initialOutputs: Output[] = []
  /** Whether the present epoch is this object's own. The first commit claims it, and one after every rebuild. */
  claimed = false
  /** Sequence up to which the snapshot reaches. */
  savedSeq = 0
  #tried: TriedSnapshot | undefined
  /** When the newest commit asks for the root to be woken, see `Head`. */
  wakeAt: number | null = null
  /** What the origin of a fork answers to its effects. */
  recorded: RecordedAnswers | undefined
  /** Of a fork that has written nothing yet: ms by which its timers were put off, see `Commit`. */
  #later: number | undefined
  /** Another machine has recorded it, and no commit says yet that it is this one's. */
  #adopts = false
  #createInput: unknown

  constructor(options: StateOptions) {
    this.#options = options
    this.name = formatAddress(options.address)
  }

  /** Takes the state from the journal. @param adopt also another machine's @throws RuntimeError drift, corrupt_at, log_unavailable, conflict where it is not whole */
  async read({ adopt = false }: { adopt?: boolean } = {}): Promise<Recovered> {
    const { journal, address, registration, outside } = this.#options
    const past = await recover(journal, address, registration, { outside, adopt })
    // After reading: whoever reads half of it and finds it whole by now would be fenced by its first commit.
    const head = past.replica && (await journal.head(address))
    if (head?.wakeAt === beingImported) throw halfImportedError(this.name)
    this.wakeAt = head?.wakeAt ?? null
    this.recorded = head?.origin?.answers === 'recorded' ? new RecordedAnswers({ ...this.#options, origin: head.origin }) : undefined
    this.ledger = past.ledger
    this.replica = past.replica
    this.#later = head?.origin?.at === past.ledger.seq ? 0 : undefined
    this.savedSeq = past.settledSeq
    this.claimed = false
    this.#adopts = past.adopts
    return past
  }

  /** What a fork that has written nothing yet begins with; nothing for any other root. */
  async begins(): Promise<Input[] | undefined> {
    const { journal, address } = this.#options
    return this.#later === undefined ? undefined : await inputsAtFork(journal, address)
  }

  /** The input of a root that does not exist yet; the first one given counts. */
  createWith(input: unknown): void {
    if (!this.replica && this.#createInput === undefined && input !== undefined) this.#createInput = wholeCopy(input).copy
  }

  /**
   * Dates the commit that is being made: everything in it happens at this one time, and no commit is earlier than the one before. Time stands still while
   * the tree is ahead of its journal: its delays count from the time at which something was done to it, and in a replay from that of the commit.
   */
  tick(now: number): void {
    if (this.replica?.ahead) return
    const ms = Math.max(0, now - this.ledger.at)
    this.ledger.at += ms
    if (this.#later === undefined || this.claimed) return
    this.#later += ms
    this.replica?.timers.putOff(ms)
  }

  /** Makes it, with nothing said to it, as of now. @returns why it cannot be */
  create(now: number): RuntimeError | undefined {
    this.tick(now)
    return this.creationError()
  }

  /** The replica in the epoch of the commit that is being made; the first one is born here. */
  present(): Replica {
    const { registration, outside, address } = this.#options
    const epoch = this.ledger.epoch + (this.claimed ? 0 : 1)
    if (!this.replica) {
      this.createWith(registration.defaultInput?.(address.id))
      this.replica = new Replica({ registration, input: this.#createInput, at: this.ledger.at, epoch, outside })
      this.initialOutputs = this.replica.takeOutputs()
    }
    this.replica.enter(epoch)
    return this.replica
  }

  /** Applies what can be applied, and answers the rest: at once, unless one fails or may have to be applied twice. */
  applyAll(batch: Waiting[]): Result | Promise<Result> {
    const applied: Applied[] = []
    // Machines of our own are not looked at.
    if (this.#options.registration.determinismCheck) return this.#applyEach(batch, applied)
    for (const [index, waiting] of batch.entries()) {
      const failure = this.#answered(waiting, applied) ? undefined : this.#apply(waiting, applied)
      if (failure) return this.#applyEach(batch.slice(index), applied, failure)
    }
    return { applied, trouble: undefined }
  }

  /** @param failed why the first of them did, if it has been applied and did */
  async #applyEach(batch: Waiting[], applied: Applied[], failed?: ErrorBody): Promise<Result> {
    const { registration } = this.#options
    let trouble: Trouble | undefined
    for (const [index, waiting] of batch.entries()) {
      let failure = index === 0 ? failed : undefined
      if (!failure) {
        if (this.#answered(waiting, applied)) continue
        const again = twinOf(registration, this.present(), waiting.input, () => this.#refolded(applied))
        failure = this.#apply(waiting, applied, again && (await again))
      }
      if (!failure) continue
      const error = poisonError(this.name, failure)
      waiting.reject(error)
      const crash = isSendersAffair(failure, waiting.input) ? trouble?.crash : failure
      trouble = { crash, refused: [...(trouble?.refused ?? []), { input: waiting.input, error: error.toJSON() }] }
      await this.#rebuild(applied)
    }
    return { applied, trouble }
  }

  #answered(waiting: Waiting, applied: Applied[]): boolean {
    return this.#answerEarly(waiting, applied) || this.#answerUnborn(waiting)
  }

  /** Duplicates, and what can have no effect any more, are answered without a commit. */
  #answerEarly(waiting: Waiting, applied: Applied[]): boolean {
    const { input } = waiting
    const { quarantine, recent } = this.ledger
    if (quarantine) {
      waiting.reject(quarantinedError(this.name, quarantine))
      return true
    }
    if ('id' in input && input.id !== undefined) {
      const before = recent.get(input.id)
      const twin = applied.find((one) => 'id' in one.waiting.input && one.waiting.input.id === input.id)
      if (before?.error) waiting.reject(RuntimeError.from(before.error))
      else if (before) waiting.resolve({ seq: before.seq, at: before.at, duplicate: true, emitted: [] })
      else if (twin) answerTogether(twin.waiting, waiting)
      if (before || twin) return true
    }
    if (!this.replica || this.replica.expects(input)) return false
    waiting.reject(
      this.replica.status === 'active'
        ? new RuntimeError('not_found', `there is no actor at this path of ${this.name}`)
        : endedError(this.#options.address),
    )
    return true
  }

  #answerUnborn(waiting: Waiting): boolean {
    const error = this.creationError()
    if (error) waiting.reject(error)
    return error !== undefined
  }

  /** Why it cannot begin: a machine that fails, or ends, in its initial transition is not created, and takes no message. */
  creationError(): RuntimeError | undefined {
    const born = !this.replica
    const failure = this.present().failure ?? (born ? this.#unlikeAtBirth() : undefined)
    if (!failure || this.ledger.seq > 0) return undefined
    this.replica = undefined
    this.initialOutputs = []
    this.#createInput = undefined
    return createFailedError(this.name, failure.error)
  }

  #unlikeAtBirth(): { error: RuntimeError } | undefined {
    const { registration } = this.#options
    const live = this.present()
    if (!registration.determinismCheck?.wants('')) return undefined
    const creation = { registration, input: this.#createInput, at: this.ledger.at, epoch: live.epoch, seed: live.chance.seed }
    const error = applyAgain(registration, this.name, () => new Replica(creation), live, this.initialOutputs)
    return error && { error }
  }

  /** @returns why it failed; then the tree is broken */
  #apply(waiting: Waiting, applied: Applied[], twin?: Twin): ErrorBody | undefined {
    const replica = this.present()
    replica.apply(waiting.input, this.ledger.at)
    const outputs = replica.takeOutputs()
    if (replica.failure) return errorBody(replica.failure.error)
    const unlike = twin && applyAgain(this.#options.registration, this.name, twin, replica, outputs, waiting.input)
    if (unlike) return unlike.toJSON()
    if (outputs.length > 0) waiting.emitted = eventsIn(outputs)
    applied.push({ waiting, outputs })
    return undefined
  }

  /** The tree as it is, made of what the journal says and what this batch has brought; nothing where that is not there, or much. */
  async #refolded(applied: Applied[]): Promise<Replica | undefined> {
    if (this.ledger.seq > refoldMax) return undefined
    const { journal, address, registration } = this.#options
    const { replica } = await recover(journal, address, registration, { fromStart: true }).catch(() => ({ replica: undefined }))
    replica?.enter(this.present().epoch, this.claimed ? 0 : this.#later)
    for (const { waiting } of applied) replica?.apply(waiting.input, this.ledger.at)
    replica?.takeOutputs()
    return replica
  }

  /** Brings the tree back to the last commit, and then to the inputs of this batch that were fine. */
  async #rebuild(applied: Applied[]): Promise<void> {
    if (this.replica) this.#options.broken(this.replica)
    const before = this.ledger
    await this.read({ adopt: this.#adopts && !this.claimed })
    if (this.ledger.seq !== before.seq) throw await overtaken({ ...this.#options, ...before }, this.ledger.seq, this.#later !== undefined)
    this.tick(before.at)
    for (const { waiting } of applied.splice(0)) this.#apply(waiting, applied)
  }

  /** The commit after the last one, made of what was applied since. */
  draft(writer: string, inputs: Input[], outputs: Output[], extra: Partial<Commit>): Commit {
    const replica = this.present()
    const { ledger, claimed } = this
    const { machine, signature, noted } = this.#options.registration
    const notes = noted ? eventsIn([...this.initialOutputs, ...outputs]).filter(noted) : []
    const seed = replica.chance.takeFresh()
    return {
      v: 1,
      address: this.name,
      seq: ledger.seq + 1,
      epoch: ledger.epoch + (claimed ? 0 : 1),
      writer,
      at: ledger.at,
      prev: ledger.prev,
      ...(ledger.seq === 0 ? { create: { machine: machine.id, signature, input: this.#createInput } } : {}),
      ...(claimed
        ? {}
        : { claim: true as const, ...(this.#adopts && { adopts: { machine: machine.id, signature } }), ...(this.#later && { later: this.#later }) }),
      ...(seed === undefined ? {} : { seed }),
      inputs,
      ...extra,
      states: replica.takeStates(),
      digest: replica.digest(),
      ...(notes.length > 0 ? { notes } : {}),
    }
  }

  saveEvery(commits: number, log: Logger): Promise<void> | undefined {
    return this.ledger.seq - this.savedSeq >= commits && isWorthAnother(this.#tried, this.ledger.seq, commits) ? this.save(log) : undefined
  }

  /** Best effort: losing a snapshot costs time, nothing else. */
  async save(log: Logger): Promise<void> {
    const { journal, address, registration } = this.#options
    const { ledger, replica } = this
    if (!replica || ledger.seq === this.savedSeq || ledger.quarantine || this.initialOutputs.length > 0) return
    const [seq, bytes] = [ledger.seq, encodeSnapshot(address, registration, ledger, replica)]
    this.#tried = { seq, bytes: bytes?.length ?? 0 }
    if (!bytes) return
    try {
      await journal.saveSnapshot(address, seq, bytes)
      this.savedSeq = seq
    } catch (error) {
      log.warn({ actor: this.name, error: errorBody(error) }, 'a snapshot could not be written; recovery will read more')
    }
  }
}
