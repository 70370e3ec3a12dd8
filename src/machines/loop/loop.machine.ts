import type { ModelCallOutput } from '../../contracts/model-call.ts'
import type { TurnStatus } from '../../contracts/turn.ts'
import { begin, loopOutput, modelCall, summaryInput } from './loop.context.ts'
import { loopSetup } from './loop.setup.ts'

const answer = ({ event }: { event: { output: ModelCallOutput } }) => ({ answer: event.output })
const failure = ({ event }: { event: { error: unknown } }) => ({ error: event.error })
const takeAnswer = { type: 'takeAnswer', params: answer } as const

/**
 * The agent loop: the model is asked, tools do what it wants, and it is asked again, until it has nothing more to do. A step is one answer of a model
 * with its tool calls.
 */
export const loopMachine = loopSetup.createMachine({
  id: 'loop',
  description: 'The agent loop: model calls and tool calls until there is an answer.',
  context: begin,
  output: ({ context, event }) => loopOutput(context, (event as unknown as { output: TurnStatus }).output),
  on: {
    steer: { actions: ['keepSteer', 'readSteer'], description: 'waits for the next step boundary; what is in it is looked at meanwhile' },
    understood: { actions: 'takeUnderstood' },
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
        { guard: 'isDeadEnd', target: 'failed', actions: 'giveUpSearching' },
        { guard: 'isFull', target: 'compacting' },
        { target: 'calling' },
      ],
    },
    calling: {
      description: 'The model answers; its text streams by. Then: what now?',
      entry: 'reportStart',
      invoke: {
        id: 'model',
        src: 'callModel',
        input: modelCall,
        onDone: [
          { guard: 'wasStopped', target: 'cancelled', actions: takeAnswer },
          { guard: 'isLate', target: 'failed', actions: takeAnswer },
          { guard: { type: 'overtaken', params: answer }, target: 'steering', actions: takeAnswer },
          {
            guard: { type: 'toolCallsSpent', params: answer },
            target: 'failed',
            actions: [takeAnswer, { type: 'giveUp', params: { code: 'budget_tool_calls', message: 'the turn used all its tool calls' } }],
          },
          { guard: { type: 'hasCalls', params: answer }, target: 'invoking', actions: takeAnswer },
          { guard: 'steered', target: 'steering', actions: takeAnswer },
          { guard: { type: 'saysSomething', params: answer }, target: 'completed', actions: takeAnswer },
          { guard: 'wasEmpty', target: 'failed', actions: { type: 'rememberNothing', params: answer } },
          { target: 'calling', reenter: true, actions: { type: 'askAgain', params: answer } },
        ],
        onError: [
          { guard: 'wasStopped', target: 'cancelled' },
          { guard: 'isLate', target: 'failed' },
          {
            guard: { type: 'isOverflow', params: failure },
            target: 'compacting',
            actions: { type: 'rememberError', params: failure },
          },
          {
            guard: { type: 'mayShorten', params: failure },
            target: 'calling',
            reenter: true,
            actions: 'shorten',
          },
          {
            guard: { type: 'refusesThinking', params: failure },
            target: 'calling',
            reenter: true,
            actions: { type: 'thinkLess', params: failure },
          },
          {
            guard: { type: 'mayRotate', params: failure },
            target: 'calling',
            reenter: true,
            actions: { type: 'rotate', params: failure },
          },
          {
            guard: { type: 'mayFallBack', params: failure },
            target: 'calling',
            reenter: true,
            actions: { type: 'fallBack', params: failure },
          },
          {
            guard: { type: 'mayRetry', params: failure },
            target: 'retrying',
            actions: { type: 'rememberAttempt', params: failure },
          },
          { target: 'failed', actions: { type: 'rememberFailure', params: failure } },
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
    invoking: {
      description: 'The tools work, side by side or one by one.',
      entry: 'launchTools',
      on: {
        approve: { actions: 'passDecision' },
        'tool.delegated': { actions: 'tellTurn' },
        answer: { actions: 'passAnswer' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellTurn'] },
        'tool.decided': { actions: ['endWaiting', 'tellTurn'] },
        'tool.finished': { actions: 'keepResult' },
        cancel: { actions: ['markCancelled', 'cancelTools'] },
      },
      always: [
        { guard: 'stepStopped', target: 'cancelled' },
        { guard: 'stepSteered', target: 'steering' },
        { guard: 'handsOver', target: 'completed', actions: ['handOver', 'settleCalls'] },
        { guard: 'stepOver', target: 'prompting', actions: 'settleCalls' },
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
      always: [
        { guard: 'isReading', target: 'reading' },
        { guard: 'nothingNew', target: 'completed' },
        { target: 'prompting', actions: ['settleCalls', 'takeSteers'] },
      ],
    },
    reading: {
      description: 'Links and media of newer messages are still looked at.',
      on: { understood: { target: 'steering', actions: 'takeUnderstood' } },
    },
    compacting: {
      description: 'The conversation is longer than the model can read, or soon will be: old history becomes a summary.',
      entry: 'announceCompaction',
      exit: 'announceCompacted',
      invoke: {
        id: 'summary',
        src: 'summarise',
        input: summaryInput,
        onDone: { target: 'calling', actions: { type: 'takeSummary', params: ({ event }) => ({ summary: event.output }) } },
        onError: [
          { guard: 'wasInTime', target: 'calling', actions: 'goOnAsItIs' },
          { target: 'failed', actions: { type: 'rememberNoSummary', params: failure } },
        ],
      },
    },
    completed: { type: 'final', description: 'The model has nothing more to do.', output: 'completed' },
    failed: {
      type: 'final',
      description: 'It cannot go on.',
      entry: ['settleCalls', 'takeSteers'],
      output: 'failed',
    },
    cancelled: {
      type: 'final',
      description: 'Somebody stopped it; what was said is kept.',
      entry: ['settleCalls', 'takeSteers'],
      output: 'cancelled',
    },
  },
})
