/** The names that the chart in loop.machine.ts uses: its guards, delays, actions and actors. */

import { assign, emit, enqueueActions, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { AskEvent, StepReport } from '../../contracts/ask.ts'
import { definedOf } from '../../contracts/defined.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { ModelCallInput, ModelCallOutput } from '../../contracts/model-call.ts'
import type { PublisherEvent } from '../../contracts/publisher.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ToolCall } from '../../contracts/tool.ts'
import type { LoopInput, LoopOutput, SummaryInput, SummaryOutput, TranscriptNote } from '../../contracts/turn.ts'
import type { UnderstandingReport, Unread } from '../../contracts/understanding.ts'
import type { ToolEvent, ToolReport } from '../tool-call/tool.context.ts'
import { toolMachine } from '../tool-call/tool.machine.ts'
import { understandingMachine } from '../understanding/understanding.machine.ts'
import { budgetHint, limitOf } from './budget.rules.ts'
import {
  allowedSince,
  endedReport,
  finished,
  handedOver,
  isLastStep,
  isStepOver,
  judged,
  launchable,
  live,
  permissions,
  resultsOf,
  toolName,
  unfinished,
} from './calls.rules.ts'
import { isNothing, saidNothing, withoutThinking } from './empty-answer.rules.ts'
import { askedAnew, attempted, failure, mayFallBack, mayRetry, mayRotate, retryDelayMs, thinkingLeft } from './failure.rules.ts'
import {
  answered,
  candidate,
  isFull,
  type LoopContext,
  noCalls,
  prefixEvents,
  readingInput,
  steered,
  summarised,
  understood,
  withoutSteers,
} from './loop.context.ts'
import { deadEnd } from './repetition.rules.ts'
import { modelEnded, stepAnswered, stepWanted, withModel } from './steps.rules.ts'

export type LoopEvent =
  /** With `again` the message gets a turn of its own as well. */
  | { type: 'steer'; id: string; again?: true; unread?: Unread }
  | UnderstandingReport
  /** These were to be shown as well, and have been dropped. */
  | { type: 'forget'; ids: string[] }
  | { type: 'cancel' }
  /** Its time is up, for that reason. */
  | { type: 'expire'; error: ErrorBody }
  | Extract<ToolEvent, { type: 'approve' | 'answer' }>
  | Extract<AskEvent, { type: 'proceed' }>
  | ToolReport

/** What it does, where somebody wants to know. */
type EdgeReport = Extract<PublisherEvent, { type: 'model.started' | 'model.ended' | 'tool.started' | 'tool.ended' }>

/** What the loop tells its turn while it runs. */
export type LoopReport =
  | Extract<ToolReport, { type: 'tool.waiting' | 'tool.decided' | 'tool.delegated' }>
  | EdgeReport
  | StepReport
  | { type: 'compaction.started' }
  | { type: 'compaction.ended' }

/** What becomes of its conversation, which may be one of several in its actor. */
const noted = ({ input: { conversation } }: LoopContext, note: Omit<TranscriptNote, 'type'>): TranscriptNote =>
  conversation === undefined ? { type: 'transcript', ...note } : { type: 'transcript', conversation, ...note }

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
    understanding: understandingMachine,
  },
  guards: {
    stepsSpent: ({ context: { totals, input } }) => totals.steps >= input.profile.stepMax,
    tokensSpent: ({ context: { totals, input } }) => totals.usage.inputTokens + totals.usage.outputTokens >= input.profile.tokenMax,
    toolCallsSpent: ({ context: { totals, input } }, { answer }: { answer: ModelCallOutput }) =>
      totals.toolCalls + answer.calls.length > input.profile.toolCallMax,
    wasStopped: ({ context }) => context.cancelled,
    isLate: ({ context }) => context.expired !== null,
    isOverflow: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'provider_overflow' && !context.room.compacted,
    mayShorten: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'provider_overflow' && !context.room.shortened,
    refusesThinking: ({ context }, { error }: { error: unknown }) => thinkingLeft(context, error) !== undefined,
    mayRotate: (_, { error }: { error: unknown }) => mayRotate(errorBody(error)),
    mayFallBack: ({ context }, { error }: { error: unknown }) => mayFallBack(context, errorBody(error)),
    mayRetry: ({ context }, { error }: { error: unknown }) => mayRetry(context, errorBody(error)),
    isDeadEnd: ({ context }) => context.watch !== undefined && deadEnd(context.watch) !== undefined,
    isFull: ({ context }) => isFull(context),
    /** The history was to be shortened before it had to be. */
    wasInTime: ({ context }) => context.error === null,
    hasCalls: (_, { answer }: { answer: ModelCallOutput }) => answer.calls.length > 0,
    wantsTools: ({ context }) => context.step.calls.length > 0,
    hasSomething: ({ context }, { answer }: { answer: ModelCallOutput }) => answer.calls.length > 0 || !isNothing(context, answer),
    saysSomething: ({ context }, { answer }: { answer: ModelCallOutput }) => !isNothing(context, answer),
    wasEmpty: ({ context }) => context.empty === true,
    steered: ({ context }) => context.steers.length > 0,
    overtaken: ({ context }, { answer }: { answer: ModelCallOutput }) => answer.calls.length > 0 && context.steers.length > 0,
    isReading: ({ context }) => context.reading.ids.length > 0,
    /** All that was said meanwhile was an order, and the model has nothing more to do. */
    nothingNew: ({ context: { steers, step } }) => steers.length === 0 && step.calls.length + (step.client?.length ?? 0) === 0,
    stepOver: ({ context }) => isStepOver(context),
    stepStopped: ({ context }) => isStepOver(context) && context.cancelled,
    stepSteered: ({ context }) => isStepOver(context) && context.steers.length > 0,
    /** To the client, or to nobody. */
    handsOver: ({ context }) => isLastStep(context),
    canLaunch: ({ context }) => launchable(context).length > 0,
    nobodyWaits: ({ context }) => context.step.waiting.length === 0,
  },
  delays: {
    retryDelay: ({ context }) => retryDelayMs(context),
    stopMs,
  },
  actions: {
    beginAttempt: assign(({ context: { call, asked } }) => ({ call: call + 1, asked: { ...asked, round: asked.round + 1, place: 0, tried: [] } })),
    shorten: assign(({ context: { call, room } }) => ({ call: call + 1, room: { ...room, shortened: true } })),
    thinkLess: assign(({ context }, { error }: { error: unknown }) => {
      const { call, asked } = context
      const { thinking, refusedThinking } = asked
      const refused = thinking === null ? refusedThinking : [...refusedThinking, thinking]
      return { call: call + 1, asked: { ...asked, thinking: thinkingLeft(context, error) ?? null, refusedThinking: refused } }
    }),
    rotate: assign(({ context }, { error }: { error: unknown }) => askedAnew(context, errorBody(error), { next: 'credential' })),
    fallBack: enqueueActions(({ context, enqueue }, { error }: { error: unknown }) => {
      const change = askedAnew(context, errorBody(error), { next: 'model' })
      enqueue.assign(change)
      enqueue.emit({
        type: 'fallback',
        runId: context.input.runId,
        attempts: change.attempts,
        model: change.asked.candidates[change.asked.place] ?? '',
      })
    }),
    rememberAttempt: assign(({ context }, { error }: { error: unknown }) => attempted(context, errorBody(error))),
    askAgain: assign(({ context }, { answer }: { answer: ModelCallOutput }) => withoutThinking(context, answer)),
    rememberNothing: assign(({ context }, { answer }: { answer: ModelCallOutput }) => saidNothing(context, answer)),
    /** Without a summary the conversation stays too long. */
    rememberNoSummary: assign(({ context }, { error }: { error: unknown }) => {
      const body = errorBody(error)
      const { limit, actual } = context.error?.data ?? {}
      return failure(context, { ...body, data: { ...definedOf({ limit, actual }), ...body.data, compaction: true } })
    }),
    rememberFailure: assign(({ context }, { error }: { error: unknown }) => failure(context, errorBody(error))),
    takeReason: assign(({ event }) => (event.type === 'expire' ? { error: event.error, expired: event.error } : {})),
    takeAnswer: enqueueActions(({ context, enqueue }, { answer }: { answer: ModelCallOutput }) => {
      enqueue.emit(noted(context, { add: [{ content: answer.id }] }))
      if (answer.prompt) for (const said of prefixEvents(context, answer.prompt)) enqueue.emit(said)
      if (context.input.reports) enqueue.sendParent(modelEnded(context, answer) satisfies EdgeReport)
      enqueue.assign(answered(context, answer))
    }),
    rememberError: assign({ error: (_, { error }: { error: unknown }) => errorBody(error) }),
    giveUp: assign({
      error: (_, { code, message }: { code: keyof typeof limitOf; message: string }) => ({
        code,
        message,
        retryable: false,
        hint: budgetHint(limitOf[code]),
      }),
    }),
    giveUpSearching: assign(({ context: { watch } }) => definedOf({ error: watch && deadEnd(watch) })),
    announceRetry: emit(
      ({ context }): SessionOutput => ({
        type: 'retry',
        runId: context.input.runId,
        attempt: context.asked.round,
        delayMs: retryDelayMs(context),
        error: context.error ?? errorBody(undefined),
      }),
    ),
    keepSteer: assign(({ context, event }) => (event.type === 'steer' ? steered(context, event) : {})),
    readSteer: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'steer' || !event.unread) return
      const { unread } = event
      const count = context.reading.count + 1
      enqueue.spawnChild('understanding', { id: `understanding-${count}`, input: readingInput(context, unread) })
      enqueue.assign({ reading: { ids: [...context.reading.ids, unread.id], count } })
    }),
    takeUnderstood: assign(({ context, event }) => (event.type === 'understood' ? understood(context, event) : {})),
    dropSteers: assign({ steers: ({ context, event }) => (event.type === 'forget' ? withoutSteers(context, event.ids) : context.steers) }),
    takeSteers: enqueueActions(({ context, enqueue }) => {
      const { steers, transcriptLength } = context
      if (steers.length === 0) return
      enqueue.emit(noted(context, { add: steers }))
      enqueue.assign({ steers: [], transcriptLength: transcriptLength + steers.length })
    }),
    markCancelled: assign({ cancelled: true }),
    askModelToStop: sendTo('model', ({ context }) => ({ type: 'stop', late: context.expired !== null })),
    /** All calls of a step count, whether or not there will be time for each. */
    launchTools: enqueueActions(({ context, enqueue }) => {
      const { input, step, totals } = context
      const { session, conversation, runId, profile, thread, reports } = input
      const { agent, skillFilter, skillsVersion } = profile
      const place = { session, runId, agent, ...permissions(context), ...definedOf({ conversation, thread, skillFilter, skillsVersion }) }
      const launched = launchable(context)
      const judgements = launched.map((index) => judged(context, index))
      const calls = step.calls.map((call, index) => judgements[launched.indexOf(index)]?.call ?? call)
      for (const { call, warning } of judgements)
        if (warning !== undefined) enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'progress', message: warning })
      for (const { id, name, input } of launched.map((index) => step.calls[index] as ToolCall))
        if (reports) enqueue.sendParent({ type: 'tool.started', callId: id, name, input } satisfies EdgeReport)
      enqueue.assign(({ spawn }) => {
        for (const index of launched) spawn('tool', { id: toolName(index), input: { ...place, call: calls[index] as ToolCall } })
        return {
          step: { ...step, calls, launched: step.launched + launched.length },
          ...definedOf({ totals: step.launched === 0 ? { ...totals, toolCalls: totals.toolCalls + step.calls.length } : undefined }),
        }
      })
    }),
    keepResult: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'tool.finished') return
      enqueue.assign(finished(context, event))
      if (context.input.reports) enqueue.sendParent(endedReport(context, event) satisfies EdgeReport)
    }),
    cancelTools: enqueueActions(({ context, enqueue }) => {
      for (const index of live(context)) enqueue.sendTo(toolName(index), { type: 'cancel' })
    }),
    passDecision: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'approve') enqueue.assign(allowedSince(context, event))
      for (const index of live(context))
        if (event.type === 'approve' && context.step.calls[index]?.id === event.callId) enqueue.sendTo(toolName(index), event)
    }),
    passAnswer: enqueueActions(({ context, event, enqueue }) => {
      for (const index of live(context))
        if (event.type === 'answer' && context.step.calls[index]?.id === event.callId) enqueue.sendTo(toolName(index), event)
    }),
    keepWaiting: assign(({ context: { step }, event }) =>
      event.type === 'tool.waiting' ? { step: { ...step, waiting: [...step.waiting, event.approval.callId] } } : {},
    ),
    endWaiting: assign(({ context: { step }, event }) =>
      event.type === 'tool.decided' ? { step: { ...step, waiting: step.waiting.filter((id) => id !== event.callId) } } : {},
    ),
    tellTurn: sendParent(({ event }) => event),
    /** As one whose loop is paced. */
    tellWanted: sendParent(({ context }) => stepWanted(context)),
    tellAnswered: sendParent(({ context }) => stepAnswered(context)),
    takeModel: assign(({ context, event }) => (event.type === 'proceed' ? withModel(context, event) : {})),
    announceCompaction: enqueueActions(({ context: { input }, enqueue }) => {
      enqueue.emit({ type: 'compacting', runId: input.runId })
      enqueue.sendParent({ type: 'compaction.started' } satisfies LoopReport)
    }),
    announceCompacted: sendParent({ type: 'compaction.ended' } satisfies LoopReport),
    goOnAsItIs: assign(({ context: { room } }) => ({ room: { ...room, compacted: true } })),
    /** The client runs what is its own, and gives the results with another message. */
    handOver: enqueueActions(({ context, enqueue }) => {
      const { client, ...own } = context.step
      if (client === undefined) return
      const pendingCalls = handedOver(context)
      const { runId } = context.input
      for (const { callId, name, input } of pendingCalls) enqueue.emit({ type: 'tool', runId, callId, name, phase: 'requested', input })
      enqueue.assign({ pendingCalls, step: own })
    }),
    /** Ends a step that had calls: each is paired with a result, in order, and nothing of them lives on. */
    settleCalls: enqueueActions(({ context, enqueue }) => {
      const { input, step, transcriptLength } = context
      const { calls, client = [] } = step
      if (calls.length + client.length === 0) return
      for (const { call, status, message } of unfinished(context))
        enqueue.emit({ type: 'tool', runId: input.runId, callId: call.id, name: call.name, phase: status, output: message.output })
      enqueue.emit(noted(context, { add: resultsOf(context) }))
      for (const index of calls.keys()) enqueue.stopChild(toolName(index))
      enqueue.assign({ step: noCalls, transcriptLength: transcriptLength + calls.length + client.length })
    }),
    reportStart: enqueueActions(({ context, enqueue }) => {
      if (context.input.reports) enqueue.sendParent({ type: 'model.started', attempt: context.call, model: candidate(context) } satisfies EdgeReport)
    }),
    takeSummary: enqueueActions(({ context, enqueue }, { summary }: { summary: SummaryOutput }) => {
      const { id, keep } = summary
      enqueue.emit(noted(context, { compact: { keep, summary: id } }))
      enqueue.emit({ type: 'compacted', runId: context.input.runId, keep, willRetry: true })
      enqueue.assign(summarised(context, summary))
    }),
  },
})
