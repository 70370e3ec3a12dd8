/** The base metrics of sessions, counted from the events that they emit and from nothing else: a reader of the trace can count them again (OC-92). */
import type { SessionOutput } from '../contracts/session.ts'

/** Upper ends of the histogram of durations, in ms; what takes longer is in `count` alone. */
export const durationBuckets = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000] as const

export type Metrics = {
  agent_run_duration_ms: { count: number; sum: number; buckets: number[] }
  /** Runs that failed among those that have ended; what somebody stopped has not failed. */
  agent_run_failure_rate: number
  runs: { ended: number; failed: number; aborted: number }
  /** By `provider/model`. */
  model_tokens_total: Record<string, { input: number; output: number; cacheRead: number; cacheWrite: number }>
  session_reset_count: number
}

type Ending = Extract<SessionOutput, { type: 'final' | 'error' | 'aborted' }>

/** Counts in place: there may be many runs at once, and each says a lot. */
export class MetricsCounter {
  readonly metrics: Metrics = {
    agent_run_duration_ms: { count: 0, sum: 0, buckets: durationBuckets.map(() => 0) },
    agent_run_failure_rate: 0,
    runs: { ended: 0, failed: 0, aborted: 0 },
    model_tokens_total: {},
    session_reset_count: 0,
  }
  /** When runs began, in ms since the epoch. */
  readonly #began = new Map<string, number>()

  /** @param session its name, since ids of runs are unique in their session alone @param at ms since the epoch of the commit that emitted it */
  hear(session: string, event: SessionOutput, at: number): void {
    switch (event.type) {
      case 'started':
        this.#began.set(`${session} ${event.runId}`, at)
        break
      case 'final':
      case 'error':
      case 'aborted':
        // A side question is no run.
        if (!event.side) this.#end(`${session} ${event.runId}`, event, at)
        break
      case 'usage': {
        const { model_tokens_total: totals } = this.metrics
        for (const [model, usage] of Object.entries(event.byModel ?? { [event.model]: event.usage })) {
          const tokens = totals[model] ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
          totals[model] = tokens
          for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) tokens[kind] += usage[kind]
        }
        break
      }
      case 'reset':
        this.metrics.session_reset_count++
        break
      default:
    }
  }

  /** What ends without having begun was answered by its session, or dropped: that was no run. One that has asked a model began in another process. */
  #end(run: string, { type: how, steps, durationMs = 0 }: Ending, at: number): void {
    const begunAt = this.#began.get(run)
    if (!this.#began.delete(run) && steps === 0) return
    const ms = begunAt === undefined ? durationMs : Math.max(0, at - begunAt)
    const { runs, agent_run_duration_ms: durations } = this.metrics
    runs.ended++
    if (how === 'error') runs.failed++
    if (how === 'aborted') runs.aborted++
    this.metrics.agent_run_failure_rate = runs.failed / runs.ended
    durations.count++
    durations.sum += ms
    for (const [index, end] of durationBuckets.entries()) if (ms <= end) durations.buckets[index] = (durations.buckets[index] ?? 0) + 1
  }
}
