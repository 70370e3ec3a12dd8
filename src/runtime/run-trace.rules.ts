/** A run from what was observed of it: its stages and steps, how long it was to the first token, and what we took of that ourselves. */
import type { RunTrace, Span, TracedRun } from '../contracts/tracing.ts'

/** In the order in which they come. Directives come before the model, since they choose it, and say whether there is a run at all. */
const stageNames = ['validate', 'dispatch', 'directives', 'session', 'media', 'links', 'model', 'run'] as const
const stepNames = ['prompt', 'skills', 'tools', 'call', 'stream', 'loop'] as const

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
const lengthOf = (span: Span | undefined): number => (span ? rounded(span.end - span.start) : 0)

/** What was not told was not done: it stands there without a length, where it would have begun. */
const inOrder = (names: readonly string[], told: ReadonlyMap<string, Span>, begin: number): Span[] => {
  let at = begin
  return names.map((name) => {
    const span = told.get(name) ?? { name, start: at, end: at, outcome: 'skipped' as const }
    at = Math.max(at, span.end)
    return span
  })
}

/** Several links, files and candidates are one stage; it has failed where nothing came of any. */
const lookedAt = ['media', 'links'] as const
const wholeOf = ([begin, ...more]: readonly Span[]): Span | undefined => {
  if (begin === undefined || more.length === 0) return begin
  const all = [begin, ...more]
  return {
    ...begin,
    end: Math.max(...all.map(({ end }) => end)),
    outcome: all.some(({ outcome }) => outcome === 'ok') ? 'ok' : 'error',
    attributes: { count: all.length },
  }
}

/** @param spans in any order; of several of one name the first counts, but for {@link lookedAt} */
export const runTrace = (run: TracedRun, spans: readonly Span[]): RunTrace => {
  const sorted = spans.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const first = new Map<string, Span>()
  for (const span of sorted) if (!first.has(span.name)) first.set(span.name, span)
  for (const name of lookedAt) {
    const whole = wholeOf(sorted.filter((span) => span.name === name))
    if (whole) first.set(name, whole)
  }
  const { end: validated = 0 } = first.get('validate') ?? {}
  const directives = first.get('directives')
  if (directives && validated > 0 && !first.has('dispatch'))
    first.set('dispatch', { name: 'dispatch', start: validated, end: Math.max(validated, directives.start), outcome: 'ok' })

  const session = first.get('session')
  const working = Math.min(...[...lookedAt, 'model', 'prompt'].map((name) => first.get(name)?.start ?? Number.POSITIVE_INFINITY))
  // Its turn may begin before its sender is told.
  if (session) first.set('session', { ...session, end: Math.max(session.start, Math.min(session.end, working)) })

  const ending = first.get('end')
  const received = Math.min(
    ...['acknowledgement', 'validate', 'directives', 'session'].map((name) => first.get(name)?.start ?? Number.POSITIVE_INFINITY),
  )
  const begin = Number.isFinite(received) ? received : (sorted[0]?.start ?? 0)
  const end = ending?.end ?? Math.max(begin, ...sorted.map((span) => span.end))

  const call = first.get('call')
  const calls = sorted.filter(({ name }) => name === 'call')
  // What was told of a connection happened long before.
  const beginning = first.get('prompt')?.start
  if (beginning !== undefined) first.set('run', { name: 'run', start: beginning, end, outcome: ending?.outcome ?? 'ok' })
  // Who listens is there before it is asked.
  if (call) first.set('stream', { ...call, name: 'stream' })
  if (call && call.outcome === 'ok' && calls.length > 1) first.set('loop', { name: 'loop', start: call.end, end, outcome: 'ok' })

  return {
    ...run,
    ended: ending !== undefined,
    stages: inOrder(stageNames, first, begin),
    steps: inOrder(stepNames, first, beginning ?? end),
    latency: latencyOf(first, begin, end),
    overhead: overheadOf(first, calls, begin, end),
    spans: sorted,
  }
}

const latencyOf = (first: ReadonlyMap<string, Span>, begin: number, end: number): RunTrace['latency'] => {
  const connect = first.get('connect')
  const within = (at: number, from: number): number => Math.min(Math.max(at, from), end)
  const called = within(first.get('call')?.start ?? end, begin)
  // The turn may begin before its sender is told that it does.
  const acknowledged = Math.min(within(first.get('acknowledgement')?.end ?? begin, begin), called)
  const thinking = first.get('first-thinking')?.start
  const text = first.get('first-text')?.start
  const token = within(Math.min(thinking ?? Number.POSITIVE_INFINITY, text ?? Number.POSITIVE_INFINITY), called)
  const lengths = [
    { name: 'connect', ms: lengthOf(connect) },
    { name: 'acknowledgement', ms: rounded(acknowledged - begin) },
    { name: 'startup', ms: rounded(called - acknowledged) },
    { name: 'firstToken', ms: rounded(token - called) },
    { name: 'streaming', ms: rounded(end - token) },
  ] as const
  const totalMs = rounded(lengths.reduce((sum, { ms }) => sum + ms, 0))
  return {
    parts: lengths.map((part) => ({ ...part, share: totalMs === 0 ? 0 : Math.round((part.ms / totalMs) * 1000) / 10 })),
    totalMs,
    ...(thinking === undefined ? {} : { firstThinkingMs: rounded(thinking - begin) }),
    ...(text === undefined ? {} : { firstTextMs: rounded(text - begin) }),
  }
}

/** Up to the first call of a model, and from the end of the last one on. */
const overheadOf = (first: ReadonlyMap<string, Span>, calls: readonly Span[], begin: number, end: number): RunTrace['overhead'] => {
  const before = (calls[0]?.start ?? end) - begin
  const after = calls.length === 0 ? 0 : end - Math.max(...calls.map((call) => call.end))
  return {
    connect: lengthOf(first.get('connect')),
    auth: lengthOf(first.get('auth')),
    acknowledgement: lengthOf(first.get('acknowledgement')),
    session: lengthOf(first.get('session')),
    model: lengthOf(first.get('model')),
    prompt: lengthOf(first.get('prompt')),
    skills: lengthOf(first.get('skills')),
    total: rounded(Math.max(0, before) + Math.max(0, after)),
  }
}
