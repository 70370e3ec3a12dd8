import { assign, emit, fromPromise, sendParent, setup } from 'xstate'
import type { ErrorBody } from '../contracts/errors.ts'
import type { Approval, SessionOutput, ToolCallInput, ToolCallOutput, ToolInput } from '../contracts/session.ts'
import type { ToolOutcome } from '../contracts/tool.ts'

type Phase = Extract<SessionOutput, { type: 'tool' }>['phase']
type Context = ToolInput & {
  attempt: number
  result: { output: unknown; isError: boolean } | null
  error: ErrorBody | null
}

export type ToolEvent =
  | { type: 'approve'; callId: string; decision: 'approve' | 'deny'; inputHash: string; by?: string | undefined }
  | { type: 'cancel' }

/** What a tool call tells its turn. `contentId` names its journalled result; where no tool ran, the machine made up what stands in its place. */
export type ToolReport =
  | { type: 'tool.waiting'; approval: Approval }
  | { type: 'tool.decided'; callId: string }
  | { type: 'tool.finished'; outcome: ToolOutcome; contentId: string | null }

const asError = (error: unknown): ErrorBody => {
  const { code, message, hint, retryable, data } = error as ErrorBody
  return {
    code: code ?? 'tool_failed',
    message: message ?? String(error),
    retryable: retryable === true,
    ...(hint ? { hint } : {}),
    ...(data ? { data } : {}),
  }
}

const outcome = (context: Context, status: ToolOutcome['status']): ToolOutcome => {
  const { id, callId, name } = context.call
  if (context.result) return { id, callId, name, status, ...context.result }
  const why = context.error ?? { code: 'cancelled', message: 'the call was cancelled', retryable: false }
  return {
    id,
    callId,
    name,
    status,
    output: { error: { code: why.code, message: why.message, ...(why.hint ? { hint: why.hint } : {}) } },
    isError: true,
  }
}

