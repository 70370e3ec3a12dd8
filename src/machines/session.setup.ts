/** The names that the chart in session.machine.ts uses: its guards, actions and actors. */
import { assign, emit, enqueueActions, fromPromise, sendTo, setup, stateIn } from 'xstate'
import { errorBody } from '../contracts/errors.ts'
import type { Approval, SessionEvent, SessionOutput, SummaryInput, SummaryOutput, TurnOutput } from '../contracts/session.ts'
import { beginTurn, drop, endApproval, endTurn, outcomeOf, questionOf, queueMax, type Refusal, type SessionContext } from './session.context.ts'
import type { ToolReport } from './tool.machine.ts'
import { turnMachine } from './turn.machine.ts'

type Message = Extract<SessionEvent, { type: 'message' }>
type Decision = Extract<SessionEvent, { type: 'approve' }>

export const sessionSetup = setup({
  types: {
    input: {} as { key: string },
    context: {} as SessionContext,
    events: {} as SessionEvent | Extract<ToolReport, { type: 'tool.waiting' | 'tool.decided' }>,
    emitted: {} as SessionOutput,
  },
  actors: {
    turn: turnMachine,
    summarise: fromPromise<SummaryOutput, SummaryInput>(() => Promise.reject(new Error('not provided'))),
  },
  guards: {
    hasQueue: ({ context }) => context.queue.length > 0,
    queueFull: ({ context }) => context.queue.length >= queueMax,
    /** A turn that has taken in its fill leaves the rest to the next one. */
    wantsSteer: ({ context, event }) =>
      event.type === 'message' && event.profile.queueMode === 'steer' && (context.run?.ids.length ?? queueMax) < queueMax,
    wantsInterrupt: ({ event }) => event.type === 'message' && event.profile.queueMode === 'interrupt',
    /** The conversation itself cannot be used any more. */
    isBroken: (_, { output }: { output: TurnOutput }) => output.status === 'failed' && output.error?.code === 'provider_overflow',
    namesNoRun: ({ event }) => event.type === 'cancel' && event.runId === undefined,
    isThisRun: ({ context, event }) => event.type === 'cancel' && context.run?.ids.includes(event.runId ?? '') === true,
    isQueued: ({ context, event }) => event.type === 'cancel' && context.queue.some(({ id }) => id === event.runId),
    isWaiting: ({ context, event }) =>
      event.type === 'approve' &&
      context.approvals.some(
        ({ callId, inputHash, attempt }) => callId === event.callId && inputHash === event.inputHash && attempt === event.attempt,
      ),
    isOtherInput: ({ context, event }) => event.type === 'approve' && context.approvals.some(({ callId }) => callId === event.callId),
    wasDecided: ({ context, event }) => event.type === 'approve' && context.decided.includes(questionOf(event)),
    isResetting: stateIn({ running: 'resetting' }),
    hasTranscript: ({ context }) => context.transcriptLength > 1,
  },
  actions: {
    accept: enqueueActions(({ context, event, enqueue }, { status }: { status: 'started' | 'queued' }) => {
      const { id, profile } = event as Message
      enqueue.assign({ queue: [...context.queue, { id, profile }] })
      enqueue.emit(
        status === 'started'
          ? { type: 'accepted', id, status, runId: id }
          : { type: 'accepted', id, status: profile.queueMode === 'collect' ? 'collected' : 'queued', runId: '' },
      )
    }),
    steerTurn: enqueueActions(({ context: { run }, event, enqueue }) => {
      const { id } = event as Message
      enqueue.sendTo('turn', { type: 'steer', id })
      if (run) enqueue.assign({ run: { ...run, ids: [...run.ids, id] } })
      enqueue.emit({ type: 'accepted', id, status: 'steered', runId: run?.runId ?? '' })
    }),
    beginTurn: assign(({ context }) => beginTurn(context)),
    announceStart: emit(({ context: { run } }) => ({
      type: 'started' as const,
      runId: run?.runId ?? '',
      ids: run?.ids ?? [],
      model: run?.profile.model ?? '',
    })),
    endTurn: enqueueActions(({ context, enqueue }, { output }: { output: TurnOutput }) => {
      enqueue.assign(endTurn(context, output))
      enqueue.emit({ type: 'transcript', ended: [outcomeOf(output)] })
    }),
    stopTurn: sendTo('turn', { type: 'cancel' }),
    /** All that wait, or the one that is named. */
    dropQueue: enqueueActions(({ context, event, enqueue }) => {
      const { change, outputs } = drop(context, event.type === 'cancel' ? event.runId : undefined)
      if (outputs.length === 0) return
      enqueue.assign(change)
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
      const { callId, decision, by } = event as Decision
      enqueue.sendTo('turn', event)
      enqueue.emit({ type: 'decided', runId: context.run?.runId ?? '', callId, decision, ...(by ? { by } : {}) })
    }),
    refuse: enqueueActions(({ event, enqueue }, refusal: Refusal) => {
      enqueue.emit({ type: 'refused', ...refusal })
      if (event.type === 'message') enqueue.emit({ type: 'transcript', drop: [event.id] })
    }),
    keepReason: assign({ resetReason: ({ event }) => (event.type === 'reset' ? (event.reason ?? null) : null) }),
    beginAnew: enqueueActions(({ context, event, enqueue }, { reason }: { reason: string }) => {
      enqueue.assign({ transcriptLength: 0, resetReason: null })
      enqueue.emit({ type: 'transcript', clear: true })
      enqueue.emit({ type: 'reset', reason: (event.type === 'reset' ? event.reason : context.resetReason) ?? reason })
    }),
    takeSummary: enqueueActions(({ enqueue }, { summary: { id, keep } }: { summary: SummaryOutput }) => {
      enqueue.assign({ transcriptLength: keep + 1 })
      enqueue.emit({ type: 'transcript', compact: { keep, summary: id } })
      enqueue.emit({ type: 'compacted', keep })
    }),
    announceTrouble: emit((_, { error }: { error: unknown }) => {
      const { code, message } = errorBody(error)
      return { type: 'refused' as const, code, message, hint: 'the conversation is unchanged; try again later' }
    }),
  },
})
