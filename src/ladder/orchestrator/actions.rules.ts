/** What the actions in the chart of a session mean. */
import { assign, type EventObject, emit, enqueueActions, sendTo } from 'xstate'
import { errorBody, type LadderErrorBody, wordsOf } from '../errors.ts'
import { codeMaxMs } from '../in-time.ts'
import type { RunEnd } from '../run.rules.ts'
import { type Compaction, compactionOf } from './compaction.rules.ts'
import { lockActions } from './lock-actions.rules.ts'
import { cancelledTurn, queueActions } from './queue.rules.ts'
import { summaryActor, turnActor } from './session.chart.rules.ts'
import {
  type Answer,
  answered,
  begun,
  endOf,
  hasDrifted,
  type Persisted,
  type Plan,
  planned,
  type Recalled,
  rangeIn,
  type SessionRun,
  turned,
  turnRunId,
} from './session.context.ts'
import { type Cancel, endedOf, errorOf, madeOf, outputOf, thrownIn } from './session.events.rules.ts'

type Word = { type: string } & Record<string, unknown>
type Scope = { context: SessionRun; event: EventObject }

/** Their types are those of the machine that takes them. */
export const sessionActions = (name: string, now: () => number, toldOf: (sessionId: string, answer: Answer) => void): Record<string, never> => {
  /** Of the turn that is under way. */
  const word = (type: string, { sessionId, turn }: SessionRun, more: object = {}): Word => ({
    type: `orchestrator.${type}`,
    runId: turn?.request.id,
    rootRunId: turn?.request.id,
    sessionId,
    ...(turn?.plan && { turnIndex: turn.plan.turnIndex }),
    ...more,
  })
  const tell = (type: string, more: (run: SessionRun, event: EventObject) => object = () => ({})) =>
    emit(({ context, event }: Scope) => word(type, context, more(context, event)))
  /** A command tells nothing: it is no turn. */
  const tellOfTurn = (
    type: string,
    more: (run: SessionRun, event: EventObject) => object = () => ({}),
    when: (run: SessionRun) => boolean = () => true,
  ) =>
    enqueueActions(({ context, event, enqueue }) => {
      const run = context as SessionRun
      if (run.turn?.request.wants === 'turn' && when(run)) enqueue.emit(word(type, run, more(run, event)))
    })
  const answer = (status: Answer['status']) => assign(({ context }: Scope) => answered(context, status, now()))
  const failing = (what: (run: SessionRun, event: EventObject) => LadderErrorBody | undefined) =>
    assign(({ context, event }: Scope) => {
      const error = what(context, event)
      return turned(context, error ? { error } : {})
    })
  const ended = ({ turn, ...run }: SessionRun, { isOver = false, warning }: { isOver?: boolean; warning?: string }): Partial<SessionRun> =>
    turn?.persisted
      ? turned(
          { ...run, turn },
          { persisted: { ...turn.persisted, isOver, warnings: [...turn.persisted.warnings, ...(warning === undefined ? [] : [warning])] } },
        )
      : {}
  const broken = (what: string, thrown: unknown): LadderErrorBody =>
    errorBody('ORCHESTRATOR_FAILED', `${what} of '${name}' failed: ${wordsOf(thrown)}`, { cause: thrown })
  const drift = ({ sessionId, turn }: SessionRun): LadderErrorBody =>
    errorBody('ORCHESTRATOR_DRIFT', `the session '${sessionId}' was stored by another definition of '${name}'`, {
      hint: 'execute with force: true, delete the session, or mend the signature of its row through the store',
      context: { sessionId, savedSignature: turn?.plan?.savedSignature ?? null, currentSignature: turn?.plan?.signature ?? null },
    })
  /** Its session is not outdated: the next turn begins with the row before it. */
  const outdated = (run: SessionRun, message: string | undefined): LadderErrorBody => {
    const runId = turnRunId(run)
    return {
      ...drift(run),
      message: `the turn that was under way in '${run.sessionId}' was begun by another definition: ${message}`,
      hint: `ask again as another request; what was done stands in the journal of the run '${runId}', which delete() of the session, or its retention, removes`,
      context: { ...drift(run).context, turnRunId: runId },
    }
  }
  const failedPhase = ({ turn }: SessionRun): string => (turn?.compaction ? 'onCompact' : 'summarize')
  const compactionError = (event: EventObject): LadderErrorBody => {
    const summary = outputOf<RunEnd | undefined>(event)
    return errorOf(event) ?? summary?.error ?? broken('a compaction', thrownIn(event) ?? 'it has taken too long, or was cancelled')
  }
  const taking = (change: (run: SessionRun, event: EventObject) => Partial<SessionRun>) =>
    assign(({ context, event }: Scope) => change(context, event))
  return {
    ...queueActions(name, now),
    begin: taking((context) => begun(context, now())),
    tellStarting: tellOfTurn('turn.starting'),
    plan: taking((context, event) => planned(context, madeOf<Plan>(event), now())),
    ...lockActions(name, now, tellOfTurn),
    tellLoaded: enqueueActions(({ context, enqueue }) => {
      const run = context as SessionRun
      if (run.turn?.request.wants !== 'turn') return
      enqueue.emit(word('session.loaded', run, { found: run.turn.plan?.found }))
      enqueue.emit(word('drift.checked', run, { signature: run.turn.plan?.signature, drifted: hasDrifted(run) }))
    }),
    wait: taking((context) => turned(context, { waitUntil: now() + (context.turn?.plan?.lockMaxMs ?? 0) })),
    tellWaiting: tellOfTurn('lock.waiting', () => ({ waitedMs: 0 })),
    takeKnown: taking((context, event) => {
      const ended = endedOf<Recalled>(event)
      const { known, warning } = ended.ended === 'completed' ? ended.value : { warning: ended.error.message }
      return turned(context, { ...(known && { known }), ...(warning !== undefined && { warnings: [warning] }) })
    }),
    tellWindows: tell('history.windowed', ({ turn }) => ({ messageCount: turn?.request.history?.agents.length ?? 0 })),
    place: taking((context) => turned(context, { isPlaced: true })),
    /** For whoever follows it; users hear what comes of it. */
    tellPlace: emit(({ context }: Scope) => ({ type: 'turn.placed', runId: context.turn?.request.id, turnRunId: turnRunId(context) })),
    tryNext: taking((context) => turned(context, { attempt: (context.turn?.attempt ?? 1) + 1 })),
    tellTurnToStop: sendTo(turnActor, ({ event }) => ({ type: 'cancel', reason: (event as Cancel).reason })),
    takeTurn: taking((context, event) => turned(context, { end: endOf(context, outputOf<RunEnd>(event), now()) })),
    takeFailure: failing((_, event) => ofTurn(outputOf<RunEnd>(event).error)),
    breakTurn: failing((run, event) => {
      const { code, message } = (thrownIn(event) ?? {}) as { code?: string; message?: string }
      return code === 'drift' ? outdated(run, message) : broken('a turn', thrownIn(event))
    }),
    persist: taking((context, event) => turned(context, { persisted: madeOf<Persisted>(event) })),
    tellPersisted: tell('checkpoint.persisted', (_, event) => ({ lastRoute: madeOf<Persisted>(event).route })),
    takeEnd: taking((context, event) => {
      const error = errorOf(event) ?? (thrownIn(event) === undefined ? undefined : broken('endsWhen', thrownIn(event)))
      return ended(context, error ? { warning: error.message } : { isOver: madeOf<boolean>(event) })
    }),
    giveUpEnd: taking((context) => ended(context, { warning: `endsWhen failed: it has taken more than ${codeMaxMs} ms` })),
    noteAsked: taking((context) => turned(context, { isAsked: true })),
    noteLocked: failing(({ turn, sessionId }) =>
      turn?.request.wants === 'compaction'
        ? { ...broken('a compaction', 'another one is under way'), context: { sessionId }, hint: 'command it again when that one has ended' }
        : undefined,
    ),
    tellSummaryToStop: sendTo(summaryActor, { type: 'cancel', reason: 'it has taken too long' }),
    takeSummary: taking((context, event) => {
      const { data } = outputOf<RunEnd>(event)
      const range = rangeIn(context)
      return range ? turned(context, { compaction: compactionOf(typeof data === 'string' ? data : JSON.stringify(data), range) }) : {}
    }),
    takeCompaction: taking((context, event) => turned(context, { compaction: madeOf<Compaction>(event) })),
    tellSuggested: tellOfTurn('compaction.suggested', ({ turn }) => ({ compaction: turn?.compaction })),
    apply: taking((context) => turned(context, { isApplied: true })),
    tellApplied: tellOfTurn('compaction.applied', ({ turn }) => ({
      replacesFromIndex: turn?.compaction?.replacesFromIndex,
      replacesToIndex: turn?.compaction?.replacesToIndex,
    })),
    /** Only a command fails by it. */
    skipCompaction: failing(({ turn }, event) => (turn?.request.wants === 'compaction' ? compactionError(event) : undefined)),
    tellSkipped: tellOfTurn('compaction.failed', (run, event) => ({ phase: failedPhase(run), error: compactionError(event) })),
    fail: failing((_, event) => errorOf(event)),
    refuse: failing(drift),
    cancel: failing((run, event) => cancelledTurn(name, run, event)),
    breakDown: failing((_, event) => broken('what a session needs', thrownIn(event))),
    tellAwaiting: tellOfTurn('turn.awaiting-input'),
    tellCompleted: tellOfTurn('turn.completed'),
    tellFailed: tellOfTurn('turn.failed', ({ turn }) => ({ error: turn?.error })),
    tellCancelled: tellOfTurn('turn.cancelled', ({ turn }) => ({ error: turn?.error })),
    answerAwaiting: answer('awaiting-input'),
    /** Whoever observes turns gets the report of this one, which was answered last. */
    observe: ({ context: { sessionId, answers } }: Scope) => {
      const last = answers.at(-1)
      if (last?.wants === 'turn') toldOf(sessionId, last)
    },
    answerCompleted: answer('completed'),
    answerCancelled: answer('cancelled'),
    answerFailed: taking((context) =>
      answered(context, context.turn?.error?.code === 'SUPERVISOR_MAX_ITERATIONS' ? 'max-iterations' : 'failed', now()),
    ),
  } as unknown as Record<string, never>
}

/** The run of a turn is gone on with by nobody: what a run says of that means another turn. */
const ofTurn = (error: LadderErrorBody | undefined): LadderErrorBody | undefined =>
  // Journals of before have errors without a hint.
  error && (error as Partial<LadderErrorBody>).hint?.includes('resume(')
    ? { ...error, hint: 'nothing of the turn was stored: see what the message and cause say, then execute it again, with another requestId' }
    : error
