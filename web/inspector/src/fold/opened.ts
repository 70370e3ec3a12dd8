/** One journal in the worker: its commits as they come in, their rows, and the moments that are asked for. */
import { checksum, commitOf, Fold, pauseEvery } from '../../../../src/actors/index.ts'
import { fromBase64 } from '../../../../src/contracts/bytes.ts'
import { errorBody, RuntimeError } from '../../../../src/contracts/errors.ts'
import type { Moment } from '../../../../src/contracts/inspection.ts'
import type { AnyEvent, Commit } from '../../../../src/contracts/journal.ts'
import { parseAddress } from '../../../../src/contracts/subjects.ts'
import type { Frame } from '../../../../src/contracts/transport.ts'
import { bundledFor } from './bundled.ts'
import { cutTexts, textAt } from './cut.rules.ts'
import type { CommitDetail, FromWorker, Looked, Origin, Row, StoredFrame } from './protocol.ts'
import { Rows } from './rows.rules.ts'

const textMax = 4_000
/** ms of work before messages are let in, and between two words of how far it is: the page draws itself anew at each. */
const turnMs = 30
const tellMs = 150

/** What was asked for has been overtaken by another question. */
export class Overtaken extends Error {}

type Options = { life: number; address: string; kind: string; tell: (told: FromWorker) => void }

export class Opened {
  readonly #options: Options
  readonly #frames: Frame[] = []
  readonly #rows = new Rows()
  #prev = 0
  #corrupt = false
  #fold: Fold | undefined
  #asked = 0
  #applied = 0
  /** When it let messages in last, and when it said how far it is. */
  #restedAt = 0
  #toldAt = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Frames from the one after the last on; what was there before is left out. */
  take(frames: readonly StoredFrame[]): void {
    const { life, address, kind, tell } = this.#options
    const rows: Row[] = []
    let origin: Origin | undefined
    for (const { bytes: text, ...place } of frames) {
      const { seq } = place
      if (this.#corrupt || seq !== this.#frames.length + 1) continue
      try {
        const bytes = fromBase64(text)
        const frame = { ...place, bytes }
        const commit = commitOf(frame, parseAddress(address))
        if (commit.prev !== this.#prev) throw brokenChain(address, seq)
        this.#prev = checksum(bytes)
        this.#frames.push(frame)
        rows.push(this.#rows.take(commit))
        if (commit.create) {
          const { machine, signature } = commit.create
          const registration = bundledFor(kind, signature)
          origin = { machine, signature, local: registration !== undefined }
          if (registration) this.#fold = new Fold({ address, registration, frames: this.#page, textMax, pause: this.#pause })
        }
      } catch (error) {
        this.#corrupt = true
        tell({ type: 'corrupt', life, seq, error: errorBody(error) })
      }
    }
    if (rows.length > 0) tell({ type: 'rows', life, rows, ...(origin && { origin }) })
  }

  /** The newest question only: those before it are overtaken. @throws Overtaken, RuntimeError drift */
  async look(seq: number, before: number | undefined): Promise<Looked> {
    const asked = ++this.#asked
    const fold = this.#folding()
    this.#applied = 0
    this.#restedAt = this.#toldAt = performance.now()
    // In the order of their commits, so that the journal is gone through once.
    const earlier = before === undefined || before >= seq ? undefined : await this.#current(asked, () => fold.moment(before))
    const steps = await this.#current(asked, () => fold.steps(seq))
    const moment = await this.#current(asked, () => fold.moment(seq))
    const later = before === undefined || before < seq ? undefined : before === seq ? moment : await this.#current(asked, () => fold.moment(before))
    return { seq, steps, moment, detail: this.detail(seq), before: earlier ?? later }
  }

  moment(seq: number): Promise<Moment> {
    return this.#folding().moment(seq)
  }

  detail(seq: number): CommitDetail {
    const { inputs, refused = [], notes = [] } = this.#commit(seq)
    const events = [...inputs.map(inputAsEvent), ...refused.map(({ input, error }) => ({ ...inputAsEvent(input), refused: error }))]
    return { seq, ...(cutTexts({ inputs: events, notes }, textMax) as { inputs: AnyEvent[]; notes: AnyEvent[] }) }
  }

  text(seq: number, at: readonly (string | number)[]): string {
    const { inputs, refused = [], notes = [] } = this.#commit(seq)
    return textAt({ inputs: [...inputs.map(inputAsEvent), ...refused.map(({ input }) => inputAsEvent(input))], notes }, at)
  }

  #folding(): Fold {
    if (this.#fold) return this.#fold
    throw new RuntimeError('drift', 'the machine that wrote this journal did not come with the page', { hint: 'ask the node' })
  }

  async #current<Value>(asked: number, work: () => Promise<Value>): Promise<Value> {
    if (asked !== this.#asked) throw new Overtaken()
    const value = await work()
    if (asked !== this.#asked) throw new Overtaken()
    return value
  }

  #commit(seq: number): Commit {
    const frame = this.#frames[seq - 1]
    if (!frame) throw new RuntimeError('not_found', `there is no commit ${seq} yet`, { field: 'seq', hint: 'wait until the journal has been read' })
    return commitOf(frame, parseAddress(this.#options.address))
  }

  readonly #page = async (from: number, limit: number) => this.#frames.slice(from - 1, from - 1 + limit)

  /** Between many commits: says how far it is, and lets messages in. */
  readonly #pause = async (): Promise<void> => {
    const asked = this.#asked
    this.#applied += pauseEvery
    const now = performance.now()
    if (now - this.#restedAt < turnMs) return
    if (now - this.#toldAt >= tellMs) {
      this.#toldAt = now
      this.#options.tell({ type: 'progress', life: this.#options.life, applied: this.#applied })
    }
    await new Promise((resolve) => setTimeout(resolve, 0))
    this.#restedAt = performance.now()
    if (asked !== this.#asked) throw new Overtaken()
  }
}

const inputAsEvent = (input: Commit['inputs'][number]): AnyEvent =>
  'timer' in input ? { type: 'timer', timer: input.timer } : 'from' in input ? { from: input.from, ...input.event } : { to: input.to, ...input.event }

const brokenChain = (address: string, seq: number): RuntimeError =>
  new RuntimeError('corrupt_at', `commit ${seq} of ${address} does not follow the one before`, {
    data: { seq },
    hint: 'restore the data folder from a backup; the entries before this one are still readable',
  })
