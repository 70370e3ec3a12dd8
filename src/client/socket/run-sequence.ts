/** Whether an event of a run was missed: its events count from one on. */
import type { ChatEvent } from '../../contracts/gateway.ts'

/** An event that was expected, and the one that came in its place. */
export type EventGap = { sessionKey: string; runId: string; expected: number; received: number }

export class RunSequence {
  readonly #seen = new Map<string, number>()

  /** A run that somebody comes upon goes on from where it is. */
  begin(run: Pick<ChatEvent, 'runId' | 'seq'> | null): void {
    if (run) this.#seen.set(run.runId, run.seq)
  }

  /** What was known of a run that has ended is forgotten. */
  take({ sessionKey, runId, seq, state }: ChatEvent): EventGap | undefined {
    const seen = this.#seen.get(runId)
    if (state === 'delta') this.#seen.set(runId, Math.max(seq, seen ?? 0))
    else this.#seen.delete(runId)
    return seen !== undefined && seq > seen + 1 ? { sessionKey, runId, expected: seen + 1, received: seq } : undefined
  }
}
