/**
 * A journal folded again to look at it: any moment of it, and what each commit did. No effect runs and nothing is written; it loads in a browser too.
 * States are kept on the way, so that any moment is one of these and a few commits more.
 */
import type { InspectionEvent } from 'xstate'
import { definedOf } from '../../contracts/defined.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { CommitSteps, Moment, RemoteAt, ToldCommit } from '../../contracts/inspection.ts'
import type { ActorPath, Commit } from '../../contracts/journal.ts'
import { parseAddress, shownAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { renamedSnapshot } from '../journal/adoption.ts'
import { commitOf } from '../journal/codec.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import { KeptStates } from './kept-states.ts'
import { momentOf, remotesIn, restOf } from './moment.ts'
import { Recorder } from './recorder.ts'
import { hearing, inspected, named } from './verdicts.ts'

type FoldOptions = {
  /** As `formatAddress` writes it. */
  address: string
  registration: Registration
  /** Frames from a sequence on, in order; fewer than `limit` only at the end. */
  frames: (from: number, limit: number) => Promise<readonly Frame[]>
  /** Characters of one text in what is shown; longer ones are cut. Default: none are. */
  textMax?: number
  /** Characters, about, of all that one actor holds; what is more is cut, and says so. Default: nothing is. */
  sizeMax?: number
  /** Whether it is told what machines were asked and what they decided, which costs about as much again. Default: true. */
  decisions?: boolean
  /** Whether states are kept on the way, for who will want to go back. Default: true. */
  keeps?: boolean
  /** Lets others have their turn between many commits. */
  pause?: () => Promise<void>
}

const pageSize = 500
/** Commits between two pauses. */
export const pauseEvery = 10

/** What is recorded just now: a tree tells of its first events before anybody has it in hand. */
let recording: Recorder | undefined

class InspectedReplica extends Replica {
  override inspect(told: InspectionEvent): void {
    super.inspect(told)
    recording?.hear(told)
  }
}

/** @property src the name under `setup({ actors })` */
export type Living = { path: ActorPath; src: string }

type Position = { replica: Replica; commit: Commit }

export class Fold {
  readonly #options: FoldOptions
  readonly #registration: Registration
  readonly #kept: KeptStates | undefined
  #here: Position | undefined
  #page: readonly Frame[] = []
  #input: unknown
  /** One after the other: they share the tree. */
  #last: Promise<unknown> = Promise.resolve()

  get #decides(): boolean {
    return this.#options.decisions !== false
  }

  constructor(options: FoldOptions) {
    this.#options = options
    this.#kept = options.keeps === false ? undefined : new KeptStates()
    this.#registration = this.#decides ? inspected(options.registration) : named(options.registration)
  }

  /** The tree after a commit. @throws RuntimeError not_found, corrupt_at, drift where this machine cannot do what was recorded */
  moment(seq: number): Promise<Moment> {
    return this.#inTurn(async () => {
      const { replica, commit } = await this.#go(seq)
      return momentOf(replica, commit, this.#options)
    })
  }

  /** Who lives after a commit, without what they hold. @throws as {@link moment} */
  living(seq: number): Promise<Living[]> {
    return this.#inTurn(async () =>
      [...(await this.#go(seq)).replica.actors()].map(([path, ref]) => ({ path, src: typeof ref.src === 'string' ? ref.src : '' })),
    )
  }

  /** What one commit did. @throws as {@link moment} */
  steps(seq: number): Promise<CommitSteps> {
    return this.#inTurn(async () => {
      const recorder = new Recorder({ textMax: this.#options.textMax })
      const { commit } = await this.#record(seq, recorder)
      return { seq, at: commit.at, steps: recorder.steps }
    })
  }

  /** The same with all that actors hold when they rest; one commit after the other costs one application each. @throws as {@link moment} */
  told(seq: number): Promise<ToldCommit> {
    return this.#inTurn(async () => {
      const { textMax, sizeMax, decisions } = this.#options
      const size = { textMax, sizeMax }
      const recorder = new Recorder({ ...size, ...definedOf({ decisions }), rest: (ref) => restOf(ref, size, this.#decides) })
      const { commit, replica } = await this.#record(seq, recorder)
      const { at, epoch, writer } = commit
      return { seq, at, epoch, writer, steps: recorder.steps, remotes: remotesIn(replica, this.#options.address) }
    })
  }

  /** The actors elsewhere that belong to the tree after a commit. @throws as {@link moment} */
  remotes(seq: number): Promise<RemoteAt[]> {
    return this.#inTurn(async () => remotesIn((await this.#go(seq)).replica, this.#options.address))
  }

  async #record(seq: number, recorder: Recorder): Promise<Position> {
    // What came before is not told: the tree has to stand right before it.
    if (seq > 1) await this.#go(seq - 1, seq)
    else this.#here = undefined
    const commit = await this.#commit(seq)
    const taken = this.#taken(commit)
    recording = recorder
    try {
      if (this.#decides) hearing(recorder.verdicts, () => this.#apply(commit, taken))
      else this.#apply(commit, taken)
    } finally {
      recording = undefined
    }
    this.#requireSound(commit)
    return this.#passed()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work)
    this.#last = next.catch(() => undefined)
    return next
  }

  async #go(seq: number, wanted = seq): Promise<Position> {
    if (!Number.isInteger(seq) || seq < 1)
      throw new RuntimeError('bad_request', `there is no commit ${seq}`, { field: 'seq', hint: 'commits count from 1' })
    await this.#startBelow(seq)
    for (let next = (this.#here?.commit.seq ?? 0) + 1; next <= seq; next++) {
      const commit = await this.#commit(next, wanted)
      this.#apply(commit)
      this.#requireSound(commit)
      this.#passed()
      if (next % pauseEvery === 0) await this.#options.pause?.()
    }
    return this.#here as Position
  }

  /** Takes the nearest state at or before a sequence, which may be the one at hand. */
  async #startBelow(seq: number): Promise<void> {
    const present = this.#here?.commit.seq ?? 0
    const nearest = this.#kept?.below(seq) ?? 0
    if (present <= seq && present >= nearest) return
    this.#here = undefined
    const kept = this.#kept?.get(nearest)
    if (!kept) return
    const commit = await this.#commit(nearest)
    const replica = new InspectedReplica({ registration: this.#registration, input: this.#input, ...kept })
    if (replica.failure) throw replica.failure.error
    this.#here = { replica, commit }
  }

  #passed(): Position {
    const here = this.#here as Position
    this.#kept?.pass(here.commit, here.replica)
    return here
  }

  #apply(commit: Commit, taken = this.#taken(commit)): void {
    const { create, epoch, seed, at, inputs, later } = commit
    let replica = taken
    if (create) {
      this.#input = create.input
      replica = new InspectedReplica({ registration: this.#registration, input: create.input, at, epoch, seed })
    }
    if (!replica)
      throw new RuntimeError('corrupt_at', `the journal of ${this.#options.address} does not begin with its creation`, { data: { seq: commit.seq } })
    replica.enter(epoch, later)
    replica.chance.recorded(seed)
    for (const input of inputs) replica.apply(input, at)
    replica.takeOutputs()
    replica.takeStates()
    this.#here = { replica, commit }
  }

  /** The tree that a commit goes on with: where another root wrote the one before, this is a fork, and takes that one's over under its own name. */
  #taken({ address, at, epoch }: Commit): InspectedReplica | undefined {
    if (!this.#here) return undefined
    const { replica, commit } = this.#here
    if (commit.address === address || !this.#registration.renamed) return replica
    const snapshot = renamedSnapshot(this.#registration, replica, parseAddress(commit.address), parseAddress(address))
    return new InspectedReplica({ registration: this.#registration, input: this.#input, at, epoch, snapshot })
  }

  #requireSound({ seq }: Commit): void {
    const failure = this.#here?.replica.failure
    if (!failure) return
    this.#here = undefined
    throw new RuntimeError('drift', `commit ${seq} of ${this.#options.address} makes this machine fail: ${errorBody(failure.error).message}`, {
      cause: failure.error,
      hint: 'look at it with the machine that recorded it',
      data: { seq },
    })
  }

  /** @param wanted for the sake of which it is read: who asked for that one is told of it */
  async #commit(seq: number, wanted = seq): Promise<Commit> {
    const { address, frames } = this.#options
    const within = (page: readonly Frame[]) => page[seq - (page[0]?.seq ?? Number.POSITIVE_INFINITY)]
    if (!within(this.#page)) this.#page = await frames(seq, pageSize)
    const frame = within(this.#page)
    if (!frame)
      throw new RuntimeError('not_found', `${shownAddress(parseAddress(address))} has no commit ${wanted}`, {
        field: 'seq',
        hint: seq === 1 ? 'it has none' : `its last one is ${seq - 1}`,
      })
    return commitOf(frame, parseAddress(address))
  }
}
