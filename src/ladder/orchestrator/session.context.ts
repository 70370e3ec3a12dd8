/** What a session remembers: who waits, the turn that is under way, and what became of the newest ones. What it is about stands in rows of the store. Pure. */
import type { LadderErrorBody } from '../errors.ts'
import type { HistoryMessage, RunHistory } from '../history.rules.ts'
import type { RunEnd, RunInput } from '../run.rules.ts'
import type { IterationRecord } from '../supervisor/supervisor.context.ts'
import { type Compaction, type Foldable, type Range, summaryQuestion } from './compaction.rules.ts'
import { runName, type TurnRuns, withTurn } from './runs.rules.ts'

/** What somebody wants of the session: a turn, or that its history is summarised. */
export type SessionRequest = {
  /** Also the id of the run that it becomes. */
  id: string
  wants: 'turn' | 'compaction'
  input?: unknown
  /** What it was given, so that another input under the same name is told. */
  inputHash?: string
  /** Added to the state that the turn begins with. */
  state?: Readonly<Record<string, unknown>>
  /** As those read it who work in the turn. */
  history?: RunHistory
  /** The part of the history that a compaction may stand for. */
  foldable?: readonly HistoryMessage[]
  /** Place of its first message in the history. Default: 0. */
  foldableFrom?: number
  force?: boolean
  inside?: RunInput['inside']
}

/** What a turn begins with, and all that the definition decides about its phases: so a change of it changes none that is under way. */
export type Plan = {
  found: boolean
  turnIndex: number
  state: unknown
  signature: string
  version: string | null
  savedSignature: string | null
  summarizedThrough: number | null
  /** ms since the epoch; null where nobody summarises its history. */
  lockedUntil: number | null
  /** ms that a turn waits for that, and that it may take. */
  lockMaxMs: number
  recalls: boolean
  /** Code says whether the session is over. */
  asksEnd: boolean
  /** An agent summarises. */
  asksSummarizer: boolean
  /** Of a request to compact: what. */
  range?: Range
  /** ms for which the lock of the caller is given; absent where there is none. */
  lockTtlMs?: number
}

/** Somebody else holds the lock of the caller. */
export type Held = { isHeld: true; maxWaitMs: number }

/** @property runsFrom runs of earlier turns were forgotten */
export type Persisted = {
  route: string | readonly string[] | null
  isOver: boolean
  range?: Range
  runsFrom?: number
  warnings: readonly string[]
}

/** What a memory has found, for the context of code. */
export type Recalled = { known?: Readonly<Record<string, unknown>>; warning?: string }

/** What code of the session came to. */
export type Ended<Value> = { ended: 'completed'; value: Value } | { ended: 'failed'; error: LadderErrorBody }

/** How a turn has ended, as far as the next one and the store have to know it. */
type TurnEnd = Pick<RunEnd, 'data'> & { state: unknown; route: Persisted['route']; iteration?: IterationRecord; endedAt: number }

type Turn = {
  request: SessionRequest
  /** ms since the epoch */
  startedAt: number
  /** Runs of this turn: the one before has failed or was cancelled, and its name is taken. */
  attempt: number
  plan?: Plan
  waitUntil?: number
  /** It waits for the lock of the caller. ms since the epoch */
  lockWait?: { since: number; until: number }
  /** It holds that lock, or may. @property until ms since the epoch */
  lease?: { ttlMs: number; until: number } | undefined
  /** It is released, and what comes after that is no failure. */
  isSettled?: boolean
  /** Why it could not be released. */
  lockWarning?: string
  /** What was recalled. */
  known?: Readonly<Record<string, unknown>>
  /** What went wrong and did not keep it from going on. */
  warnings?: readonly string[]
  /** The turn was begun. */
  isPlaced?: boolean
  end?: TurnEnd
  persisted?: Persisted
  compaction?: Compaction
  isApplied?: boolean
  /** Its history is being summarised by an agent, or was. */
  isAsked?: boolean
  error?: LadderErrorBody
}

