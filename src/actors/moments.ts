/** Where the crash points that lie around a commit are hit. Those inside of a model or tool call are hit there. */
import type { FailPoint } from '../contracts/environment.ts'
import type { Commit, Input } from '../contracts/journal.ts'
import type { Moment } from './root.ts'

type Effect = 'model' | 'tool' | undefined

const effectOf = (input: Input): Effect => {
  if (!('from' in input) || input.event.type !== 'xstate.promise.resolve') return undefined
  const kind = (input.event.data as { kind?: string } | null)?.kind
  return kind === 'model' || kind === 'tool' ? kind : undefined
}

/** The last answer of a turn: a model result without calls. */
const isFinal = (input: Input): boolean =>
  effectOf(input) === 'model' && 'from' in input && (input.event.data as { calls: unknown[] }).calls.length === 0

const fromOutside = (input: Input, type?: string): boolean =>
  !('timer' in input) && !('from' in input) && (type === undefined || input.event.type === type)

const waits = (commit: Commit): boolean =>
  Object.values(commit.states).some((state) => state === 'awaiting-input') && Object.keys(commit.states).some((path) => /\/tool-\d+#\d+$/.test(path))

const table: [FailPoint, Moment, (commit: Commit) => boolean][] = [
  ['K01', 'received', ({ inputs }) => inputs.some((input) => fromOutside(input))],
  ['K19', 'received', ({ inputs }) => inputs.some((input) => fromOutside(input, 'cancel'))],
  ['K12', 'received', ({ inputs }) => inputs.some((input) => effectOf(input) === 'tool')],
  ['K14', 'received', ({ inputs }) => inputs.some(isFinal)],
  ['K17', 'received', ({ claim, create }) => claim === true && create === undefined],
  ['K17', 'appended', ({ claim, create }) => claim === true && create === undefined],
  ['K03', 'appended', ({ inputs }) => inputs.some((input) => fromOutside(input))],
  ['K04', 'appended', ({ inputs }) => inputs.some((input) => fromOutside(input, 'message'))],
  ['K13', 'appended', ({ inputs }) => inputs.some((input) => effectOf(input) === 'tool')],
  ['K15', 'appended', ({ inputs }) => inputs.some(isFinal)],
  ['K18', 'done', waits],
]

export const failPointsAt = (moment: Moment, commit: Commit): FailPoint[] =>
  table.filter(([, at, applies]) => at === moment && applies(commit)).map(([name]) => name)
