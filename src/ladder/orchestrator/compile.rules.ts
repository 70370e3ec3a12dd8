/** What the names in the chart of a session mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, sendTo, setup } from 'xstate'
import { type LadderErrorBody, wordsOf } from '../errors.ts'
import type { RunEnd } from '../run.rules.ts'
import { type Compaction, compactionOf } from './compaction.rules.ts'
import { chartOf, summaryActor, turnActor } from './session.chart.rules.ts'
import {
  type Answer,
  answered,
  begun,
  type Ended,
  endOf,
  isForeign,
  isKnown,
  opened,
  type Persisted,
  type Plan,
  planned,
  rangeIn,
  type SessionRequest,
  type SessionRun,
  turned,
  turnRunId,
  withdrawn,
} from './session.context.ts'

type SessionParts = { actors: Readonly<Record<string, AnyActorLogic>>; now: () => number }
type Done = EventObject & { output?: unknown; error?: unknown }
type Cancel = EventObject & { request?: string; reason?: string }
type Word = { type: string } & Record<string, unknown>
type Scope = { context: SessionRun; event: EventObject }

/** ms between two looks at a lock. */
const momentMs = 100
/** ms that an agent is given to end when it has taken too long. */
const graceMs = 1_000

const outputOf = <Value>(event: EventObject): Value => (event as Done).output as Value
const endedOf = <Value>(event: EventObject): Ended<Value> => outputOf<Ended<Value>>(event)
const valueOf = <Value>(event: EventObject): Value => (endedOf<Value>(event) as { value: Value }).value
const errorOf = (event: EventObject): LadderErrorBody | undefined => {
  const ended = endedOf<unknown>(event) as Ended<unknown> | undefined
  return ended?.ended === 'failed' ? ended.error : undefined
}

