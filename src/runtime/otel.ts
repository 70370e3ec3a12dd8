/** Runs as spans of OpenTelemetry, where the program has its package: we bring none. */
import type { Logger } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import type { RunTrace, Span, TracedRun } from '../contracts/tracing.ts'

type Attributes = Record<string, string | number | boolean>
type OtelSpan = { end(time?: Date): void; setStatus(status: { code: number }): unknown; isRecording(): boolean }
/** As much of `@opentelemetry/api` as is used, so that our types need no version of it. */
type Otel = {
  trace: {
    getTracer(name: string): { startSpan(name: string, options: { startTime: Date; attributes: Attributes }, context?: never): OtelSpan }
    setSpan(context: never, span: never): never
  }
  context: { active(): never }
}

const failed = 2
const packageName = '@opentelemetry/api'
let loaded: Otel | undefined

/** Hands on each run that has ended. @returns what takes a run, and makes it where somebody wants it */
export const exportRuns = (log: Logger) => {
  import(packageName).then(
    (found) => {
      loaded = (found.default ?? found) as Otel
    },
    () => undefined,
  )
  return (about: TracedRun & { start: number }, run: () => RunTrace): void => {
    if (!loaded) return
    try {
      exportRun(loaded, about, run)
    } catch (error) {
      log.debug({ error: errorBody(error) }, 'a run could not be told to OpenTelemetry')
    }
  }
}

const exportRun = ({ trace, context }: Otel, { sessionKey, runId, start: begin }: TracedRun & { start: number }, run: () => RunTrace): void => {
  const tracer = trace.getTracer('statecast')
  const attributes = { 'gen_ai.conversation.id': sessionKey, 'statecast.run.id': runId }
  const root = tracer.startSpan('invoke_agent', { startTime: new Date(begin), attributes })
  // Nobody has set up where spans go.
  if (!root.isRecording()) return
  const { stages, spans } = run()
  const within = trace.setSpan(context.active(), root as never)
  for (const { name, start, end, outcome, attributes: more = {} } of new Set<Span>([...stages, ...spans])) {
    const span = tracer.startSpan(name, { startTime: new Date(start), attributes: { ...more, 'statecast.outcome': outcome } }, within)
    if (outcome === 'error') span.setStatus({ code: failed })
    span.end(new Date(end))
  }
  root.end(new Date(Math.max(...spans.map(({ end }) => end))))
}
