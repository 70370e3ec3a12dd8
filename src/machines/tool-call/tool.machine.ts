import { assign, enqueueActions, fromPromise, sendParent, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { definedOf } from '../../contracts/defined.ts'

import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ToolOutcome } from '../../contracts/tool.ts'
import type { GateInput, GateOutput, ToolCallInput, ToolCallOutput, ToolInput } from '../../contracts/tool-call.ts'
import {
  asked,
  attemptMaxOfLost,
  type Context,
  decides,
  expires,
  failure,
  isInDoubt,
  longestPatienceMs,
  mustAsk,
  patienceMs,
  refusal,
  type ToolEvent,
  type ToolReport,
} from './tool.context.ts'

/** What becomes of a call that may run. */
const decisions = [
  { guard: 'nobodyThere', target: 'denied', actions: 'rememberNobody' },
  { guard: 'needsApproval', target: 'awaiting-input' },
  { target: 'running' },
] as const

/**
 * One tool call, from the model's request to its result. An attempt that may have run and left no result is never repeated by the machine alone: the call is in
 * doubt, and a person decides, or the model is told that nobody knows. An approval counts for these arguments and for one attempt.
 */
export const toolMachine = setup({
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
        approval: { callId, runId, name, input, inputHash, attempt: asked(context), why: isInDoubt(context) ? 'in_doubt' : 'approval' },
      }
    }),
    endWaiting: sendParent(({ context }): ToolReport => ({ type: 'tool.decided', callId: context.call.id })),
    announceRequest: enqueueActions(({ context: { runId, call }, enqueue }) =>
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'requested', input: call.input }),
    ),
    reportResult: enqueueActions(({ context: { runId, call }, enqueue }, { answer }: { answer: ToolCallOutput }) => {
      enqueue.emit({ type: 'tool', runId, callId: call.id, name: call.name, phase: 'completed', output: answer.output })
      enqueue.sendParent({
        type: 'tool.finished',
        callId: call.id,
        status: 'completed',
        result: { content: answer.id },
        output: answer.output,
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
}).createMachine({
  id: 'tool',
  description: 'One tool call, from the wish of the model to its result.',
  context: ({ input }) => ({ ...input, attempt: 1, attemptMax: input.call.attemptMax, error: null }),
  initial: 'admission',
  on: { cancel: { target: '.cancelled', description: 'somebody pressed stop' } },
  states: {
    admission: {
      description: 'May it run at all, and does a person have to agree?',
      entry: 'announceRequest',
      always: [{ guard: 'hasProblem', target: 'failed', actions: 'rememberProblem' }, { guard: 'isGated', target: 'checking' }, ...decisions],
    },
    checking: {
      description: 'The hooks of the agent and of extensions are asked; one that fails blocks the call.',
      invoke: {
        id: 'check',
        src: 'check',
        input: ({ context: { session, conversation, runId, agent, call, thread } }) => ({
          session,
          runId,
          agent,
          call,
          ...definedOf({ conversation, thread }),
        }),
        onDone: [
          {
            guard: { type: 'isBlocked', params: ({ event }) => ({ answer: event.output }) },
            target: 'denied',
            actions: { type: 'rememberBlock', params: ({ event }) => ({ answer: event.output }) },
          },
          { target: 'checked', actions: { type: 'takeVerdict', params: ({ event }) => ({ answer: event.output }) } },
        ],
        onError: { target: 'denied', actions: { type: 'rememberNoCheck', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    checked: { description: 'What is left of it may run; does a person have to agree?', always: decisions },
    'awaiting-input': {
      description: 'A person decides; the decision counts for these arguments only.',
      tags: 'waiting',
      entry: 'askForDecision',
      exit: 'endWaiting',
      on: {
        approve: [
          { guard: 'approvedInDoubt', target: 'running', actions: 'countAttempt' },
          { guard: 'approved', target: 'running' },
          { guard: 'deniedInDoubt', target: 'reported-in-doubt' },
          { guard: 'denied', target: 'denied', actions: 'rememberDenial' },
        ],
      },
      after: {
        approvalTimeout: [
          { guard: 'runsUnasked', target: 'running', actions: { type: 'tellSilence', params: { decision: 'approve' } } },
          { guard: 'staysUnasked', target: 'denied', actions: ['rememberSilence', { type: 'tellSilence', params: { decision: 'deny' } }] },
        ],
      },
    },
    running: {
      description: 'The tool works.',
      invoke: {
        id: 'execute',
        src: 'execute',
        input: ({ context: { session, conversation, runId, agent, call, thread, skillFilter, skillsVersion, attempt } }) => ({
          session,
          runId,
          agent,
          call,
          attempt,
          onCrash: call.onCrash,
          ...definedOf({ conversation, thread, skillFilter, skillsVersion }),
        }),
        onDone: { target: 'completed', actions: { type: 'reportResult', params: ({ event }) => ({ answer: event.output }) } },
        onError: [
          {
            guard: { type: 'ranPerhaps', params: ({ event }) => ({ error: event.error }) },
            target: 'in-doubt',
            actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) },
          },
          {
            guard: { type: 'lostOnce', params: ({ event }) => ({ error: event.error }) },
            target: 'in-doubt',
            actions: { type: 'rememberDoubt', params: ({ event }) => ({ error: event.error }) },
          },
          { guard: { type: 'lost', params: ({ event }) => ({ error: event.error }) }, target: 'retrying', actions: 'allowMoreAttempts' },
          { guard: { type: 'mayRetry', params: ({ event }) => ({ error: event.error }) }, target: 'retrying' },
          { target: 'failed', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
        ],
      },
      after: { timeout: { target: 'failed', actions: 'rememberTimeout' } },
    },
    retrying: {
      description: 'It failed in a way that may pass.',
      after: { backoff: { target: 'running', actions: 'countAttempt' } },
    },
    'in-doubt': {
      description: 'A crash, here or of its worker, hit in the middle of a call that must not run twice.',
      always: [{ guard: 'asksPerson', target: 'awaiting-input' }, { target: 'reported-in-doubt' }],
    },
    completed: { type: 'final' },
    failed: { type: 'final', entry: { type: 'reportFailure', params: { status: 'failed' } } },
    denied: { type: 'final', entry: { type: 'reportFailure', params: { status: 'denied' } } },
    cancelled: { type: 'final', entry: { type: 'reportFailure', params: { status: 'cancelled' } } },
    'reported-in-doubt': { type: 'final', entry: { type: 'reportFailure', params: { status: 'in_doubt' } } },
  },
})
