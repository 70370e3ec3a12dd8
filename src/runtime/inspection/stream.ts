/**
 * What actors of this node do, commit by commit, on `statecast.inspect.<kind>.<id>`: only while somebody listens there. A bus within the process knows whether
 * somebody does; any other is asked with the first words about the newest commit, at most once in each pause.
 */
import type { Host } from '../../actors/index.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../../contracts/errors.ts'
import type { InspectionMessage } from '../../contracts/inspection-protocol.ts'
import { type Address, formatAddress, type Subjects } from '../../contracts/subjects.ts'
import type { Bus } from '../../contracts/transport.ts'
import type { SharedParts } from '../parts.ts'
import { type FollowerParts, TreeFollower } from './tree-follower.ts'

/** ms between two questions whether somebody listens: that long a listener waits for the first commit. */
const askMs = 100
/** ms after which those who listened are asked for again. */
const againMs = 5_000
/** Trees that are followed at once. */
const treesMax = 256

const encoder = new TextEncoder()
const headers = { 'Content-Type': 'application/json' }

type StreamParts = FollowerParts & { bus: Bus; names: Subjects; clock: Clock; log: Logger; me: string | undefined }
type Shared = Pick<SharedParts, 'environment' | 'subjects' | 'transport' | 'outputs'>
type Followed = { address: Address; follower: TreeFollower; seq: number }
/** Commits of a root that nobody has been asked about. */
type Unasked = { address: Address; from: number; seq: number }

export class InspectionStream {
  readonly #parts: StreamParts
  readonly #followed = new Map<string, Followed>()
  #unasked = new Map<string, Unasked>()
  #soon: unknown
  #later: unknown
  #stopped = false

  /** @param me the node that this is */
  constructor({ environment: { clock, log }, subjects, transport: { bus, journal }, outputs: { growth } }: Shared, host: () => Host, me?: string) {
    this.#parts = { bus, names: subjects, clock, log, me, journal, growth, registration: (kind) => host().registration(kind) }
  }

  /** A commit of this node stands. Called for each that may be wanted, so nothing is done here but to take note of it. */
  grew(name: string, address: Address, seq: number): void {
    const { bus, names } = this.#parts
    if (this.#stopped || !bus.wanted(names.inspect(address))) {
      this.#drop(name)
      return
    }
    const followed = this.#followed.get(name)
    if (followed) {
      followed.seq = seq
      followed.follower.grew(seq)
      return
    }
    const unasked = this.#unasked.get(name)
    if (unasked) unasked.seq = seq
    else this.#unasked.set(name, { address, from: seq, seq })
    this.#soon ??= this.#parts.clock.setTimeout(() => void this.#ask(), askMs)
  }

  /** Another node may have it, or nobody: whoever writes it next tells of it. */
  left(name: string): void {
    this.#unasked.delete(name)
    this.#drop(name)
  }

  stop(): void {
    this.#stopped = true
    this.#parts.clock.clearTimeout(this.#soon)
    this.#parts.clock.clearTimeout(this.#later)
    for (const name of this.#followed.keys()) this.#drop(name)
    this.#unasked.clear()
  }

  async #ask(): Promise<void> {
    const unasked = this.#unasked
    this.#unasked = new Map()
    await Promise.all(
      [...unasked].map(async ([name, { address, from, seq }]) => {
        if ((await this.#isHeard(address, seq)) && !this.#stopped) this.#follow(name, address, from, Math.max(seq, this.#unasked.get(name)?.seq ?? 0))
      }),
    )
    this.#soon = undefined
    if (this.#unasked.size > 0 && !this.#stopped) this.#soon = this.#parts.clock.setTimeout(() => void this.#ask(), askMs)
  }

  async #isHeard(address: Address, seq: number): Promise<boolean> {
    const { bus, names, clock, me, log } = this.#parts
    const subject = names.inspect(address)
    if (this.#stopped || !bus.wanted(subject)) return false
    const rootId = formatAddress(address)
    const word = { type: 'statecast.newest', rootId, seq, createdAt: String(clock.now()), writer: me }
    try {
      return await bus.reaches(subject, encoder.encode(JSON.stringify(word)), headers)
    } catch (error) {
      log.debug({ subject, error: errorBody(error) }, 'nobody can be asked whether somebody listens')
      return false
    }
  }

  #follow(name: string, address: Address, from: number, seq: number): void {
    this.#unasked.delete(name)
    if (this.#followed.has(name)) return
    const { log } = this.#parts
    const failed = (error: unknown): void => {
      log.warn({ actor: name, error: errorBody(error) }, 'an actor cannot be shown to those who listen')
      this.#followed.delete(name)
    }
    const follower = new TreeFollower(this.#parts, address, { tell: (messages) => this.#publish(address, messages), failed })
    this.#followed.set(name, { address, follower, seq })
    follower.start(from - 1)
    follower.grew(seq)
    for (const oldest of this.#followed.keys()) {
      if (this.#followed.size <= treesMax) break
      this.#drop(oldest)
    }
    this.#later ??= this.#parts.clock.setTimeout(() => void this.#askAgain(), againMs)
  }

  async #askAgain(): Promise<void> {
    for (const [name, { address, seq }] of this.#followed) if (!(await this.#isHeard(address, seq))) this.#drop(name)
    this.#later = undefined
    if (this.#followed.size > 0 && !this.#stopped) this.#later = this.#parts.clock.setTimeout(() => void this.#askAgain(), againMs)
  }

  #drop(name: string): void {
    this.#followed.get(name)?.follower.stop()
    this.#followed.delete(name)
  }

  #publish(address: Address, messages: InspectionMessage[]): void {
    const { bus, names, log } = this.#parts
    const subject = names.inspect(address)
    for (const message of messages) {
      try {
        publishOne(message, (bytes) => bus.publish(subject, bytes, headers))
      } catch (error) {
        log.warn({ subject, error: errorBody(error) }, 'what an actor has done could not be published')
      }
    }
  }
}

/** What is larger than the bus takes is said without what it holds. */
const publishOne = (message: InspectionMessage, publish: (bytes: Uint8Array) => void): void => {
  try {
    publish(encoder.encode(JSON.stringify(message)))
  } catch (error) {
    if (!isRuntimeError(error) || error.code !== 'too_large') throw error
    const { type, sessionId, rootId, id, createdAt, _version, seq } = message
    publish(encoder.encode(JSON.stringify({ type, sessionId, rootId, id, createdAt, _version, seq, tooLarge: true })))
  }
}
