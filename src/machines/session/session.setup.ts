/** The names that the chart in session.machine.ts uses: its guards, actions and actors. */

import { assign, type DoneActorEvent, emit, enqueueActions, fromCallback, fromPromise, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { SideReport } from '../../contracts/beside.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Admission, DeskAnswer, DeskInput, DeskRequest, IncomingMessage, SessionFacts } from '../../contracts/desk.ts'
import type { Message as TranscriptMessage } from '../../contracts/message.ts'
import { queueMax } from '../../contracts/profile.ts'
import type { SessionEvent, SessionOutput } from '../../contracts/session.ts'
import type { ToggleChanges } from '../../contracts/settings.ts'
import type { Approval, SummaryInput, SummaryOutput, TurnOutput } from '../../contracts/turn.ts'
import { sideMachine } from '../side/side.machine.ts'
import { turnMachine } from '../turn/turn.machine.ts'
import type { TurnReport } from '../turn/turn.setup.ts'
import { isAsked } from './approvals.rules.ts'
import { asidesMax, beginAside, endAside, endsAside, stopAsides } from './asides.rules.ts'
import { remind, waitsInLane } from './children.rules.ts'
import { carryOut, isForgotten, joined, mayJoin, withInjected } from './injected.rules.ts'
import { announceTrouble, answerOrder, keepOrder, takeSummary } from './order.rules.ts'
import { answersNothing, modeBeside } from './pending-calls.rules.ts'
import {
  acceptance,
  admitted,
  answeredBy,
  debounceMs,
  enqueued,
  isFull,
  outcomeOf,
  settingsOf,
  steering,
  stoppedBy,
  unanswered,
} from './queue.rules.ts'
import { configured, configuredRecord, keepsJust, noted, startedOver, touched } from './record.rules.ts'
import {
  beginTurn,
  type Decision,
  decided,
  drop,
  endApproval,
  endTurn,
  factsFor,
  questionOf,
  type Refusal,
  type SessionContext,
  started,
  turnSettings,
  withNext,
} from './session.context.ts'

type Reply = Extract<DeskAnswer, { type: 'say' }>
type Event = SessionEvent | DeskAnswer | TurnReport | SideReport | { type: 'debounced' } | DoneActorEvent<TurnOutput, 'turn'>

/** The message that an event is about. */
const message = (event: Event): Admission => event as unknown as Admission
const modeOf = (event: Event, { record, run }: SessionContext) => modeBeside(settingsOf(message(event), record), run?.profile)

export const sessionSetup = setup({
  types: {
    input: {} as { key: string },
    context: {} as SessionContext,
    events: {} as Event,
    emitted: {} as SessionOutput,
  },
  actors: {
    turn: turnMachine,
    /** What another session has said. */
    fork: fromPromise<TranscriptMessage[], { parent: string; session: string }>(notProvided),
    desk: fromCallback<DeskRequest, DeskInput>(() => undefined),
    summarise: fromPromise<SummaryOutput, SummaryInput>(notProvided),
    side: sideMachine,
  },
  guards: {
    /** Without a desk a message is admitted. */
    isForDesk: (_) => false,
    hasResults: ({ event }) => event.type === 'message' && event.toolResults !== undefined,
    answersNothing: ({ context, event }) => answersNothing(context.pending, event),
    /** A message asks for a compaction, rather than a command. */
    isOrdered: ({ event }) => event.type === 'compact' && 'id' in event,
    wantsFork: ({ context, event }) => message(event).parent !== undefined && context.turns === 0 && context.transcriptLength === 0,
    wantsMore: ({ event }) => message(event).gather !== undefined,
    hasInjected: ({ context }) => context.injected !== undefined && mayJoin(context),
    hasQueue: ({ context }) => context.queue.length > 0,
    isReady: ({ context }) => context.queue.length > 0 && context.settled,
    queueFull: ({ context, event }) => isFull(context, settingsOf(message(event), context.record)),
    /** A turn that has taken in its fill leaves the rest to the next one. */
    wantsSteer: ({ context, event }) => modeOf(event, context) === 'steer' && (context.run?.ids.length ?? queueMax) < queueMax,
    wantsBacklog: ({ context, event }) => modeOf(event, context) === 'steer-backlog' && !isFull(context, settingsOf(message(event), context.record)),
    wantsInterrupt: ({ context, event }) => modeOf(event, context) === 'interrupt',
    /** The conversation itself cannot be used any more. */
    isBroken: (_, { output }: { output: TurnOutput }) => output.outcome === 'reset',
    namesNoRun: ({ event }) => event.type === 'cancel' && event.runId === undefined,
    isThisRun: ({ context, event }) => event.type === 'cancel' && context.run?.ids.includes(event.runId ?? '') === true,
    isQueued: ({ context, event }) => event.type === 'cancel' && context.queue.some(({ id }) => id === event.runId),
    isWaiting: ({ context, event }) => event.type === 'approve' && isAsked(context.approvals, event),
    isOtherInput: ({ context, event }) => event.type === 'approve' && context.approvals.some(({ callId }) => callId === event.callId),
    wasDecided: ({ context, event }) => event.type === 'approve' && context.decided.includes(questionOf(event)),
    hasOrder: ({ context }) => context.order !== null,
    asidesFull: ({ context }) => (context.asides?.length ?? 0) >= asidesMax,
    endsAside: ({ context, event }) => endsAside(context, event),
    hasTranscript: ({ context }) => context.transcriptLength > 1,
  },
  actions: {
    admit: enqueueActions(({ event, enqueue }) => enqueue.raise({ ...message(event), type: 'admit' })),
    askDesk: enqueueActions(({ context, event, enqueue }, { doing }: { doing?: SessionFacts['doing'] }) => {
      if (!context.desk) {
        enqueue.spawnChild('desk', { id: 'desk', input: { key: context.key } })
        enqueue.assign({ desk: true })
      }
      const facts = factsFor(context, doing ?? (context.run ? 'answering' : context.queue.length > 0 ? 'waiting' : 'idle'))
      enqueue.sendTo('desk', { type: 'message', message: event as IncomingMessage, session: facts })
    }),
    /** It is next, without waiting for more: at once, or when the turn that is running has ended. */
    acceptNext: enqueueActions(({ context, event, enqueue }, { status }: { status: 'started' | 'queued' }) => {
      enqueue.assign(withNext(context, message(event)))
      const { id } = message(event)
      enqueue.emit({ type: 'accepted', id, status, runId: status === 'started' ? id : '' })
      remind(enqueue, message(event))
    }),
    /** Nothing waits and nothing runs: it is accepted, and its turn begins. */
    answerAtOnce: enqueueActions(({ context, event, enqueue }) => {
      const accepted = withNext(context, message(event))
      const begun = beginTurn({ ...context, ...accepted })
      const { id } = message(event)
      enqueue.assign({ ...accepted, ...begun })
      enqueue.emit({ type: 'accepted', id, status: 'started', runId: id })
      remind(enqueue, message(event))
      enqueue.emit(started(begun))
    }),
    acceptLater: enqueueActions(({ context, event, enqueue }) => {
      const accepted = admitted(message(event), context.record)
      const { out, ...change } = enqueued(context, accepted)
      enqueue.assign({ ...change, record: touched(context.record, context.key, message(event)) })
      enqueue.emit({ type: 'accepted', id: accepted.id, status: accepted.profile.queueMode === 'collect' ? 'collected' : 'queued', runId: '' })
      remind(enqueue, message(event))
      if (out.length === 0) return
      const outputs = out.map((dropped) => unanswered(dropped, context.transcriptLength))
      if (context.run) enqueue.sendTo('turn', { type: 'forget', ids: out.map(({ id }) => id) })
      for (const output of outputs) enqueue.emit({ type: 'aborted', ...output })
      enqueue.emit({ type: 'transcript', ended: outputs.map(outcomeOf) })
    }),
    /** Each message that has to wait begins the pause anew. */
    awaitMore: enqueueActions(({ context, event, enqueue }) => {
      const profile = settingsOf(message(event), context.record)
      enqueue.cancel('debounce')
      const delay = context.run ? (profile.debounceMs ?? debounceMs) : (message(event).gather?.ms ?? profile.debounceMs ?? debounceMs)
      enqueue.assign({ settled: delay === 0 })
      enqueue.raise({ type: 'debounced' }, { id: 'debounce', delay })
    }),
    announceCleared: enqueueActions(({ context: { queue, dropped }, enqueue, self }) => {
      enqueue.emit({ type: 'cleared', followups: queue.length, dropped: dropped.count, lane: waitsInLane(self) ? 1 : 0 })
    }),
    settle: assign({ settled: true }),
    skip: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'skip') return
      enqueue.emit({ type: 'skipped', id: event.id, reason: event.reason })
      for (const said of answeredBy({ ...event, text: '' }, context.transcriptLength)) enqueue.emit(said)
    }),
    refuseMessage: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'refuse') return
      const { id, ...refusal } = event
      enqueue.emit({ ...refusal, type: 'refused' })
      enqueue.emit({ type: 'transcript', drop: [id] })
    }),
    /** The desk has answered a message. */
    reply: enqueueActions(({ context, event, enqueue }) => {
      const { type, changes, note, accepted, ...answer } = event as Reply
      const { record, key, run, queue, transcriptLength } = context
      if (!accepted) {
        // What was said before goes first.
        if (type === 'say' && queue.length > 0 && !run) enqueue.raise({ type: 'debounced' })
        const kept = touched(changes ? { ...record, toggles: configured(record.toggles, changes) } : record, key, answer)
        enqueue.assign({ record: note === undefined ? kept : noted(kept, answer.at, note) })
        if (run && changes) enqueue.sendTo('turn', turnSettings(kept.toggles))
        enqueue.emit(acceptance(answer.id))
      }
      for (const said of answeredBy(answer, transcriptLength)) enqueue.emit(said)
    }),
    keepChanges: assign(({ context: { record }, event }) => {
      const { changes } = event as { changes?: ToggleChanges }
      return changes ? { record: { ...record, toggles: configured(record.toggles, changes) } } : {}
    }),
    configure: enqueueActions(({ context: { record, run }, event, enqueue }) => {
      if (event.type !== 'configure') return
      if (event.stale && !keepsJust(record, event.stale)) return
      if (event.notice !== undefined) enqueue.emit({ type: 'notice', text: event.notice })
      const changed = configuredRecord(record, event.toggles)
      enqueue.assign({ record: changed })
      if (run) enqueue.sendTo('turn', turnSettings(changed.toggles))
    }),
    keepNote: assign(({ context: { record }, event }) => (event.type === 'note' ? { record: noted(record, event.at, event.text) } : {})),
    inject: enqueueActions(({ context, event, enqueue }, { later }: { later: boolean }) => {
      if (event.type === 'inject') carryOut(enqueue, withInjected(context, event.id, later))
    }),
    joinInjected: enqueueActions(({ context, enqueue }) => carryOut(enqueue, joined(context))),
    steerTurn: enqueueActions(({ context: { run, record, key }, event, enqueue }) => {
      const { id } = message(event)
      enqueue.sendTo('turn', steering(message(event), record))
      enqueue.assign({ record: touched(record, key, message(event)), ...definedOf({ run: run && { ...run, ids: [...run.ids, id] } }) })
      enqueue.emit({ type: 'accepted', id, status: 'steered', runId: run?.runId ?? '' })
      remind(enqueue, message(event), true)
    }),
    /** The turn is shown a message that will have one of its own. */
    steerOnly: sendTo('turn', ({ event }) => ({ type: 'steer' as const, id: message(event).id, again: true as const })),
    beginTurn: enqueueActions(({ context, enqueue }) => {
      const change = beginTurn(context)
      enqueue.assign(change)
      if (change.queue?.length === 0) enqueue.cancel('debounce')
      enqueue.emit(started(change))
    }),
    endTurn: enqueueActions(({ context, enqueue }, { output }: { output: TurnOutput }) => {
      const { introduces } = context.run ?? {}
      if (introduces !== undefined && output.status === 'completed') enqueue.sendTo('desk', { type: 'introduced', as: introduces })
      enqueue.assign(endTurn(context, output))
      enqueue.emit({ type: 'transcript', ended: [outcomeOf(output)] })
    }),
    tellStopped: emit(({ context }) => ({ type: 'stopped' as const, runIds: stoppedBy(context) })),
    stopTurn: enqueueActions(({ context: { record }, enqueue }) => {
      enqueue.sendTo('turn', { type: 'cancel' })
      enqueue.assign({ record: { ...record, abortedLastRun: true } })
    }),
    /** All that wait, a turn that waits in its lane too; or the one that is named. */
    dropQueue: enqueueActions(({ context, event, enqueue, self }) => {
      stopAsides(enqueue, context, event)
      if (isForgotten(context, event)) enqueue.assign({ injected: undefined })
      const leavesLane = event.type === 'clear' && waitsInLane(self)
      if (leavesLane) enqueue.sendTo('turn', { type: 'cancel' })
      const { change, outputs } = drop(context, event.type === 'cancel' ? event.runId : undefined)
      if (outputs.length === 0) return
      enqueue.assign(change)
      if (change.queue?.length === 0) enqueue.cancel('debounce')
      if (context.run && !leavesLane) enqueue.sendTo('turn', { type: 'forget', ids: outputs.flatMap(({ ids }) => ids) })
      for (const output of outputs) enqueue.emit({ type: 'aborted', ...output })
      enqueue.emit({ type: 'transcript', ended: outputs.map(outcomeOf) })
    }),
    keepApproval: enqueueActions(({ context, event, enqueue }) => {
      const { approval } = event as { approval: Approval }
      enqueue.assign({ approvals: [...context.approvals, approval] })
      enqueue.emit({ type: 'approval', ...approval })
    }),
    endApproval: assign(({ context, event }) => (event.type === 'tool.decided' ? endApproval(context, event.callId) : {})),
    passDecision: enqueueActions(({ context, event, enqueue }) => {
      const { decisions, record } = decided(context, event as Decision)
      enqueue.assign({ record })
      for (const { callId, decision, by, remember, ...rest } of decisions) {
        enqueue.sendTo('turn', { ...rest, callId, decision, ...definedOf({ by, remember }) })
        enqueue.emit({ type: 'decided', runId: context.run?.runId ?? '', callId, decision, ...definedOf({ remember, by }) })
      }
    }),
    refuse: enqueueActions(({ context, event, enqueue }, refusal: Refusal) => {
      enqueue.emit({ type: 'refused', ...refusal })
      if (event.type !== 'admit' && event.type !== 'message' && event.type !== 'side') return
      enqueue.emit({ type: 'transcript', drop: [event.id] })
      if (context.desk && 'annotations' in event) enqueue.sendTo('desk', { type: 'refused', annotations: event.annotations })
    }),
    takeHistory: enqueueActions(({ enqueue }, { history }: { history: TranscriptMessage[] }) => {
      if (history.length === 0) return
      enqueue.emit({ type: 'transcript', add: history })
      enqueue.assign({ transcriptLength: history.length })
    }),
    keepReason: assign({ resetReason: ({ event }) => (event.type === 'reset' ? (event.reason ?? null) : null) }),
    startOver: enqueueActions(({ context, event, enqueue }, { reason }: { reason: string }) => {
      stopAsides(enqueue, context, event)
      const at = 'at' in event ? event.at : context.record.updatedAt
      enqueue.assign({
        transcriptLength: 0,
        ...(context.pending && { pending: undefined }),
        ...(isForgotten(context, event) && { injected: undefined }),
        resetReason: null,
        record: startedOver(context.record, context.key, at),
      })
      enqueue.emit({ type: 'transcript', clear: true })
      enqueue.emit({ type: 'reset', reason: (event.type === 'reset' ? event.reason : context.resetReason) ?? reason })
    }),
    keepOrder: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'compact') keepOrder(enqueue, context, event)
    }),
    takeSummary: enqueueActions(({ context, enqueue }, { summary }: { summary: SummaryOutput }) => takeSummary(enqueue, context, summary)),
    announceTrouble: enqueueActions(({ context, enqueue }, { error }: { error: unknown }) => announceTrouble(enqueue, context, error)),
    leaveOrder: enqueueActions(({ context, enqueue }) => answerOrder(enqueue, context)),
    askAside: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'side') beginAside(enqueue, context, event)
    }),
    endAside: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'side.ended') endAside(enqueue, context, event)
    }),
    stopAsides: enqueueActions(({ context, event, enqueue }) => stopAsides(enqueue, context, event)),
  },
})
