import { definedOf } from '../../contracts/defined.ts'
import { toolSetup } from './tool.setup.ts'

/** What becomes of a call that may run. */
const decisions = [
  { guard: 'nobodyThere', target: 'denied', actions: 'rememberNobody' },
  { guard: 'needsApproval', target: 'awaiting-input' },
  { guard: 'isDelegated', target: 'delegated' },
  { target: 'running' },
] as const

/**
 * One tool call, from the model's request to its result. An attempt that may have run and left no result is never repeated by the machine alone: the call is in
 * doubt, and a person decides, or the model is told that nobody knows. An approval counts for these arguments and for one attempt.
 */
export const toolMachine = toolSetup.createMachine({
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
          { guard: 'approvedDelegated', target: 'delegated' },
          { guard: 'approved', target: 'running' },
          { guard: 'deniedInDoubt', target: 'reported-in-doubt' },
          { guard: 'denied', target: 'denied', actions: 'rememberDenial' },
        ],
      },
      after: {
        approvalTimeout: [
          {
            guard: 'runsUnaskedDelegated',
            target: 'delegated',
            actions: { type: 'tellSilence', params: { decision: 'approve' } },
          },
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
    delegated: {
      description: 'Whoever is above runs it.',
      entry: 'delegate',
      on: {
        answer: [
          { guard: 'isFailure', target: 'failed', actions: 'rememberAnswer' },
          { target: 'completed', actions: 'reportAnswer' },
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
