/** The names that the chart in loop.machine.ts uses: its guards, delays, actions and actors. */

import { assign, emit, enqueueActions, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { type ErrorBody, type ErrorCode, errorBody } from '../../contracts/errors.ts'
import type { PublisherEvent } from '../../contracts/publisher.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LoopInput, LoopOutput, ModelCallInput, ModelCallOutput, SummaryInput, SummaryOutput } from '../../contracts/turn.ts'
import { type ToolEvent, type ToolReport, toolMachine } from '../tool-call/tool.machine.ts'
import { endedReport, finished, isStepOver, launchable, live, resultsOf, toolName, unfinished } from './calls.rules.ts'
import {
  answered,
  attempted,
  candidate,
  failure,
  isFull,
  type LoopContext,
  mayFallBack,
  mayRetry,
  mayRotate,
  retryDelayMs,
  spent,
  steered,
  withoutSteers,
} from './loop.context.ts'
import { nextThinking, supportedThinking } from './thinking-support.rules.ts'

export type LoopEvent =
  /** With `again` the message gets a turn of its own as well. */
  | { type: 'steer'; id: string; again?: true }
  /** These were to be shown as well, and have been dropped. */
  | { type: 'forget'; ids: string[] }
  | { type: 'cancel' }
  /** Its time is up, for that reason. */
  | { type: 'expire'; error: ErrorBody }
  | Extract<ToolEvent, { type: 'approve' }>
  | ToolReport

/** What it does, where somebody wants to know. */
type EdgeReport = Extract<PublisherEvent, { type: 'model.started' | 'model.ended' | 'tool.started' | 'tool.ended' }>

/** What the loop tells its turn while it runs. */
export type LoopReport =
  | Extract<ToolReport, { type: 'tool.waiting' | 'tool.decided' }>
  | EdgeReport
  | { type: 'compaction.started' }
  | { type: 'compaction.ended' }

/** How long a model call may take to hand over what it has said, once it is told to stop; it does so at once unless it is broken. */
const stopMs = 1000

export const loopSetup = setup({
  types: {
    input: {} as LoopInput,
    output: {} as LoopOutput,
    context: {} as LoopContext,
    events: {} as LoopEvent,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: {
    callModel: fromPromise<ModelCallOutput, ModelCallInput>(notProvided),
    summarise: fromPromise<SummaryOutput, SummaryInput>(notProvided),
    tool: toolMachine,
  },
  guards: {
    stepsSpent: ({ context }) => context.steps >= context.profile.stepMax,
    tokensSpent: ({ context }) => context.usage.inputTokens + context.usage.outputTokens >= context.profile.tokenMax,
    toolCallsSpent: ({ context }) => context.toolCalls + context.calls.length > context.profile.toolCallMax,
    wasStopped: ({ context }) => context.cancelled,
    isLate: ({ context }) => context.expired !== null,
    isOverflow: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'provider_overflow' && !context.compacted,
    mayShorten: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'provider_overflow' && !context.shortened,
    refusesThinking: ({ context }, { error }: { error: unknown }) => thinkingLeft(context, error) !== undefined,
    mayRotate: (_, { error }: { error: unknown }) => mayRotate(errorBody(error)),
    mayFallBack: ({ context }, { error }: { error: unknown }) => mayFallBack(context, errorBody(error)),
    mayRetry: ({ context }, { error }: { error: unknown }) => mayRetry(context, errorBody(error)),
    isFull: ({ context }) => isFull(context),
    /** The history was to be shortened before it had to be. */
    wasInTime: ({ context }) => context.error === null,
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
    retryDelay: ({ context }) => retryDelayMs(context),
    stopMs,
  },
  actions: {
    beginStep: assign(({ context }) => ({ call: context.call + 1, attempt: 1, error: null })),
    beginAttempt: assign(({ context }) => ({ call: context.call + 1, attempt: context.attempt + 1, place: 0, tried: [] })),
    shorten: assign(({ context }) => ({ call: context.call + 1, shortened: true })),
    thinkLess: assign(({ context }, { error }: { error: unknown }) => ({
      call: context.call + 1,
      thinking: thinkingLeft(context, error) ?? null,
      refusedThinking: context.thinking === null ? context.refusedThinking : [...context.refusedThinking, context.thinking],
    })),
    rotate: assign(({ context }, { error }: { error: unknown }) => ({ ...attempted(context, errorBody(error)), ...anew(context) })),
    fallBack: enqueueActions(({ context, enqueue }, { error }: { error: unknown }) => {
      const change = { ...attempted(context, errorBody(error)), ...anew(context), place: context.place + 1, tried: [] }
      enqueue.assign(change)
      enqueue.emit({
        type: 'fallback',
        runId: context.runId,
        attempts: change.attempts ?? [],
        model: context.candidates[change.place] ?? '',
      })
    }),
    rememberAttempt: assign(({ context }, { error }: { error: unknown }) => attempted(context, errorBody(error))),
    /** Without a summary the conversation stays too long. */
    rememberNoSummary: assign(({ context }, { error }: { error: unknown }) => {
      const body = errorBody(error)
      return failure(context, { ...body, data: { ...body.data, compaction: true } })
    }),
    rememberFailure: assign(({ context }, { error }: { error: unknown }) => failure(context, errorBody(error))),
    takeReason: assign(({ event }) => (event.type === 'expire' ? { error: event.error, expired: event.error } : {})),
    takeAnswer: enqueueActions(({ context, enqueue }, { answer }: { answer: ModelCallOutput }) => {
      enqueue.emit({ type: 'transcript', add: [{ content: answer.id }] })
      if (context.reports) enqueue.sendParent({ type: 'model.ended', text: answer.text } satisfies EdgeReport)
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
    keepSteer: assign(({ context, event }) => (event.type === 'steer' ? steered(context, event) : {})),
    dropSteers: assign({ steers: ({ context, event }) => (event.type === 'forget' ? withoutSteers(context, event.ids) : context.steers) }),
    takeSteers: enqueueActions(({ context: { steers, transcriptLength }, enqueue }) => {
      if (steers.length === 0) return
      enqueue.emit({ type: 'transcript', add: steers })
      enqueue.assign({ steers: [], transcriptLength: transcriptLength + steers.length })
    }),
    markCancelled: assign({ cancelled: true }),
    askModelToStop: sendTo('model', ({ context }) => ({ type: 'stop', late: context.expired !== null })),
    countCalls: assign({ toolCalls: ({ context }) => context.toolCalls + context.calls.length }),
    launchTools: enqueueActions(({ context, enqueue }) => {
      const { session, runId, profile, calls, launched, thread } = context
      const place = { session, runId, agent: profile.agent, inDoubt: profile.inDoubt, ...(thread ? { thread } : {}) }
      const places = launchable(context)
      for (const index of places) {
        const call = calls[index]
        if (!call) continue
        if (context.reports) enqueue.sendParent({ type: 'tool.started', callId: call.id, name: call.name, input: call.input } satisfies EdgeReport)
        enqueue.spawnChild('tool', { id: toolName(index), input: { ...place, call } })
      }
      enqueue.assign({ launched: launched + places.length })
    }),
    keepResult: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'tool.finished') return
      enqueue.assign(finished(context, event))
      if (context.reports) enqueue.sendParent(endedReport(context, event) satisfies EdgeReport)
    }),
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
    tellTurn: sendParent(({ event }) => event),
    announceCompaction: enqueueActions(({ context: { runId }, enqueue }) => {
      enqueue.emit({ type: 'compacting', runId })
      enqueue.sendParent({ type: 'compaction.started' } satisfies LoopReport)
    }),
    announceCompacted: sendParent({ type: 'compaction.ended' } satisfies LoopReport),
    goOnAsItIs: assign({ compacted: true }),
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
    reportStart: enqueueActions(({ context, enqueue }) => {
      if (context.reports) enqueue.sendParent({ type: 'model.started', attempt: context.call, model: candidate(context) } satisfies EdgeReport)
    }),
    takeSummary: enqueueActions(({ context, enqueue }, { summary: { id, keep, model, usage, costUsd } }: { summary: SummaryOutput }) => {
      enqueue.emit({ type: 'transcript', compact: { keep, summary: id } })
      enqueue.emit({ type: 'compacted', runId: context.runId, keep, willRetry: true })
      enqueue.assign({
        compacted: true,
        compactions: context.compactions + 1,
        tokens: 0,
        transcriptLength: keep + 1,
        ...spent(context, model ?? candidate(context), usage),
        ...(costUsd === undefined ? {} : { costUsd: (context.costUsd ?? 0) + costUsd }),
        call: context.call + 1,
        error: null,
      })
    }),
  },
})

/** Another credential or model has its own idea of what it can think. */
const anew = ({ call, profile }: LoopContext): Partial<LoopContext> => ({ call: call + 1, thinking: profile.thinking ?? null, refusedThinking: [] })

const thinkingLeft = ({ thinking, refusedThinking }: LoopContext, error: unknown) => {
  const supported = thinking === null ? undefined : supportedThinking(errorBody(error))
  return supported && nextThinking(supported, [...refusedThinking, ...(thinking === null ? [] : [thinking])])
}
