/** The names that the chart in turn.machine.ts uses: its guards, delays, actions and actors. */
import { assign, type DoneActorEvent, emit, enqueueActions, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { type ErrorCode, errorBody } from '../contracts/errors.ts'
import { addUsage } from '../contracts/message.ts'
import type {
  ModelCallInput,
  ModelCallOutput,
  SessionOutput,
  SummaryInput,
  SummaryOutput,
  TurnInput,
  TurnOutput,
  TurnStatus,
} from '../contracts/session.ts'
import { type StreamOutput, streamMachine } from './stream.machine.ts'
import { type ToolEvent, type ToolReport, toolMachine } from './tool.machine.ts'
import {
  answered,
  ending,
  isStepOver,
  launchable,
  live,
  mayRetry,
  output,
  resultsOf,
  retryDelayMs,
  type TurnContext,
  toolName,
  unfinished,
} from './turn.context.ts'

export type TurnEvent =
  | { type: 'steer'; id: string }
  | { type: 'cancel' }
  | Extract<ToolEvent, { type: 'approve' }>
  | ToolReport
  | DoneActorEvent<StreamOutput, 'stream'>

/** How long a model call may take to hand over what it has said, once it is told to stop; it does so at once unless it is broken. */
const stopMs = 1000

export const turnSetup = setup({
  types: {
    input: {} as TurnInput,
    output: {} as TurnOutput,
    context: {} as TurnContext,
    events: {} as TurnEvent,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: {
    callModel: fromPromise<ModelCallOutput, ModelCallInput>(() => Promise.reject(new Error('not provided'))),
    summarise: fromPromise<SummaryOutput, SummaryInput>(() => Promise.reject(new Error('not provided'))),
    tool: toolMachine,
    stream: streamMachine,
  },
  guards: {
    stepsSpent: ({ context }) => context.steps >= context.profile.stepMax,
    tokensSpent: ({ context }) => context.usage.inputTokens + context.usage.outputTokens >= context.profile.tokenMax,
    toolCallsSpent: ({ context }) => context.toolCalls + context.calls.length > context.profile.toolCallMax,
    wasStopped: ({ context }) => context.cancelled,
    isOverflow: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'provider_overflow' && !context.compacted,
    mayRetry: ({ context }, { error }: { error: unknown }) => mayRetry(context, errorBody(error)),
    hasCalls: ({ context }) => context.calls.length > 0,
    steered: ({ context }) => context.steers.length > 0,
    overtaken: ({ context }) => context.calls.length > 0 && context.steers.length > 0,
    stepOver: ({ context }) => isStepOver(context),
    stepStopped: ({ context }) => isStepOver(context) && context.cancelled,
    stepSteered: ({ context }) => isStepOver(context) && context.steers.length > 0,
    canLaunch: ({ context }) => launchable(context).length > 0,
    nobodyWaits: ({ context }) => context.waiting.length === 0,
  },
  delays: {
    wallTime: ({ context }) => context.profile.wallTimeMs,
    retryDelay: ({ context }) => retryDelayMs(context),
    stopMs,
  },
  actions: {
    admit: enqueueActions(({ context: { ids, transcriptLength }, enqueue }) => {
      enqueue.emit({ type: 'transcript', add: ids })
      enqueue.assign({ transcriptLength: transcriptLength + ids.length })
    }),
    beginStep: assign(({ context }) => ({ call: context.call + 1, attempt: 1, error: null })),
    beginAttempt: assign(({ context }) => ({ call: context.call + 1, attempt: context.attempt + 1 })),
    takeAnswer: enqueueActions(({ context, enqueue }, { answer }: { answer: ModelCallOutput }) => {
      enqueue.emit({ type: 'transcript', add: [{ content: answer.id }] })
      enqueue.sendTo('stream', { type: 'stream.end', chars: answer.text.length + answer.reasoning.length })
      enqueue.assign(answered(context, answer))
    }),
    rememberError: assign({ error: (_, { error }: { error: unknown }) => errorBody(error) }),
    giveUp: assign({
      error: (_, { code, message }: { code: ErrorCode; message: string }) => ({
        code,
        message,
        retryable: false,
        hint: 'raise the budget of the agent, or ask for less at a time',
      }),
    }),
    announceRetry: emit(
      ({ context }): SessionOutput => ({
        type: 'retry',
        runId: context.runId,
        attempt: context.attempt,
        delayMs: retryDelayMs(context),
        error: context.error ?? errorBody(undefined),
      }),
    ),
    keepSteer: assign(({ context, event }) =>
      event.type === 'steer' ? { steers: [...context.steers, event.id], ids: [...context.ids, event.id] } : {},
    ),
    takeSteers: enqueueActions(({ context: { steers, transcriptLength }, enqueue }) => {
      if (steers.length === 0) return
      enqueue.emit({ type: 'transcript', add: steers })
      enqueue.assign({ steers: [], transcriptLength: transcriptLength + steers.length })
    }),
    markCancelled: assign({ cancelled: true }),
    askModelToStop: sendTo('model', { type: 'stop' }),
    countCalls: assign({ toolCalls: ({ context }) => context.toolCalls + context.calls.length }),
    launchTools: enqueueActions(({ context, enqueue }) => {
      const { session, runId, profile, calls, launched } = context
      const places = launchable(context)
      for (const index of places) {
        const call = calls[index]
        if (call) enqueue.spawnChild('tool', { id: toolName(index), input: { session, runId, agent: profile.agent, call, inDoubt: profile.inDoubt } })
      }
      enqueue.assign({ launched: launched + places.length })
    }),
    keepResult: assign(({ context, event }) =>
      event.type === 'tool.finished'
        ? { results: context.results.map((result, index) => (context.calls[index]?.id === event.callId ? event.result : result)) }
        : {},
    ),
    cancelTools: enqueueActions(({ context, enqueue }) => {
      for (const index of live(context)) enqueue.sendTo(toolName(index), { type: 'cancel' })
    }),
    passDecision: enqueueActions(({ context, event, enqueue }) => {
      for (const index of live(context))
        if (event.type === 'approve' && context.calls[index]?.id === event.callId) enqueue.sendTo(toolName(index), event)
    }),
    keepWaiting: assign(({ context, event }) => (event.type === 'tool.waiting' ? { waiting: [...context.waiting, event.approval.callId] } : {})),
    endWaiting: assign(({ context, event }) =>
      event.type === 'tool.decided' ? { waiting: context.waiting.filter((id) => id !== event.callId) } : {},
    ),
    tellSession: sendParent(({ event }) => event),
    /** Ends a step that had calls: each is paired with a result, in order, and nothing of them lives on. */
    settleCalls: enqueueActions(({ context, enqueue }) => {
      const { runId, calls, transcriptLength } = context
      if (calls.length === 0) return
      for (const { call, status, message } of unfinished(context))
        enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: status, output: message.output })
      enqueue.emit({ type: 'transcript', add: resultsOf(context) })
      for (const index of calls.keys()) enqueue.stopChild(toolName(index))
      enqueue.assign({ calls: [], results: [], launched: 0, waiting: [], transcriptLength: transcriptLength + calls.length })
    }),
    openStream: sendTo('stream', ({ context }) => ({ type: 'stream.start', attempt: context.call })),
    closeStream: sendTo('stream', { type: 'stream.close' }),
    failStream: sendTo('stream', { type: 'stream.fail' }),
    abortStream: sendTo('stream', { type: 'stream.abort' }),
    takeSummary: enqueueActions(({ context, enqueue }, { summary: { id, keep, usage } }: { summary: SummaryOutput }) => {
      enqueue.emit({ type: 'transcript', compact: { keep, summary: id } })
      enqueue.emit({ type: 'compacted', runId: context.runId, keep })
      enqueue.assign({ compacted: true, transcriptLength: keep + 1, usage: addUsage(context.usage, usage), call: context.call + 1 })
    }),
    announceEnd: emit(({ context }, { status }: { status: TurnStatus }) => ending(output(context, status))),
  },
})
