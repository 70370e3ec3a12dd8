/** The names that the chart in tool.machine.ts uses: its guards, delays, actions and actors. */
import { assign, enqueueActions, fromPromise, sendParent, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'

import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ToolOutcome } from '../../contracts/tool.ts'
import type { GateInput, GateOutput, ToolCallInput, ToolCallOutput, ToolInput } from '../../contracts/tool-call.ts'
import {
  asked,
  attemptMaxOfLost,
  type Context,
  callSince,
  decides,
  expires,
  failure,
  isDelegated,
  isInDoubt,
  longestPatienceMs,
  mustAsk,
  patienceMs,
  questionTimes,
  refusal,
  shownResult,
  type ToolEvent,
  type ToolReport,
} from './tool.context.ts'

export const toolSetup = setup({
  types: {
    input: {} as ToolInput,
    context: {} as Context,
    events: {} as ToolEvent,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: {
    check: fromPromise<GateOutput, GateInput>(notProvided),
    execute: fromPromise<ToolCallOutput, ToolCallInput>(notProvided),
  },
  guards: {
    hasProblem: ({ context }) => context.call.problem !== undefined,
    isGated: ({ context }) => context.call.gated === true,
    isBlocked: (_, { answer }: { answer: GateOutput }) => answer.verdict.kind === 'block',
    needsApproval: ({ context }) => mustAsk(context),
    nobodyThere: ({ context }) => mustAsk(context) && context.unattended === true,
    runsUnasked: ({ context }) => expires(context) && context.approval?.onTimeout === 'allow',
    staysUnasked: ({ context }) => expires(context),
    approvedInDoubt: ({ context, event }) => decides(context, event, 'approve') && isInDoubt(context),
    approved: ({ context, event }) => decides(context, event, 'approve'),
    approvedDelegated: ({ context, event }) => isDelegated(context) && decides(context, event, 'approve'),
    isDelegated: ({ context }) => context.call.delegated === true && isDelegated(context),
    runsUnaskedDelegated: ({ context }) => isDelegated(context) && expires(context) && context.approval?.onTimeout === 'allow',
    isFailure: ({ event }) => event.type === 'answer' && event.error !== undefined,
    deniedInDoubt: ({ context, event }) => decides(context, event, 'deny') && isInDoubt(context),
    denied: ({ context, event }) => decides(context, event, 'deny'),
    ranPerhaps: (_, { error }: { error: unknown }) => errorBody(error).code === 'tool_in_doubt',
    lostOnce: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'tool_lost' && context.call.onCrash === 'once',
    lost: ({ context }, { error }: { error: unknown }) => errorBody(error).code === 'tool_lost' && context.attempt < attemptMaxOfLost,
    mayRetry: ({ context }, { error }: { error: unknown }) => errorBody(error).retryable && context.attempt < context.attemptMax,
    asksPerson: ({ context }) => context.inDoubt === 'ask',
  },
  delays: {
    approvalTimeout: ({ context }) => (expires(context) ? patienceMs(context) : longestPatienceMs),
    timeout: ({ context }) => context.call.timeoutMs,
    backoff: ({ context }) => Math.min(30_000, 250 * 2 ** (context.attempt - 1)),
  },
  actions: {
    rememberProblem: assign({
      error: ({ context }): ErrorBody => ({
        code: context.call.problem?.code ?? 'tool_input',
        message: context.call.problem?.message ?? '',
        retryable: false,
      }),
    }),
    takeVerdict: assign(({ context: { call } }, { answer: { verdict } }: { answer: GateOutput }) => {
      if (verdict.kind !== 'pass') return {}
      const { needsApproval, adjusted } = verdict
      const { input, inputHash } = adjusted ?? call
      return { call: { ...call, input, inputHash, needsApproval } }
    }),
    rememberBlock: assign({
      error: (_, { answer: { verdict } }: { answer: GateOutput }): ErrorBody => ({
        code: 'tool_blocked',
        message: verdict.kind === 'block' ? verdict.reason : '',
        retryable: false,
      }),
    }),
    rememberNoCheck: assign({
      error: (_, { error }: { error: unknown }): ErrorBody => ({
        code: 'tool_blocked',
        message: `the call could not be checked: ${errorBody(error).message}`,
        retryable: false,
      }),
    }),
    rememberNobody: assign({
      error: {
        code: 'tool_denied',
        message: 'this call needs a person to agree, and nobody is there who could: nobody has asked for this turn',
        retryable: false,
      },
    }),
    rememberSilence: assign({
      error: ({ context }): ErrorBody => ({
        code: 'tool_denied',
        message: `nobody agreed to this call within ${patienceMs(context) / 1000} s, so it did not run`,
        retryable: false,
      }),
    }),
    tellSilence: enqueueActions(({ context: { runId, call }, enqueue }, { decision }: { decision: 'approve' | 'deny' }) =>
      enqueue.emit({ type: 'decided', runId, callId: call.id, decision, by: 'timeout' }),
    ),
    rememberError: assign({ error: (_, { error }: { error: unknown }) => errorBody(error, 'tool_failed') }),
    rememberDoubt: assign({
      error: (_, { error }: { error: unknown }): ErrorBody => ({
        code: 'tool_in_doubt',
        message: `${errorBody(error).message}; it may or may not have done its work`,
        retryable: false,
        hint: 'look at what it should have changed, then approve a repetition or deny it',
      }),
    }),
    allowMoreAttempts: assign({ attemptMax: ({ context }) => Math.max(context.attemptMax, attemptMaxOfLost) }),
    rememberTimeout: assign({
      error: ({ context }): ErrorBody => ({
        code: 'tool_timeout',
        message: `the tool did not finish within ${context.call.timeoutMs} ms`,
        retryable: false,
      }),
    }),
    rememberDenial: assign({
      error: ({ event }): ErrorBody => ({
        code: 'tool_denied',
        message: event.type === 'approve' ? refusal(event) : refusal({}),
        retryable: false,
      }),
    }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1, error: null }),
    askForDecision: sendParent(({ context }): ToolReport => {
      const { runId, call } = context
      const { id: callId, name, input, inputHash } = call
      return {
        type: 'tool.waiting',
        approval: {
          callId,
          runId,
          name,
          input,
          inputHash,
          attempt: asked(context),
          why: isInDoubt(context) ? 'in_doubt' : 'approval',
          ...questionTimes(context),
        },
      }
    }),
    endWaiting: enqueueActions(({ context, event, enqueue }) => {
      const call = callSince(context, event)
      if (call !== context.call) enqueue.assign({ call })
      enqueue.sendParent({ type: 'tool.decided', callId: call.id } satisfies ToolReport)
    }),
    announceRequest: enqueueActions(({ context: { runId, call }, enqueue }) =>
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'requested', input: call.input }),
    ),
    reportResult: enqueueActions(({ context, enqueue }, { answer }: { answer: ToolCallOutput }) => {
      const { runId, call } = context
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'completed', output: answer.output })
      enqueue.sendParent({
        type: 'tool.finished',
        callId: call.id,
        status: 'completed',
        result: shownResult(context, { content: answer.id }),
        output: answer.output,
        ...(answer.artifacts && { artifacts: answer.artifacts }),
      } satisfies ToolReport)
    }),
    delegate: sendParent(({ context: { call } }): ToolReport => ({ type: 'tool.delegated', callId: call.id, name: call.name, input: call.input })),
    rememberAnswer: assign({ error: ({ event }) => (event.type === 'answer' ? (event.error ?? null) : null) }),
    /** It stands in the transcript by itself: no effect has answered it. */
    reportAnswer: enqueueActions(({ context, event, enqueue }) => {
      const { runId, call } = context
      const output = event.type === 'answer' ? (event.output ?? null) : null
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'completed', output })
      enqueue.sendParent({
        type: 'tool.finished',
        callId: call.id,
        status: 'completed',
        result: shownResult(context, { role: 'tool', callId: call.callId, name: call.name, output, isError: false }),
        output,
      } satisfies ToolReport)
    }),
    reportFailure: enqueueActions(({ context, enqueue }, { status }: { status: Exclude<ToolOutcome['status'], 'completed'> }) => {
      const { runId, call } = context
      const output = failure(context)
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: status, output })
      enqueue.sendParent({
        type: 'tool.finished',
        callId: call.id,
        status,
        result: { role: 'tool', callId: call.callId, name: call.name, output, isError: true },
      } satisfies ToolReport)
    }),
  },
})
