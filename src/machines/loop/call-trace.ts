/** What is told of a call of a model when it has ended. */
import type { Span, TracedRun, Tracing } from '../../contracts/tracing.ts'

type Call = Pick<Span, 'start' | 'outcome'> & { model: string; cache: string }

/** Its answer streams from its beginning on: who listens is there before it is asked. */
export const tellCall = (tracing: Tracing, run: TracedRun, { start, outcome, ...attributes }: Call): void => {
  const end = tracing.now()
  tracing.span(run, { name: 'call', start, end, outcome, attributes })
  tracing.span(run, { name: 'stream', start, end, outcome })
}
