/** What is said with each call of an orchestrator, and what comes back. */
import type { Result } from '../envelope.ts'
import { anything, flag, type KindsOf, record, signal, text } from '../given.ts'
import type { HistoryMessage } from '../history.rules.ts'
import { callerKinds, type ExecuteOptions } from '../options.ts'
import type { Compaction } from './compaction.rules.ts'
import type { OrchestratorReport } from './report.rules.ts'

export const resumeKinds: KindsOf<ResumeOptions> = { ...callerKinds, requestId: text }
export const turnKinds: KindsOf<TurnOptions> = {
  ...callerKinds,
  sessionId: anything,
  history: anything,
  state: record('{ count: 1 }'),
  force: flag,
  requestId: anything,
}
export const compactKinds: KindsOf<CompactOptions> = { sessionId: anything, history: anything, signal }

type Caller = Pick<ExecuteOptions, 'context' | 'signal' | 'on'>

export type TurnOptions<State = Record<string, unknown>> = Caller & {
  sessionId: string
  /** All that was said in the session, which its caller keeps; empty at first. It is never part of what is stored of the session. */
  history: readonly HistoryMessage[]
  /** Added to the state before the turn is routed. */
  state?: Partial<State>
  /** Goes on although the session was stored by another definition. */
  force?: boolean
  /**
   * Names the turn: executing it again with the same input attaches to it, as long as it is among the newest of its session, and never begins it twice; another
   * input is refused. Default: a new one.
   */
  requestId?: string
}

/** What it brought along is not stored, so it is brought along again. @property requestId which turn, where several are under way. Default: the oldest */
export type ResumeOptions = Caller & { requestId?: string }

export type CompactOptions = { sessionId: string; history: readonly HistoryMessage[]; signal?: AbortSignal }

/**
 * @property turnIndex from 0 @property compaction what may stand in the place of older messages, where nobody has applied it yet
 * @property report its `turns` are this one and those before it
 */
export type TurnResult<Data> = Omit<Result<Data>, 'report'> & {
  sessionId: string
  turnIndex: number
  compaction?: Compaction
  report: OrchestratorReport
}