/** What became of a request. Its data and report are those of the turn's own actor. */
export type Answer = {
  id: string
  wants: SessionRequest['wants']
  inputHash?: string
  /** `withdrawn`: its turn had not begun. */
  status: 'awaiting-input' | 'completed' | 'failed' | 'cancelled' | 'max-iterations' | 'withdrawn'
  turnIndex?: number
  signature?: string
  version?: string | null
  turnRunId?: string
  summaryRunId?: string
  compaction?: Compaction
  warnings?: readonly string[]
  error?: LadderErrorBody
  inside?: RunInput['inside']
  startedAt: number
  endedAt: number
}

/** A turn beside others, as its session knows it: what it works on stands in an actor of its own. */
export type TurnBeside = {
  /** In the session. */
  actor: string
  request: Pick<SessionRequest, 'id' | 'wants' | 'inputHash' | 'inside'>
  startedAt: number
  attempt: number
  /** Once it is loaded. */
  plan?: Pick<Plan, 'turnIndex' | 'version' | 'signature'>
  isPlaced?: boolean
}

export type SessionRun = {
  sessionId: string
  queue: readonly SessionRequest[]
  turn?: Turn | undefined
  /** Where turns run at the same time: those that are under way, the oldest first. */
  turns?: readonly TurnBeside[]
  answers: readonly Answer[]
  /** Runs of the next turn that came to nothing. */
  spent: { turnIndex: number; attempts: number }
  /** Of turns that are stored. */
  runs?: TurnRuns
  /** Of a turn beside others: runs from this number on are somebody's still. */
  keptFrom?: number
}

/** Answers are kept for whoever asks late or again. */
export const answersMax = 16

export const opened = (sessionId: string): SessionRun => ({ sessionId, queue: [], answers: [], spent: { turnIndex: 0, attempts: 0 } })

type UnderWay = Pick<Turn, 'attempt' | 'isPlaced' | 'end'> & Pick<TurnBeside, 'request' | 'plan'>

/** The turn that is, or those that are: the oldest first. */
export const underWay = ({ turn, turns = [] }: SessionRun): readonly UnderWay[] => (turn ? [turn] : turns)

const requestsOf = (run: SessionRun) => [...underWay(run).map(({ request }) => request), ...run.queue, ...run.answers]

/** Of a request that was taken. */
export const inputHashIn = (run: SessionRun, id: string): string | undefined => requestsOf(run).find((one) => one.id === id)?.inputHash

/** Whether a request was taken already. */
export const isKnown = (run: SessionRun, id: string): boolean => requestsOf(run).some((one) => one.id === id)

export const begun = ({ queue: [request, ...queue] }: SessionRun, at: number): Partial<SessionRun> =>
  request ? { queue, turn: { request, startedAt: at, attempt: 1 } } : {}

export const turned = ({ turn }: SessionRun, change: Partial<Turn>): Partial<SessionRun> => (turn ? { turn: { ...turn, ...change } } : {})

export const planned = ({ turn, spent }: SessionRun, plan: Plan, at: number): Partial<SessionRun> =>
  turn
    ? {
        turn: {
          ...turn,
          plan,
          attempt: spent.turnIndex === plan.turnIndex ? spent.attempts + 1 : 1,
          ...(plan.lockTtlMs !== undefined && { lease: { ttlMs: plan.lockTtlMs, until: at + plan.lockTtlMs } }),
        },
      }
    : {}

/** ms until the lock of the caller is asked for again: longer and longer, a second at most. */
export const nextTryMs = ({ turn }: SessionRun, at: number): number => {
  const { since, until } = turn?.lockWait ?? { since: at, until: at }
  return Math.max(0, Math.min(Math.max(100, (at - since) / 2), 1000, until - at))
}

export const turnRunId = ({
  sessionId,
  turn,
}: Pick<SessionRun, 'sessionId'> & { turn?: Pick<TurnBeside, 'plan' | 'attempt'> | undefined }): string => {
  const { version = null, turnIndex = 0 } = turn?.plan ?? {}
  return runName(sessionId, version, turnIndex, turn?.attempt ?? 1)
}

export const summaryRunId = ({ turn }: { turn?: Pick<UnderWay, 'request'> | undefined }): string => `${turn?.request.id}/summary`

/** Where the runs of a turn stand: the turn itself is called as its request, and is their root wherever it was asked for. */
const insideOf = ({ turn }: SessionRun) => ({ rootRunId: turn?.request.id ?? '', parentRunId: turn?.request.id ?? '', isRoot: true as const })

