/** Runs in flight as their store has them: written over with each of their steps, beside their journals, for whoever reads the store. */
import type { LadderEvent } from '../envelope.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { inTime, type Timer, unanswered } from '../in-time.ts'
import type { Warn } from '../listeners.ts'
import { type RunState, rootOf, statusOf } from '../run.rules.ts'
import type { RunSnapshot, SnapshotStore } from './store.ts'

/** What of a run its rung says. */
export type Taken = Pick<RunSnapshot, 'next' | 'state' | 'iterations' | 'steps'>
type Work = { signal: AbortSignal; emit: (event: LadderEvent) => void }

type MirrorParts<Run, End> = {
  type: RunSnapshot['type']
  name: string
  /** undefined: nothing is saved. */
  store: () => SnapshotStore | undefined
  signature: () => string
  /** ms since the epoch */
  clock: () => number
  /** By which a store that gives no answer is given up. */
  timer: () => Timer | undefined
  warn: Warn
  /** What the run is once a piece of its work has ended so; undefined where that is no step of it. */
  after: (run: Run, work: string, end: End, at: number) => Taken | undefined
  atEnd: (run: Run) => Taken
}

/** No failure of the store is one of the run: it is told as `<type>.snapshot.failed`, and once for each run in the log. */
export class Mirror<Run extends RunState, End> {
  readonly #parts: MirrorParts<Run, End>
  /** By the run, so that a later snapshot is never written over by an earlier one. */
  readonly #saving = new Map<string, Promise<unknown>>()
  readonly #warned = new Set<string>()

  constructor(parts: MirrorParts<Run, End>) {
    this.#parts = parts
  }

  /** In the effect of the work, so that it is saved before it is journalled: after a crash it may be saved again. */
  async settled(run: Run, work: string, end: End, { signal, emit }: Work): Promise<void> {
    const { type, name, after, clock } = this.#parts
    const store = this.#parts.store()
    const taken = store && after(run, work, end, clock())
    if (!taken) return
    const error = await this.#save(store, run, { ...taken, status: 'running' }, signal)
    if (error) emit({ type: `${type}.snapshot.failed`, runId: run.runId, rootRunId: rootOf(run), [type]: name, error: error.toJSON() })
  }

  /** Nobody waits for that. */
  ended(run: Run): void {
    const store = this.#parts.store()
    if (!store) return
    void this.#save(store, run, { ...this.#parts.atEnd(run), status: statusOf(run.error) }).finally(() => this.#warned.delete(run.runId))
  }

  /** @param signal aborts where the work is wanted no more: then what the run has come to meanwhile counts */
  #save(store: SnapshotStore, { runId }: Run, taken: Taken & Pick<RunSnapshot, 'status'>, signal?: AbortSignal): Promise<LadderError | undefined> {
    const before = this.#saving.get(runId) ?? Promise.resolve()
    const saving = before.then(() => (signal?.aborted ? undefined : this.#saved(store, { runId, ...taken })))
    this.#saving.set(runId, saving)
    return saving.finally(() => {
      if (this.#saving.get(runId) === saving) this.#saving.delete(runId)
    })
  }

  async #saved(store: SnapshotStore, taken: Taken & Pick<RunSnapshot, 'runId' | 'status'>): Promise<LadderError | undefined> {
    const { type, name, signature, clock, timer, warn } = this.#parts
    const { runId } = taken
    try {
      const snapshot = asJson({ ...taken, type, name, signature: signature(), at: clock() })
      await inTime(
        timer(),
        () => store.save(snapshot),
        () => new Error(unanswered('save()')),
      )
      return undefined
    } catch (thrown) {
      const error =
        thrown instanceof LadderError
          ? thrown
          : new LadderError('STORE_FAILED', `a snapshot of '${name}' could not be saved: ${wordsOf(thrown)}`, { cause: thrown })
      if (!this.#warned.has(runId))
        warn({ [type]: name, runId, error: error.message }, `snapshots of a run of '${name}' are not saved; the run goes on`)
      this.#warned.add(runId)
      return error
    }
  }
}

const asJson = (snapshot: RunSnapshot): RunSnapshot => JSON.parse(JSON.stringify(snapshot)) as RunSnapshot

/** Whether something can be used as a store of runs. */
export const isSnapshotStore = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { save?: unknown }).save === 'function'
