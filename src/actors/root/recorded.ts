/**
 * What effects of a fork get instead of being done again: the results that its origin's journal has behind the fork. The origin is folded once, when the first
 * effect asks, since no journal says what an effect was given.
 */
import { sameBytes } from '../../contracts/bytes.ts'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Origin } from '../../contracts/fork.ts'
import type { ActorPath, Commit, Input } from '../../contracts/journal.ts'
import { type Address, formatAddress } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import { checksum, commitOf, encode } from '../journal/codec.ts'
import { originsOf } from '../journal/origins.ts'
import { recover } from '../journal/recovery.ts'
import type { Registration } from '../registration.ts'
import type { Effect, Output } from '../replica/sink.ts'

/** `begun`: it was begun there and has not ended, or only since it was told something; nobody knows how far it would have come here. */
export type Recorded = Input[] | 'begun' | 'unknown'

/** @property given to it @property begun after which commit @property reads the journal, besides what it was given @property told the origin told it something behind the fork */
type Known = { given: Uint8Array; begun: number; reads: boolean; said: Input[]; told: boolean; ended: boolean }

type Asked = Pick<Known, 'given' | 'begun' | 'reads'>

/** What one root behind a fork has said to its effects, and what those that read its journal found there: checksums by commit. */
type Past = { effects: Map<ActorPath, Known>; contents: [seq: number, checksum: number][] }

type Parts = { journal: Journal; address: Address; registration: Registration; origin: Omit<Origin, 'change'>; log: Logger }

export class RecordedAnswers {
  readonly #parts: Parts
  #folding: Promise<Past[]> | undefined
  /** Of the fork itself, and up to which commit. */
  readonly #contents: Past['contents'] = []
  #readTo: number
  /** One after the other. */
  #reading: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#readTo = parts.origin.at
  }

  /** @param seq the commit after which it is asked. Never rejects: where the origin cannot be folded, each effect may have been done there. */
  async answer(effect: Pick<Effect, 'path' | 'ref'>, seq: number): Promise<Recorded> {
    const { address, log } = this.#parts
    try {
      this.#folding ??= this.#fold()
      const asked = this.#asked(inputOf(effect), seq)
      if (asked.reads) this.#reading = this.#reading.then(() => this.#readOwn())
      await this.#reading
      const found = (await this.#folding).map((past) => this.#inPast(past, effect.path, asked)).find((known) => known)
      if (!found) return 'unknown'
      return found.ended && !found.told ? found.said : 'begun'
    } catch (error) {
      log.error(
        { actor: formatAddress(address), error: errorBody(error) },
        'the origin of a fork cannot be folded: what its effects answered is not known',
      )
      return 'begun'
    }
  }

  #asked(input: unknown, begun: number): Asked {
    const besides = this.#parts.registration.reads?.besides(input)
    return { given: encode(besides ?? input), begun, reads: besides !== undefined }
  }

  /** The same was asked for there, where it reads the journal also with the same in it. */
  #inPast({ effects, contents }: Past, path: ActorPath, { given, begun, reads }: Asked): Known | undefined {
    const known = effects.get(path)
    if (!known || !sameBytes(known.given, given)) return undefined
    return !reads || seenIn(contents, known.begun) === seenIn(this.#contents, begun) ? known : undefined
  }

  /** Of the origin, and of those that it has its own answers from. */
  async #fold(): Promise<Past[]> {
    const { journal, address, origin: first } = this.#parts
    const found: Past[] = []
    for await (const origin of originsOf(journal, address, first)) {
      if (origin.answers !== 'recorded' || !(await this.#isStillThere(origin))) break
      found.push(await this.#foldOne(origin))
    }
    return found
  }

  /** Another one may stand at its address by now. */
  async #isStillThere({ address, at }: Omit<Origin, 'change'>): Promise<boolean> {
    const { journal } = this.#parts
    const read = async (one: Address) => (await journal.read(one, at, { limit: 1 }))[0]
    const [there, here] = await Promise.all([read(address), read(this.#parts.address)])
    return there?.seq === at && here?.seq === at && sameBytes(there.bytes, here.bytes)
  }

  async #foldOne({ address, at }: Omit<Origin, 'change'>): Promise<Past> {
    const { journal, registration } = this.#parts
    const known = new Map<ActorPath, Known>()
    const contents: Past['contents'] = []
    const begin = (effect: Effect | undefined, seq: number): void => {
      if (effect) known.set(effect.path, { ...this.#asked(this.#renamed(inputOf(effect), address), seq), said: [], told: false, ended: false })
    }
    const heard = ({ inputs }: Commit): void => {
      for (const input of inputs) {
        const one = 'from' in input ? known.get(input.from) : undefined
        if (!one || !('from' in input) || one.ended) continue
        one.said.push(input)
        one.ended = input.from === input.to && input.event.type.startsWith('xstate.')
      }
    }
    const caused = (seq: number, outputs: readonly Output[], effects: { get(path: ActorPath): Effect | undefined }): void => {
      for (const output of outputs) {
        if (output.kind === 'start') begin(effects.get(output.path), seq)
        const one = output.kind === 'deliver' ? known.get(output.path) : undefined
        if (one && !one.ended) one.told = true
      }
    }
    await recover(journal, address, registration, {
      after: at - 1,
      onCommit: (commit, { effects }, outputs) => {
        if (commit.seq < at) return
        if (commit.seq === at) for (const effect of effects.values()) begin(effect, at)
        else {
          this.#note(commit, contents)
          heard(commit)
          caused(commit.seq, outputs, effects)
        }
      },
    })
    return { effects: known, contents }
  }

  #note(commit: Commit, contents: Past['contents']): void {
    for (const content of this.#parts.registration.reads?.contents(commit) ?? []) contents.push([commit.seq, checksum(encode(content))])
  }

  /** What the fork has by now. */
  async #readOwn(): Promise<void> {
    const { journal, address } = this.#parts
    for (;;) {
      const frames = await journal.read(address, this.#readTo + 1, { limit: pageSize })
      for (const frame of frames) this.#note(commitOf(frame, address), this.#contents)
      this.#readTo = frames.at(-1)?.seq ?? this.#readTo
      if (frames.length < pageSize) return
    }
  }

  /** As the fork gives it to its own. */
  #renamed(input: unknown, from: Address): unknown {
    const { registration, address } = this.#parts
    return registration.renamed ? (registration.renamed({ input }, from.id, address.id) as { input: unknown }).input : input
  }
}

const pageSize = 500

/** In whatever order it came: calls that run side by side end as they like. */
const seenIn = (contents: Past['contents'], upTo: number): string =>
  contents
    .flatMap(([seq, sum]) => (seq <= upTo ? sum : []))
    .toSorted((one, other) => one - other)
    .join()

/** What it was invoked with, as its logic keeps it to begin again. */
const inputOf = ({ ref }: Pick<Effect, 'ref'>): unknown => (ref.getSnapshot() as { input?: unknown }).input