export const sessionMachine = (name: string, { actors, now }: SessionParts): AnyStateMachine => {
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
  const tellOfTurn = (type: string, more: (run: SessionRun, event: EventObject) => object = () => ({})) =>
    enqueueActions(({ context, event, enqueue }) => {
      const run = context as SessionRun
      if (run.turn?.request.wants === 'turn') enqueue.emit(word(type, run, more(run, event)) as never)
    })
  const answer = (status: Answer['status']) => assign(({ context }: Scope) => answered(context, status, now()))
  const failing = (what: (run: SessionRun, event: EventObject) => LadderErrorBody | undefined) =>
    assign(({ context, event }: Scope) => {
      const error = what(context, event)
      return turned(context, error ? { error } : {})
    })
  const broken = (what: string, thrown: unknown): LadderErrorBody => ({
    code: 'ORCHESTRATOR_FAILED',
    category: 'execution',
    message: `${what} of '${name}' failed: ${wordsOf(thrown)}`,
    context: {},
  })
  const cancelled = ({ sessionId }: SessionRun, event: EventObject): LadderErrorBody => ({
    code: 'ORCHESTRATOR_CANCELLED',
    category: 'cancelled',
    message: `a turn of '${name}' was cancelled`,
    context: { sessionId, reason: (event as Cancel).reason ?? null },
  })
  const drift = ({ sessionId, turn }: SessionRun): LadderErrorBody => ({
    code: 'ORCHESTRATOR_DRIFT',
    category: 'drift',
    message: `the session '${sessionId}' was stored by another definition of '${name}'`,
    hint: 'execute with force: true, delete the session, or mend the signature of its row through the store',
    context: { sessionId, savedSignature: turn?.plan?.savedSignature ?? null, currentSignature: turn?.plan?.signature ?? null },
  })
  const failedPhase = ({ turn }: SessionRun): string => (turn?.compaction ? 'onCompact' : 'summarize')
  const compactionError = (event: EventObject): LadderErrorBody => {
    const summary = (event as Done).output as RunEnd | undefined
    return errorOf(event) ?? summary?.error ?? broken('a compaction', (event as Done).error ?? 'it has taken too long, or was cancelled')
  }
  const isDrifted = ({ turn }: SessionRun): boolean =>
    turn?.request.wants === 'turn' &&
    turn.request.force !== true &&
    turn.plan?.found === true &&
    turn.plan.savedSignature !== turn.plan.signature
  const isUnderWay = ({ context, event }: Scope): boolean => {
    const { request } = event as Cancel
    return request === undefined || request === context.turn?.request.id
  }
  return setup({
    types: { context: {} as SessionRun, input: {} as { sessionId: string }, emitted: {} as Word },
    actors: actors as Record<string, never>,
    actions: {
      enqueue: assign(({ context, event }) => ({ queue: [...context.queue, (event as unknown as { request: SessionRequest }).request] })),
      withdraw: assign(({ context, event }) => withdrawn(context, (event as Cancel).request ?? '', cancelled(context, event), now())),
      begin: assign(({ context }) => begun(context, now())),
      tellStarting: tellOfTurn('turn.starting'),
      plan: assign(({ context, event }) => planned(context, valueOf<Plan>(event))),
      tellLoaded: enqueueActions(({ context, enqueue }) => {
        const run = context as SessionRun
        if (run.turn?.request.wants !== 'turn') return
        enqueue.emit(word('session.loaded', run, { found: run.turn.plan?.found }))
        enqueue.emit(word('drift.checked', run, { signature: run.turn.plan?.signature, drifted: run.turn.plan?.found === true && run.turn.plan.savedSignature !== run.turn.plan.signature }))
      }),
      wait: assign(({ context }) => turned(context, { waitUntil: now() + (context.turn?.plan?.lockMaxMs ?? 0) })),
      tellWaiting: tellOfTurn('lock.waiting', () => ({ waitedMs: 0 })),
      takeKnown: assign(({ context, event }) => {
        const ended = endedOf<Readonly<Record<string, unknown>> | undefined>(event)
        return turned(context, ended.ended === 'completed' && ended.value ? { known: ended.value } : {})
      }),
      tellWindows: tell('history.windowed', ({ turn }) => ({ messageCount: turn?.request.history?.agents.length ?? 0 })),
      place: assign(({ context }) => turned(context, { isPlaced: true })),
      /** For whoever follows it; users hear what comes of it. */
      tellPlace: emit(({ context }) => ({ type: 'turn.placed', runId: context.turn?.request.id, turnRunId: turnRunId(context) })),
      tryNext: assign(({ context }) => turned(context, { attempt: (context.turn?.attempt ?? 1) + 1 })),
      tellTurnToStop: sendTo(turnActor, ({ event }) => ({ type: 'cancel', reason: (event as Cancel).reason })),
      takeTurn: assign(({ context, event }) => turned(context, { end: endOf(context, outputOf<RunEnd>(event), now()) })),
      takeFailure: failing((_, event) => outputOf<RunEnd>(event).error),
      breakTurn: failing((run, event) => {
        const { code, message } = ((event as Done).error ?? {}) as { code?: string; message?: string }
        return code === 'drift'
          ? { ...drift(run), message: `the turn that was under way in '${run.sessionId}' was begun by another definition: ${message}` }
          : broken('a turn', (event as Done).error)
      }),
      persist: assign(({ context, event }) => turned(context, { persisted: valueOf<Persisted>(event) })),
      tellPersisted: tell('checkpoint.persisted', (_, event) => ({ lastRoute: valueOf<Persisted>(event).route })),
      noteAsked: assign(({ context }) => turned(context, { isAsked: true })),
      noteLocked: failing(({ turn, sessionId }) =>
        turn?.request.wants === 'compaction'
          ? { ...broken('a compaction', 'another one is under way'), context: { sessionId }, hint: 'command it again when that one has ended' }
          : undefined,
      ),
      tellSummaryToStop: sendTo(summaryActor, { type: 'cancel', reason: 'it has taken too long' }),
      takeSummary: assign(({ context, event }) => {
        const { data } = outputOf<RunEnd>(event)
        const range = rangeIn(context)
        return range ? turned(context, { compaction: compactionOf(typeof data === 'string' ? data : JSON.stringify(data), range) }) : {}
      }),
      takeCompaction: assign(({ context, event }) => turned(context, { compaction: valueOf<Compaction>(event) })),
      tellSuggested: tellOfTurn('compaction.suggested', ({ turn }) => ({ compaction: turn?.compaction })),
      apply: assign(({ context }) => turned(context, { isApplied: true })),
      tellApplied: tellOfTurn('compaction.applied', ({ turn }) => ({
        replacesFromIndex: turn?.compaction?.replacesFromIndex,
        replacesToIndex: turn?.compaction?.replacesToIndex,
      })),
      /** Only a command fails by it. */
      skipCompaction: failing(({ turn }, event) => (turn?.request.wants === 'compaction' ? compactionError(event) : undefined)),
      tellSkipped: tellOfTurn('compaction.failed', (run, event) => ({ phase: failedPhase(run), error: compactionError(event) })),
      fail: failing((_, event) => errorOf(event)),
      refuse: failing(drift),
      cancel: failing(cancelled),
      breakDown: failing((_, event) => broken('what a session needs', (event as Done).error)),
      tellAwaiting: tellOfTurn('turn.awaiting-input'),
      tellCompleted: tellOfTurn('turn.completed'),
      tellFailed: tellOfTurn('turn.failed', ({ turn }) => ({ error: turn?.error })),
      tellCancelled: tellOfTurn('turn.cancelled', ({ turn }) => ({ error: turn?.error })),
      answerAwaiting: answer('awaiting-input'),
      answerCompleted: answer('completed'),
      answerCancelled: answer('cancelled'),
      answerFailed: assign(({ context }) =>
        answered(context, context.turn?.error?.code === 'SUPERVISOR_MAX_ITERATIONS' ? 'max-iterations' : 'failed', now()),
      ),
    },
    guards: {
      'is known': ({ context, event }) => isKnown(context, (event as unknown as { request: SessionRequest }).request.id),
      'is queued': ({ context, event }) => context.queue.some(({ id }) => id === (event as Cancel).request),
      'is under way': ({ context, event }) => isUnderWay({ context, event }),
      'has requests': ({ context }) => context.queue.length > 0,
      'has failed': ({ event }) => errorOf(event) !== undefined,
      'has drifted': ({ context }) => isDrifted(context),
      'is locked': ({ context }) => (context.turn?.plan?.lockedUntil ?? 0) > now(),
      'is locked still': ({ context, event }) => {
        const ended = endedOf<number | null>(event)
        return ended.ended === 'completed' && (ended.value ?? 0) > now() && now() < (context.turn?.waitUntil ?? 0)
      },
      'is to compact': ({ context }) => context.turn?.request.wants === 'compaction' && context.turn.plan?.range !== undefined,
      'has nothing to compact': ({ context }) => context.turn?.request.wants === 'compaction',
      recalls: ({ context }) => context.turn?.plan?.recalls === true,
      'is of another request': ({ context, event }) => isForeign(context, outputOf<RunEnd>(event)),
      'turn has failed': ({ event }) => outputOf<RunEnd>(event).error !== undefined,
      'has something to compact': ({ event }) => valueOf<Persisted>(event).range !== undefined,
      'is locked by others': ({ event }) => valueOf<boolean>(event) === false,
      'asks an agent': ({ context }) => context.turn?.plan?.asksSummarizer === true,
      'summary has failed': ({ event }) => outputOf<RunEnd>(event).error !== undefined,
      'is a command': ({ context }) => context.turn?.request.wants === 'compaction',
      'is a failed command': ({ context }) => context.turn?.request.wants === 'compaction' && context.turn.error !== undefined,
      'was applied': ({ event }) => valueOf<boolean>(event),
      'is over': ({ context }) => context.turn?.request.wants === 'compaction' || context.turn?.persisted?.isOver === true,
      'was cancelled': ({ context }) => context.turn?.error?.category === 'cancelled',
    },
    delays: {
      'a moment': ({ context }) => Math.max(0, Math.min(momentMs, (context.turn?.waitUntil ?? 0) - now())),
      'longest compaction': ({ context }) => context.turn?.plan?.lockMaxMs ?? 0,
      'a little longer': ({ context }) => (context.turn?.plan?.lockMaxMs ?? 0) + graceMs,
    },
  }).createMachine({
    ...chartOf(name),
    context: ({ input }: { input: { sessionId: string } }) => opened(input.sessionId),
  } as never) as unknown as AnyStateMachine
}
