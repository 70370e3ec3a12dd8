/** What a run did when: observed while it happens, kept for a while by the node, and in no journal. */

export type SpanOutcome = 'ok' | 'error' | 'skipped'

/** Times in ms since the epoch, with fractions where the clock has them. */
export type Span = {
  name: string
  start: number
  end: number
  outcome: SpanOutcome
  attributes?: Readonly<Record<string, string | number | boolean>>
}

/** The message that began a run names it. */
export type TracedRun = { sessionKey: string; runId: string }

/** Where spans are told. It must not throw. */
export interface Tracing {
  /** ms since the epoch, on a clock that does not jump. */
  now(): number
  span(run: TracedRun, span: Span): void
}

/** ms since the epoch with fractions, which never go back. */
export const steadyTime = (clock: { now(): number; elapsed?(): number }): (() => number) => {
  if (!clock.elapsed) return () => clock.now()
  const origin = clock.now() - clock.elapsed()
  return () => origin + (clock.elapsed?.() ?? 0)
}

/** Begins a span; what is returned ends it, and begins the next one where that gets a name. */
export const stopwatch = (tracing: Tracing | undefined, run: TracedRun) => {
  let start = tracing?.now() ?? 0
  return (name?: string, outcome: SpanOutcome = 'ok', attributes?: Span['attributes']): void => {
    if (!tracing) return
    const end = tracing.now()
    if (name !== undefined) tracing.span(run, { name, start, end, outcome, ...(attributes && { attributes }) })
    start = end
  }
}

/** A run as it is shown. Durations in ms. */
export type RunTrace = TracedRun & {
  /** False while it goes on. */
  ended: boolean
  /** `validate`, `dispatch`, `directives`, `session`, `media`, `links`, `model`, `run`: each once, as they follow each other. */
  stages: Span[]
  /** `prompt`, `skills`, `tools`, `call`, `stream`, `loop`: what the run did, each once. */
  steps: Span[]
  /** To the first token and to the end: these follow each other without a gap, `ms` add up to the total and `share` to 100. */
  latency: {
    parts: { name: 'connect' | 'acknowledgement' | 'startup' | 'firstToken' | 'streaming'; ms: number; share: number }[]
    totalMs: number
    /** From the arrival of the message; left out where there was none. */
    firstThinkingMs?: number
    firstTextMs?: number
  }
  /** What we take ourselves, models and tools aside. `auth` is a part of `connect`. */
  overhead: Record<'connect' | 'auth' | 'acknowledgement' | 'session' | 'model' | 'prompt' | 'skills' | 'total', number>
  /** All that was told, in the order of its beginning. */
  spans: Span[]
}
