/** Turns of sessions as they are read again: each from its own actor, and once. */
import { isRuntimeError, type Runtime } from '../../index.ts'
import type { Report } from '../envelope.ts'
import type { RunEnd } from '../run.rules.ts'
import type { CheckpointStore } from '../stores/store.ts'
import { besideMax } from './beside.context.ts'
import { recordOf, type TurnRecord } from './report.rules.ts'
import { runName } from './runs.rules.ts'

type Ended = RunEnd & { input: unknown }

/** Turns that are kept in memory, of all sessions and of each. */
const allMax = 10_000
const turnsMax = 100

export class Turns {
  readonly #kind: string
  /** `undefined` for one whose actor is gone, so that nobody looks for it again. */
  readonly #kept = new Map<string, Map<number, TurnRecord | undefined>>()
  #count = 0

  constructor(kind: string) {
    this.#kind = kind
  }

  /** What a run of a turn came to; undefined where there is none, or none that has ended. */
  async read(runtime: Runtime, runId: string): Promise<Ended | undefined> {
    return endOf(runtime, this.#kind, runId)
  }

  note(sessionId: string, record: TurnRecord): void {
    this.#keep(sessionId, record.turn, record)
  }

  #keep(sessionId: string, turn: number, record: TurnRecord | undefined): void {
    const kept = this.#kept.get(sessionId) ?? new Map<number, TurnRecord | undefined>()
    if (!kept.has(turn)) this.#count += 1
    kept.set(turn, record)
    // The session that was used last is the last to go.
    this.#kept.delete(sessionId)
    this.#kept.set(sessionId, kept)
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - turnsMax))) if (kept.delete(oldest)) this.#count -= 1
    for (const one of this.#kept.keys()) {
      if (this.#count <= allMax) break
      this.forget(one)
    }
  }

  forget(sessionId: string): void {
    this.#count -= this.#kept.get(sessionId)?.size ?? 0
    this.#kept.delete(sessionId)
  }

  /** Those that are stored, before a turn. @param keep the turn itself among them */
  async before(runtime: Runtime, { store, name, sessionId, turnIndex, keep }: Wanted): Promise<TurnRecord[]> {
    const first = Math.max(0, turnIndex - Math.min(keep ?? turnsMax, turnsMax) + 1)
    const wanted = Array.from({ length: turnIndex - first }, (_, index) => first + index)
    const missing = wanted.filter((turn) => !this.#kept.get(sessionId)?.has(turn))
    if (missing.length > 0) {
      const rows = await store.rows(name, sessionId)
      for (const turn of missing) {
        const row = rows.find((one) => one.turn_index === turn)
        const found = row && (await this.#stored(runtime, runName(sessionId, row.version, turn, 1)))
        // It may be under way still, beside this one.
        if (row || turn < turnIndex - besideMax) this.#keep(sessionId, turn, found && recordOf(turn, found.input, found.report))
      }
    }
    const kept = this.#kept.get(sessionId)
    return wanted.flatMap((turn) => kept?.get(turn) ?? [])
  }

  /** Of several attempts, the one that came to something. */
  async #stored(runtime: Runtime, runId: string): Promise<Ended | undefined> {
    for (const name of attemptsOf(runId)) {
      const found = await this.read(runtime, name)
      if (!found?.error) return found
    }
    return undefined
  }
}
type Wanted = { store: CheckpointStore; name: string; sessionId: string; turnIndex: number; keep: number | undefined }

/** Names that a turn may have. */
const attemptsOf = (runId: string): string[] => [runId, ...Array.from({ length: 9 }, (_, index) => `${runId}~${index + 2}`)]

const endOf = async (runtime: Runtime, kind: string, runId: string): Promise<Ended | undefined> => {
  try {
    const { status, output, context } = await runtime.actor(kind, runId).snapshot()
    return status === 'done' ? { ...(output as RunEnd), input: (context as { input: unknown }).input } : undefined
  } catch (error) {
    // Begun by another definition, or gone: then it says nothing any more.
    if (isRuntimeError(error) && ['not_found', 'drift', 'quarantined'].includes(error.code)) return undefined
    throw error
  }
}

/** A run that has ended, as a child of a report. */
export const childOf = async (runtime: Runtime, kind: string, runId: string | undefined): Promise<Report[]> => {
  const found = runId === undefined ? undefined : await endOf(runtime, kind, runId)
  return found ? [found.report] : []
}

/** At once, which is one write of a data folder. */
export const forgetAll = async (runtime: Runtime, kind: string, runs: Iterable<string>): Promise<void> => {
  await Promise.all([...runs].map((run) => runtime.actor(kind, run).forget()))
}
