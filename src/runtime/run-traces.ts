/** The newest runs of this node, with what was observed of each. */
import type { Clock } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { type RunTrace, type Span, steadyTime, type TracedRun, type Tracing } from '../contracts/tracing.ts'
import { runTrace } from './run-trace.rules.ts'

/** Runs that are kept, and spans of one of them. */
const runsMax = 500
const spansMax = 200

type Kept = TracedRun & { spans: Span[] }
/** What takes a run that has ended, and makes it where somebody wants it. */
type Ended = (about: TracedRun & { start: number }, run: () => RunTrace) => void
const nameOf = ({ sessionKey, runId }: TracedRun): string => `${sessionKey}\n${runId}`

export class RunTraces implements Tracing {
  readonly now: () => number
  readonly #runs = new Map<string, Kept>()
  readonly #ended: Ended

  /** @param ended called with each run that ends */
  constructor(clock: Clock, ended: Ended = () => undefined) {
    this.now = steadyTime(clock)
    this.#ended = ended
  }

  span(run: TracedRun, span: Span): void {
    const kept = this.#runs.get(nameOf(run)) ?? this.#begin(run)
    if (kept.spans.length < spansMax || span.name === 'end') kept.spans.push(span)
  }

  #begin({ sessionKey, runId }: TracedRun): Kept {
    const kept: Kept = { sessionKey, runId, spans: [] }
    this.#runs.set(nameOf(kept), kept)
    if (this.#runs.size > runsMax) this.#runs.delete(this.#runs.keys().next().value as string)
    return kept
  }

  /** What a session says of its runs: how they end. */
  hear(sessionKey: string, event: AnyEvent): void {
    if (event.type !== 'final' && event.type !== 'error' && event.type !== 'aborted') return
    const { runId, status } = event as unknown as Extract<SessionOutput, { type: 'final' }>
    const run = { sessionKey, runId }
    // A run of which nothing was observed here was another node's.
    const kept = this.#runs.get(nameOf(run))
    if (!kept || kept.spans.some(({ name }) => name === 'end')) return
    const at = this.now()
    this.span(run, { name: 'end', start: at, end: at, outcome: status === 'failed' ? 'error' : 'ok' })
    this.#ended({ ...run, start: kept.spans[0]?.start ?? at }, () => runTrace(run, kept.spans))
  }

  /** @throws RuntimeError not_found */
  trace(run: TracedRun): RunTrace {
    const kept = this.#runs.get(nameOf(run))
    if (kept) return runTrace(run, kept.spans)
    throw new RuntimeError('not_found', `nothing was observed of the run '${run.runId.slice(0, 80)}' on this node`, {
      field: 'runId',
      hint: `a node keeps the newest ${runsMax} runs of its own, until it ends; what a run did stands in the journal: statecast trace`,
    })
  }

  /** Of one session, the newest last. */
  list(sessionKey: string): RunTrace[] {
    return [...this.#runs.values()].filter((run) => run.sessionKey === sessionKey).map((run) => runTrace(run, run.spans))
  }
}
