/** A commit as a row of the timeline. */
import type { AnyEvent, Commit, Input } from '../../../../src/contracts/journal.ts'
import type { Mark, Row } from './messages.ts'

const words: Readonly<Record<string, string>> = {
  'xstate.promise.resolve': 'resolved',
  'xstate.promise.reject': 'rejected',
  'xstate.observable.next': 'next',
  'xstate.observable.complete': 'completed',
  'xstate.observable.error': 'failed',
}

const markOf = (input: Input): Mark => {
  if ('timer' in input) return { path: '/', kind: 'timer', event: `timer ${input.timer}` }
  const { type } = input.event
  if ('from' in input) return { path: input.from, kind: /reject|error|failed/.test(type) ? 'error' : 'result', event: words[type] ?? type }
  return { path: input.to, kind: 'message', event: type }
}

/** @returns ids of the runs that a note says have ended */
const runsIn = ({ ended }: AnyEvent): string[] =>
  Array.isArray(ended) ? ended.flatMap((one: { runId?: unknown }) => (typeof one?.runId === 'string' ? [one.runId] : [])) : []

export const rowOf = (commit: Commit, before: { writer: string } | undefined): Row => {
  const { seq, at, epoch, writer, inputs, refused = [], states, crash, quarantine, revived, claim, notes = [] } = commit
  const host = [
    ...(claim && before && before.writer !== writer ? ['taken over'] : []),
    ...(crash ? [`crashed: ${crash.message}`] : []),
    ...(quarantine ? [`set aside: ${quarantine.message}`] : []),
    ...(revived ? ['revived'] : []),
  ]
  const refusals = refused.map(({ input, error }): Mark => ({ ...markOf(input), kind: 'error', event: `refused: ${error.message}` }))
  return { seq, at, epoch, writer, marks: [...inputs.map(markOf), ...refusals], states, living: undefined, ended: notes.flatMap(runsIn), host }
}