/** What is to be compacted, after a turn or as it was commanded. */
export const rangeIn = ({ turn }: SessionRun): Range | undefined => turn?.persisted?.range ?? turn?.plan?.range

export const foldableIn = (request: SessionRequest | undefined): Foldable => ({ messages: request?.foldable ?? [], from: request?.foldableFrom ?? 0 })

/** What the agent is given that summarises. */
export const summaryInput = (run: SessionRun): RunInput => ({
  runId: summaryRunId(run),
  input: summaryQuestion(foldableIn(run.turn?.request), rangeIn(run) ?? { from: 0, to: -1 }),
  inside: insideOf(run),
})

/** It was stored by another definition. A command does not care. */
export const hasDrifted = ({ turn }: SessionRun): boolean =>
  turn?.request.wants === 'turn' && turn.plan?.found === true && turn.plan.savedSignature !== turn.plan.signature

/** What the supervisor of the turn is given. */
export const turnInput = (run: SessionRun) => {
  const { turn } = run
  return {
    runId: turnRunId(run),
    input: turn?.request.input,
    state: turn?.plan?.state,
    ...(turn?.request.history && { history: turn.request.history }),
    ...(turn?.known && { known: turn.known }),
    inside: insideOf(run),
  }
}

/** A name that was taken by a turn of another request: it failed, and the session was forgotten since. */
export const isForeign = ({ turn }: SessionRun, { report }: RunEnd): boolean => report.parentRunId !== turn?.request.id

export const endOf = ({ turn }: SessionRun, { data, report }: RunEnd, at: number): TurnEnd => {
  const iteration = (report.iterations as readonly IterationRecord[] | undefined)?.at(-1)
  const next = iteration?.decision.next ?? []
  return {
    data,
    state: iteration?.state ?? data ?? turn?.plan?.state,
    route: next.length === 0 ? null : next.length === 1 ? (next[0] as string) : next,
    ...(iteration && { iteration }),
    endedAt: at,
  }
}

export const withAnswer = ({ answers }: Pick<SessionRun, 'answers'>, answer: Answer) => ({ answers: [...answers, answer].slice(-answersMax) })

/** The turn is over; its answer is kept, and that its run has come to nothing, if so. */
export const answered = (run: SessionRun, status: Answer['status'], at: number): Partial<SessionRun> => {
  const { turn, answers, spent } = run
  if (!turn) return {}
  const { request, plan, isPlaced, isAsked, compaction, isApplied, error, persisted, lockWarning } = turn
  const warnings = [...(persisted?.warnings ?? []), ...(lockWarning === undefined ? [] : [lockWarning])]
  const answer: Answer = {
    id: request.id,
    wants: request.wants,
    ...(request.inputHash !== undefined && { inputHash: request.inputHash }),
    status,
    ...(plan && { turnIndex: plan.turnIndex, signature: plan.signature, version: plan.version }),
    ...(isPlaced && { turnRunId: turnRunId(run) }),
    ...(isAsked && { summaryRunId: summaryRunId(run) }),
    ...(compaction && !isApplied && { compaction }),
    ...(warnings.length > 0 && { warnings }),
    ...(error && { error }),
    ...(request.inside && { inside: request.inside }),
    startedAt: turn.startedAt,
    endedAt: at,
  }
  const isSpent = isPlaced && plan && !persisted
  return {
    turn: undefined,
    ...withAnswer({ answers }, answer),
    spent: isSpent ? { turnIndex: plan.turnIndex, attempts: turn.attempt } : spent,
    ...(persisted &&
      plan && { runs: withTurn(run.runs, { turn: plan.turnIndex, version: plan.version, runs: turn.attempt, from: persisted.runsFrom }) }),
  }
}

/** Somebody who waited for a turn does not want it any more. */
export const withdrawn = ({ queue, answers }: SessionRun, id: string, error: LadderErrorBody, at: number): Partial<SessionRun> => {
  const { wants = 'turn', inputHash } = queue.find((one) => one.id === id) ?? {}
  const answer: Answer = { id, wants, ...(inputHash !== undefined && { inputHash }), status: 'withdrawn', error, startedAt: at, endedAt: at }
  return { queue: queue.filter((one) => one.id !== id), ...withAnswer({ answers }, answer) }
}
