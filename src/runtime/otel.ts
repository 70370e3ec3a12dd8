/** Runs as spans of OpenTelemetry, where the program has its package: we bring none. */
import type { Logger } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import type { RunTrace, Span } from '../contracts/tracing.ts'

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
let loading: Promise<Otel | undefined> | undefined
const load = (): Promise<Otel | undefined> => {
  loading ??= import(packageName).then(
    (found) => (found.default ?? found) as Otel,
    () => undefined,
  )
  return loading
}

/** Hands on each run that has ended. @param run makes it, where somebody wants it */
export const exportRuns =
  (log: Logger) =>
  (run: () => RunTrace): void => {
    load()
      .then((otel) => otel && exportRun(otel, run))
      .catch((error: unknown) => log.debug({ error: errorBody(error) }, 'a run could not be told to OpenTelemetry'))
  }

const exportRun = ({ trace, context }: Otel, run: () => RunTrace): void => {
  const tracer = trace.getTracer('statecast')
  const { sessionKey, runId, spans, stages, latency } = run()
  const [first] = spans
  if (!first) return
  const end = Math.max(...spans.map((span) => span.end))
  const attributes = { 'gen_ai.conversation.id': sessionKey, 'statecast.run.id': runId, 'statecast.run.total_ms': latency.totalMs }
  const root = tracer.startSpan('invoke_agent', { startTime: new Date(first.start), attributes })
  // Nobody has set up where spans go.
  if (root.isRecording()) {
    const within = trace.setSpan(context.active(), root as never)
    const told = new Set<Span>([...stages, ...spans])
    for (const { name, start, end: stop, outcome, attributes: more = {} } of told) {
      const span = tracer.startSpan(name, { startTime: new Date(start), attributes: { ...more, 'statecast.outcome': outcome } }, within)
      if (outcome === 'error') span.setStatus({ code: failed })
      span.end(new Date(stop))
    }
  }
  root.end(new Date(end))
}
