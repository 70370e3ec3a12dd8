/** Where the crash points that lie around a commit are hit. Those inside of a model or tool call are hit there. */
import type { FailPoint } from '../../contracts/environment.ts'
import type { Commit, Input } from '../../contracts/journal.ts'
import type { CommitPhase } from './root-host.ts'

const fromOutside = (input: Input, type?: string): boolean =>
  !('timer' in input) && !('from' in input) && (type === undefined || input.event.type === type)

const ended = (type: string): boolean => type === 'xstate.promise.resolve' || type === 'xstate.promise.reject'

/** What a tool answered, an error included. What it merely tells on the way is no reply. */
const isToolReply = (input: Input): boolean => 'from' in input && ended(input.event.type) && /\/tool-\d+#\d+\/execute#\d+$/.test(input.from)

const some = (commit: Commit, path: RegExp, states: readonly unknown[]): boolean =>
  Object.entries(commit.states).some(([at, state]) => path.test(at) && states.includes(state))

/** A turn that came to its end in this commit, whatever brought it there: a last answer, an error, a cancel. */
const endsTurn = (commit: Commit): boolean => some(commit, /^\/turn#\d+$/, ['completed', 'failed', 'cancelled'])

const takesOver = ({ claim, create }: Commit): boolean => claim === true && create === undefined

const table: [FailPoint, CommitPhase, (commit: Commit) => boolean][] = [
  ['K01', 'received', ({ inputs }) => inputs.some((input) => fromOutside(input))],
  ['K19', 'received', ({ inputs }) => inputs.some((input) => fromOutside(input, 'cancel'))],
  ['K12', 'received', ({ inputs }) => inputs.some(isToolReply)],
  ['K14', 'received', (commit) => some(commit, /^\/turn#\d+$/, ['completed'])],
  ['K17', 'received', takesOver],
  ['K17', 'appended', takesOver],
  ['K03', 'appended', ({ inputs }) => inputs.some((input) => fromOutside(input))],
  // Reading and accepting are one commit here; no effect of the turn has begun yet, or the message waits behind another turn.
  ['K04', 'appended', ({ inputs }) => inputs.some((input) => fromOutside(input, 'message'))],
  ['K13', 'appended', ({ inputs }) => inputs.some(isToolReply)],
  ['K15', 'appended', endsTurn],
  ['K18', 'done', (commit) => some(commit, /\/tool-\d+#\d+$/, ['awaiting-input'])],
]

export const failPointsAt = (phase: CommitPhase, commit: Commit): FailPoint[] =>
  table.filter(([, at, applies]) => at === phase && applies(commit)).map(([name]) => name)