/**
 * One tool call, from the model's wish to its result.
 *
 * | state          | on                    | guard          | next           | does                       |
 * | -------------- | --------------------- | -------------- | -------------- | -------------------------- |
 * | admission      |                       | hasProblem     | failed         | tells the model what is wrong |
 * | admission      |                       | needsApproval  | awaiting-input |                            |
 * | admission      |                       |                | running        |                            |
 * | awaiting-input | approve               | approved       | running        | once; bound to the arguments |
 * | awaiting-input | approve               | deniedBy…      | denied, doubt  |                            |
 * | running        | execute done          |                | completed      |                            |
 * | running        | execute error         | ranPerhaps     | in-doubt       | never runs it again by itself |
 * | running        | execute error         | mayRetry       | retrying       |                            |
 * | running        | execute error         |                | failed         |                            |
 * | running        | after timeout         |                | failed         | the effect is stopped      |
 * | in-doubt       |                       | asksPerson     | awaiting-input |                            |
 * | (all)          | cancel                |                | cancelled      | the effect is stopped      |
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
    execute: fromPromise<ToolCallOutput, ToolCallInput>(() => Promise.reject(new Error('not provided'))),
  },
  guards: {
    hasProblem: ({ context }) => context.call.problem !== undefined,
    needsApproval: ({ context }) => context.call.needsApproval,
    approved: ({ context, event }) => event.type === 'approve' && event.inputHash === context.call.inputHash && event.decision === 'approve',
    deniedInDoubt: ({ context, event }) =>
      event.type === 'approve' && event.inputHash === context.call.inputHash && event.decision === 'deny' && context.error?.code === 'tool_in_doubt',
    denied: ({ context, event }) => event.type === 'approve' && event.inputHash === context.call.inputHash && event.decision === 'deny',
    ranPerhaps: (_, { error }: { error: unknown }) => asError(error).code === 'tool_in_doubt',
    mayRetry: ({ context }, { error }: { error: unknown }) => asError(error).retryable && context.attempt < context.call.attemptMax,
    asksPerson: ({ context }) => context.inDoubt === 'ask',
  },
  delays: {
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
    rememberResult: assign({ result: (_, { output }: { output: ToolCallOutput }) => ({ output: output.output, isError: false }), error: null }),
    rememberError: assign({ error: (_, { error }: { error: unknown }) => asError(error) }),
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
        message: `a person refused this call${event.type === 'approve' && event.by ? ` (${event.by})` : ''}`,
        retryable: false,
      }),
    }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1, error: null }),
    askForDecision: sendParent(
      ({ context: { runId, call, error } }): ToolReport => ({
        type: 'tool.waiting',
        approval: {
          callId: call.id,
          runId,
          name: call.name,
          input: call.input,
          inputHash: call.inputHash,
          why: error?.code === 'tool_in_doubt' ? 'in_doubt' : 'approval',
        },
      }),
    ),
    reportDecision: sendParent(({ context }): ToolReport => ({ type: 'tool.decided', callId: context.call.id })),
    announce: emit(({ context }, { phase }: { phase: Phase }): SessionOutput => {
      const { id, name, input } = context.call
      const content = phase === 'requested' || phase === 'progress' ? { input } : { output: outcome(context, phase).output }
      return { type: 'tool', runId: context.runId, callId: id, name, phase, ...content }
    }),
    finish: sendParent(
      ({ context }, { status }: { status: ToolOutcome['status'] }): ToolReport => ({
        type: 'tool.finished',
        outcome: outcome(context, status),
        contentId: context.result ? context.call.id : null,
      }),
    ),
  },
}).createMachine({
  id: 'tool',
  description: 'One tool call, from the wish of the model to its result.',
  context: ({ input }) => ({ ...input, attempt: 1, result: null, error: null }),
  initial: 'admission',
  on: { cancel: { target: '.cancelled', description: 'somebody pressed stop' } },
  states: {
    admission: {
      description: 'May it run at all, and does a person have to agree?',
      entry: { type: 'announce', params: { phase: 'requested' } },
      always: [
        { guard: 'hasProblem', target: 'failed', actions: 'rememberProblem' },
        { guard: 'needsApproval', target: 'awaiting-input' },
        { target: 'running' },
      ],
    },
    'awaiting-input': {
      description: 'A person decides; the decision counts for these arguments only.',
      tags: 'waiting',
      entry: 'askForDecision',
      exit: 'reportDecision',
      on: {
        approve: [
          { guard: 'approved', target: 'running', actions: 'countAttempt' },
          { guard: 'deniedInDoubt', target: 'reported-in-doubt' },
          { guard: 'denied', target: 'denied', actions: 'rememberDenial' },
        ],
      },
    },
    running: {
      description: 'The tool works.',
      invoke: {
        id: 'execute',
        src: 'execute',
        input: ({ context: { session, runId, agent, call, attempt } }) => ({ session, runId, agent, call, attempt, onCrash: call.onCrash }),
        onDone: { target: 'completed', actions: { type: 'rememberResult', params: ({ event }) => ({ output: event.output }) } },
        onError: [
          {
            guard: { type: 'ranPerhaps', params: ({ event }) => ({ error: event.error }) },
            target: 'in-doubt',
            actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) },
          },
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
      description: 'A crash hit in the middle of a call that must not run twice.',
      always: [{ guard: 'asksPerson', target: 'awaiting-input' }, { target: 'reported-in-doubt' }],
    },
    completed: {
      type: 'final',
      entry: [
        { type: 'announce', params: { phase: 'completed' } },
        { type: 'finish', params: { status: 'completed' } },
      ],
    },
    failed: {
      type: 'final',
      entry: [
        { type: 'announce', params: { phase: 'failed' } },
        { type: 'finish', params: { status: 'failed' } },
      ],
    },
    denied: {
      type: 'final',
      entry: [
        { type: 'announce', params: { phase: 'denied' } },
        { type: 'finish', params: { status: 'denied' } },
      ],
    },
    cancelled: {
      type: 'final',
      entry: [
        { type: 'announce', params: { phase: 'cancelled' } },
        { type: 'finish', params: { status: 'cancelled' } },
      ],
    },
    'reported-in-doubt': {
      type: 'final',
      entry: [
        { type: 'announce', params: { phase: 'in_doubt' } },
        { type: 'finish', params: { status: 'in_doubt' } },
      ],
    },
  },
})
