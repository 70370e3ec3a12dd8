import type { LoopOutput } from '../../contracts/turn.ts'
import { begin, loopOutput, modelCall } from './loop.context.ts'
import { loopSetup } from './loop.setup.ts'

/**
 * The agent loop: the model is asked, tools do what it wants, and it is asked again, until it has nothing more to do. A step is one answer of a model
 * with its tool calls.
 */
export const loopMachine = loopSetup.createMachine({
  id: 'loop',
  description: 'The agent loop: model calls and tool calls until there is an answer.',
  context: ({ input }) => begin(input),
  output: ({ event }) => (event as unknown as { output: LoopOutput }).output,
  on: {
    steer: { actions: 'keepSteer', description: 'waits for the next step boundary' },
    cancel: { target: '.cancelled', actions: 'markCancelled' },
    forget: { actions: 'dropSteers' },
    expire: [
      { guard: 'wasStopped', target: '.cancelled' },
      { target: '.failed', actions: 'takeReason' },
    ],
  },
  initial: 'prompting',
  states: {
    prompting: {
      description: 'Is there a budget for one more step?',
      entry: 'settleCalls',
      always: [
        {
          guard: 'stepsSpent',
          target: 'failed',
          actions: { type: 'giveUp', params: { code: 'budget_steps', message: 'the turn used all its steps' } },
        },
        {
          guard: 'tokensSpent',
          target: 'failed',
          actions: { type: 'giveUp', params: { code: 'budget_tokens', message: 'the turn used all its tokens' } },
        },
        { guard: 'isFull', target: 'compacting', actions: 'beginStep' },
        { target: 'calling', actions: 'beginStep' },
      ],
    },
    calling: {
      description: 'The model answers; its text streams by.',
      entry: 'reportStart',
      invoke: {
        id: 'model',
        src: 'callModel',
        input: ({ context }) => modelCall(context),
        onDone: [
          { guard: 'wasStopped', target: 'cancelled', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
          { guard: 'isLate', target: 'failed', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
          { target: 'deciding', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
        ],
        onError: [
          { guard: 'wasStopped', target: 'cancelled' },
          { guard: 'isLate', target: 'failed' },
          {
            guard: { type: 'isOverflow', params: ({ event }) => ({ error: event.error }) },
            target: 'compacting',
            actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) },
          },
          {
            guard: { type: 'mayShorten', params: ({ event }) => ({ error: event.error }) },
            target: 'calling',
            reenter: true,
            actions: 'shorten',
          },
          {
            guard: { type: 'refusesThinking', params: ({ event }) => ({ error: event.error }) },
            target: 'calling',
            reenter: true,
            actions: { type: 'thinkLess', params: ({ event }) => ({ error: event.error }) },
          },
          {
            guard: { type: 'mayRotate', params: ({ event }) => ({ error: event.error }) },
            target: 'calling',
            reenter: true,
            actions: { type: 'rotate', params: ({ event }) => ({ error: event.error }) },
          },
          {
            guard: { type: 'mayFallBack', params: ({ event }) => ({ error: event.error }) },
            target: 'calling',
            reenter: true,
            actions: { type: 'fallBack', params: ({ event }) => ({ error: event.error }) },
          },
          {
            guard: { type: 'mayRetry', params: ({ event }) => ({ error: event.error }) },
            target: 'retrying',
            actions: { type: 'rememberAttempt', params: ({ event }) => ({ error: event.error }) },
          },
          { target: 'failed', actions: { type: 'rememberFailure', params: ({ event }) => ({ error: event.error }) } },
        ],
      },
      initial: 'streaming',
      states: {
        streaming: { on: { cancel: { target: 'stopping', actions: 'markCancelled' }, expire: { target: 'stopping', actions: 'takeReason' } } },
        stopping: {
          description: 'The model call is asked for what it has said so far.',
          entry: 'askModelToStop',
          on: { cancel: { actions: 'markCancelled' } },
          after: { stopMs: [{ guard: 'wasStopped', target: '#loop.cancelled' }, { target: '#loop.failed' }] },
        },
      },
    },
    retrying: {
      description: 'The model failed in a way that may pass.',
      entry: 'announceRetry',
      after: { retryDelay: { target: 'calling', actions: 'beginAttempt' } },
    },
    deciding: {
      description: 'The model has answered: what now?',
      always: [
        { guard: 'overtaken', target: 'steering' },
        {
          guard: 'toolCallsSpent',
          target: 'failed',
          actions: { type: 'giveUp', params: { code: 'budget_tool_calls', message: 'the turn used all its tool calls' } },
        },
        { guard: 'hasCalls', target: 'invoking', actions: 'countCalls' },
        { guard: 'steered', target: 'steering' },
        { target: 'completed' },
      ],
    },
    invoking: {
      description: 'The tools work, side by side or one by one.',
      on: {
        approve: { actions: 'passDecision' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellTurn'] },
        'tool.decided': { actions: ['endWaiting', 'tellTurn'] },
        'tool.finished': { actions: 'keepResult' },
        cancel: { actions: ['markCancelled', 'cancelTools'] },
      },
      always: [
        { guard: 'stepStopped', target: 'cancelled' },
        { guard: 'stepSteered', target: 'steering' },
        { guard: 'stepOver', target: 'prompting' },
        { guard: 'canLaunch', actions: 'launchTools' },
      ],
      initial: 'working',
      states: {
        working: {},
        'awaiting-input': {
          description: 'At least one call waits for a person.',
          tags: 'waiting',
          always: { guard: 'nobodyWaits', target: 'working' },
        },
      },
    },
    steering: {
      description: 'Newer messages are shown to the model before it goes on.',
      entry: ['settleCalls', 'takeSteers'],
      always: 'prompting',
    },
    compacting: {
      description: 'The conversation is longer than the model can read, or soon will be: old history becomes a summary.',
      entry: 'announceCompaction',
      exit: 'announceCompacted',
      invoke: {
        id: 'summary',
        src: 'summarise',
        input: ({ context: { session, runId, profile, transcriptLength, call } }) => ({
          session,
          profile,
          upTo: transcriptLength,
          id: `${runId}:summary-${call}`,
        }),
        onDone: { target: 'calling', actions: { type: 'takeSummary', params: ({ event }) => ({ summary: event.output }) } },
        onError: [
          { guard: 'wasInTime', target: 'calling', actions: 'goOnAsItIs' },
          { target: 'failed', actions: { type: 'rememberNoSummary', params: ({ event }) => ({ error: event.error }) } },
        ],
      },
    },
    completed: { type: 'final', description: 'The model has nothing more to do.', output: ({ context }) => loopOutput(context, 'completed') },
    failed: {
      type: 'final',
      description: 'It cannot go on.',
      entry: ['settleCalls', 'takeSteers'],
      output: ({ context }) => loopOutput(context, 'failed'),
    },
    cancelled: {
      type: 'final',
      description: 'Somebody stopped it; what was said is kept.',
      entry: ['settleCalls', 'takeSteers'],
      output: ({ context }) => loopOutput(context, 'cancelled'),
    },
  },
})
