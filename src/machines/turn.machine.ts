import type { TurnOutput } from '../contracts/session.ts'
import { begin, output } from './turn.context.ts'
import { turnSetup } from './turn.setup.ts'

/**
 * One accepted input up to its outcome: model calls, tool calls, steering, compaction. A step is one model call with its tool calls.
 *
 * | state          | on            | guard                 | next             | does                                             |
 * | -------------- | ------------- | --------------------- | ---------------- | ------------------------------------------------ |
 * | admission      |               |                       | prompting        | puts the messages in the transcript              |
 * | prompting      |               | a budget is spent     | failing          |                                                  |
 * | prompting      |               |                       | calling          |                                                  |
 * | calling        | model done    | wasStopped            | cancelling       | keeps the partial text                           |
 * | calling        | model done    |                       | deciding         | puts the answer in the transcript                |
 * | calling        | model error   | wasStopped            | cancelling       |                                                  |
 * | calling        | model error   | isOverflow            | compacting       | once a step                                      |
 * | calling        | model error   | mayRetry              | retrying         |                                                  |
 * | calling        | model error   |                       | failing          |                                                  |
 * | calling        | cancel        |                       | calling.stopping | asks the model effect for what it has            |
 * | calling.stopping | after stopMs |                      | cancelling       |                                                  |
 * | retrying       | after a delay |                       | calling          |                                                  |
 * | deciding       |               | overtaken             | steering         | pairs each call with a skipped result            |
 * | deciding       |               | toolCallsSpent        | failing          | likewise                                         |
 * | deciding       |               | hasCalls              | invoking         |                                                  |
 * | deciding       |               | steered               | steering         |                                                  |
 * | deciding       |               |                       | finalising       |                                                  |
 * | invoking       | tool.waiting  |                       | invoking.awaiting-input | tells the session                         |
 * | invoking       |               | stepStopped           | cancelling       | puts the results in the transcript, in each case |
 * | invoking       |               | stepSteered           | steering         | what was not launched yet is skipped             |
 * | invoking       |               | stepOver              | prompting        |                                                  |
 * | invoking       |               | canLaunch             | invoking         | launches all, or the next                        |
 * | invoking       | cancel        |                       | invoking         | cancels what runs                                |
 * | steering       |               |                       | prompting        | puts the newer messages in the transcript        |
 * | compacting     | summary done  |                       | calling          | replaces old history                             |
 * | compacting     | summary error |                       | failing          |                                                  |
 * | (all)          | steer         |                       |                  | keeps the message for the next step boundary     |
 * | (all others)   | cancel        |                       | cancelling       |                                                  |
 * | (all)          | after wallTime | wasStopped           | cancelling       |                                                  |
 * | (all)          | after wallTime |                      | failing          |                                                  |
 * | finalising     | stream done   |                       | completed        | likewise failing → failed, cancelling → cancelled |
 */
export const turnMachine = turnSetup.createMachine({
  id: 'turn',
  description: 'One accepted input up to its outcome: model calls, tool calls, steering, compaction.',
  context: ({ input }) => begin(input),
  output: ({ event }) => (event as unknown as { output: TurnOutput }).output,
  invoke: { id: 'stream', src: 'stream', input: ({ context }) => ({ runId: context.runId }) },
  on: {
    steer: { actions: 'keepSteer', description: 'waits for the next step boundary' },
    cancel: { target: '.cancelling', actions: 'markCancelled' },
  },
  after: {
    wallTime: [
      { guard: 'wasStopped', target: '.cancelling' },
      { target: '.failing', actions: { type: 'giveUp', params: { code: 'budget_time', message: 'the turn took longer than it may' } } },
    ],
  },
  initial: 'admission',
  states: {
    admission: { description: 'The messages become part of the transcript.', entry: 'admit', always: 'prompting' },
    prompting: {
      description: 'Is there a budget for one more step?',
      entry: 'settleCalls',
      always: [
        {
          guard: 'stepsSpent',
          target: 'failing',
          actions: { type: 'giveUp', params: { code: 'budget_steps', message: 'the turn used all its steps' } },
        },
        {
          guard: 'tokensSpent',
          target: 'failing',
          actions: { type: 'giveUp', params: { code: 'budget_tokens', message: 'the turn used all its tokens' } },
        },
        { target: 'calling', actions: 'beginStep' },
      ],
    },
    calling: {
      description: 'The model answers; its text streams by.',
      entry: 'openStream',
      invoke: {
        id: 'model',
        src: 'callModel',
        input: ({ context: { session, runId, profile, transcriptLength, call } }) => ({ session, runId, profile, upTo: transcriptLength, call }),
        onDone: [
          { guard: 'wasStopped', target: 'cancelling', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
          { target: 'deciding', actions: { type: 'takeAnswer', params: ({ event }) => ({ answer: event.output }) } },
        ],
        onError: [
          { guard: 'wasStopped', target: 'cancelling' },
          { guard: { type: 'isOverflow', params: ({ event }) => ({ error: event.error }) }, target: 'compacting' },
          {
            guard: { type: 'mayRetry', params: ({ event }) => ({ error: event.error }) },
            target: 'retrying',
            actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) },
          },
          { target: 'failing', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
        ],
      },
      initial: 'streaming',
      states: {
        streaming: { on: { cancel: { target: 'stopping', actions: 'markCancelled' } } },
        stopping: {
          description: 'The model call is asked for what it has said so far.',
          entry: 'askModelToStop',
          on: { cancel: {} },
          after: { stopMs: '#turn.cancelling' },
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
          target: 'failing',
          actions: { type: 'giveUp', params: { code: 'budget_tool_calls', message: 'the turn used all its tool calls' } },
        },
        { guard: 'hasCalls', target: 'invoking', actions: 'countCalls' },
        { guard: 'steered', target: 'steering' },
        { target: 'finalising' },
      ],
    },
    invoking: {
      description: 'The tools work, side by side or one by one.',
      on: {
        approve: { actions: 'passDecision' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellSession'] },
        'tool.decided': { actions: ['endWaiting', 'tellSession'] },
        'tool.finished': { actions: 'keepResult' },
        cancel: { actions: ['markCancelled', 'cancelTools'] },
      },
      always: [
        { guard: 'stepStopped', target: 'cancelling' },
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
      description: 'The conversation is longer than the model can read: old history becomes a summary.',
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
        onError: { target: 'failing', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    finalising: {
      description: 'All is said; the last of it is delivered.',
      entry: 'closeStream',
      on: { 'xstate.done.actor.stream': 'completed' },
    },
    failing: {
      description: 'It cannot go on; whoever listens is told.',
      entry: ['settleCalls', 'takeSteers', 'failStream'],
      on: { 'xstate.done.actor.stream': 'failed' },
    },
    cancelling: {
      description: 'Somebody stopped it; what was said is kept.',
      entry: ['settleCalls', 'takeSteers', 'abortStream'],
      on: { 'xstate.done.actor.stream': 'cancelled' },
    },
    completed: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'completed' } },
      output: ({ context }) => output(context, 'completed'),
    },
    failed: { type: 'final', entry: { type: 'announceEnd', params: { status: 'failed' } }, output: ({ context }) => output(context, 'failed') },
    cancelled: {
      type: 'final',
      entry: { type: 'announceEnd', params: { status: 'cancelled' } },
      output: ({ context }) => output(context, 'cancelled'),
    },
  },
})
