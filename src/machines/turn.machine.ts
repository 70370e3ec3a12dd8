import { assign, emit, enqueueActions, fromPromise, sendParent, sendTo, setup } from 'xstate'
import type { ErrorBody, ErrorCode } from '../contracts/errors.ts'
import { addUsage, type Message, noUsage, type Usage } from '../contracts/message.ts'
import { retryableModelError } from '../contracts/model.ts'
import type {
  ModelCallInput,
  ModelCallOutput,
  SessionOutput,
  SummaryInput,
  SummaryOutput,
  TranscriptNote,
  TurnInput,
  TurnOutput,
  TurnStatus,
} from '../contracts/session.ts'
import type { ToolCall, ToolOutcome } from '../contracts/tool.ts'
import { type StreamEvent, type StreamReport, streamMachine } from './stream.machine.ts'
import { type ToolEvent, type ToolReport, toolMachine } from './tool.machine.ts'

type Finished = { outcome: ToolOutcome; contentId: string | null }

type Context = Omit<TurnInput, 'prompt'> & {
  /** Ids of all messages that this turn answers. */
  ids: string[]
  /** Ids of messages taken in by steering and not shown to the model yet. */
  steers: string[]
  /** Model calls made, failed ones included: part of each call's name. */
  call: number
  /** Attempts at the present step. */
  attempt: number
  steps: number
  toolCalls: number
  usage: Usage
  text: string
  partial: boolean
  model: string
  /** Calls of the present step, in the order of the model, and how they ended, by index. */
  calls: ToolCall[]
  finished: Record<number, Finished>
  /** Calls that wait for a person. */
  waiting: string[]
  compacted: boolean
  cancelled: boolean
  error: ErrorBody | null
}

export type TurnEvent =
  | { type: 'steer'; id: string }
  | { type: 'cancel' }
  | Extract<ToolEvent, { type: 'approve' }>
  | ToolReport
  | StreamReport
  | Extract<StreamEvent, { type: 'stream.start' | 'stream.end' }>

const toolName = (index: number) => `tool-${index}`
const asError = (error: unknown): ErrorBody => {
  const { code, message, hint, retryable, data } = error as ErrorBody
  return {
    code: code ?? 'internal',
    message: message ?? String(error),
    retryable: retryable === true,
    ...(hint ? { hint } : {}),
    ...(data ? { data } : {}),
  }
}
const isFinished = (context: Context) => Object.keys(context.finished).length === context.calls.length
const nextIndex = (context: Context) => context.calls.findIndex((_, index) => !(index in context.finished))
const skipped = ({ id, callId, name }: ToolCall): Finished => ({
  outcome: {
    id,
    callId,
    name,
    status: 'skipped',
    isError: true,
    output: { error: { code: 'tool_skipped', message: 'not run: a newer message came first' } },
  },
  contentId: null,
})
/** A result in the transcript: its journalled content where a tool ran, else what the machine says in its place. */
const toolResult = ({ outcome, contentId }: Finished): string | Message =>
  contentId ?? { role: 'tool', callId: outcome.callId, name: outcome.name, output: outcome.output, isError: outcome.isError }
const retryAfterMs = (error: ErrorBody | null): number => (typeof error?.data?.retryAfterMs === 'number' ? error.data.retryAfterMs : 0)

const output = (context: Context, status: TurnStatus): TurnOutput => ({
  runId: context.runId,
  status,
  ids: context.ids,
  text: context.text,
  partial: context.partial,
  usage: context.usage,
  steps: context.steps,
  toolCalls: context.toolCalls,
  model: context.model,
  ...(context.error ? { error: context.error } : {}),
  transcriptLength: context.transcriptLength,
})

const events: Record<TurnStatus, 'final' | 'error' | 'aborted'> = { completed: 'final', failed: 'error', cancelled: 'aborted' }

/**
 * One accepted input up to its outcome: model calls, tool calls, steering, compaction. A step is one model call with its tool calls.
 *
 * | state          | on            | guard                 | next           | does                                    |
 * | -------------- | ------------- | --------------------- | -------------- | --------------------------------------- |
 * | admission      |               |                       | prompting      | puts the messages in the transcript     |
 * | prompting      |               | a budget is spent     | failing        |                                         |
 * | prompting      |               |                       | calling        |                                         |
 * | calling        | model done    | wasStopped            | cancelling     | keeps the partial text                  |
 * | calling        | model done    |                       | deciding       | puts the answer in the transcript       |
 * | calling        | model error   | isOverflow            | compacting     | once                                    |
 * | calling        | model error   | mayRetry              | retrying       |                                         |
 * | calling        | model error   |                       | failing        |                                         |
 * | calling        | cancel        |                       | calling.stopping | asks the model effect for what it has |
 * | deciding       |               | calls and steered     | steering       | pairs each call with a skipped result   |
 * | deciding       |               | calls                 | invoking       |                                         |
 * | deciding       |               | steered               | steering       |                                         |
 * | deciding       |               |                       | finalising     |                                         |
 * | invoking       | tool.waiting  |                       | awaiting-input |                                         |
 * | invoking       | tool.finished | all, cancelled        | cancelling     | puts the results in the transcript      |
 * | invoking       | tool.finished | all                   | steering or prompting | puts the results in the transcript |
 * | compacting     | done          |                       | calling        |                                         |
 * | finalising     | stream.closed |                       | completed      | likewise failing → failed, cancelling → cancelled |
 */
export const turnMachine = setup({
  types: {
    input: {} as TurnInput,
    output: {} as TurnOutput,
    context: {} as Context,
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
    isOverflow: ({ context }, { error }: { error: unknown }) => asError(error).code === 'provider_overflow' && !context.compacted,
    mayRetry: ({ context }, { error }: { error: unknown }) =>
      retryableModelError(asError(error)) && context.attempt < context.profile.modelAttemptMax,
    hasCalls: ({ context }) => context.calls.length > 0,
    steered: ({ context }) => context.steers.length > 0,
    overtaken: ({ context }) => context.calls.length > 0 && context.steers.length > 0,
    finished: ({ context }) => isFinished(context),
    finishedCancelled: ({ context }) => isFinished(context) && context.cancelled,
    finishedSteered: ({ context }) => isFinished(context) && context.steers.length > 0,
    oneByOne: ({ context }) => context.profile.toolExecution === 'sequential',
    oneByOneOvertaken: ({ context }) => context.profile.toolExecution === 'sequential' && context.steers.length > 0,
    nobodyWaits: ({ context }) => context.waiting.length === 0,
  },
  delays: {
    wallTime: ({ context }) => context.profile.wallTimeMs,
    retryDelay: ({ context }) => Math.min(60_000, Math.max(retryAfterMs(context.error), 500 * 2 ** (context.attempt - 1))),
  },
  actions: {
    notePrompt: emit(({ context }): TranscriptNote => ({ type: 'transcript', add: context.ids })),
    countPrompt: assign({ transcriptLength: ({ context }) => context.transcriptLength + context.ids.length }),
    beginStep: assign(({ context }) => ({ call: context.call + 1, attempt: 1, calls: [], finished: {}, error: null })),
    beginAttempt: assign(({ context }) => ({ call: context.call + 1, attempt: context.attempt + 1 })),
    beginAgain: assign(({ context }) => ({ call: context.call + 1 })),
    recordAnswer: assign(({ context }, { answer }: { answer: ModelCallOutput }) => ({
      text: answer.text,
      partial: answer.partial,
      model: answer.model,
      calls: answer.partial ? [] : answer.calls,
      finished: {},
      steps: context.steps + 1,
      usage: addUsage(context.usage, answer.usage),
      transcriptLength: context.transcriptLength + 1,
    })),
    noteAnswer: emit((_, { answer }: { answer: ModelCallOutput }): TranscriptNote => ({ type: 'transcript', add: [answer.id] })),
    rememberError: assign({ error: (_, { error }: { error: unknown }) => asError(error) }),
    giveUp: assign({
      error: (_, { code, message }: { code: ErrorCode; message: string }): ErrorBody => ({
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
        delayMs: Math.min(60_000, Math.max(retryAfterMs(context.error), 500 * 2 ** (context.attempt - 1))),
        error: context.error ?? asError(undefined),
      }),
    ),
    keepSteer: assign(({ context, event }) =>
      event.type === 'steer' ? { steers: [...context.steers, event.id], ids: [...context.ids, event.id] } : {},
    ),
    noteSteers: emit(({ context }): TranscriptNote => ({ type: 'transcript', add: context.steers })),
    takeSteers: assign({ steers: [], transcriptLength: ({ context }) => context.transcriptLength + context.steers.length }),
    markCancelled: assign({ cancelled: true }),
    askModelToStop: sendTo('model', { type: 'stop' }),
    skipCalls: assign({
      finished: ({ context }) => Object.fromEntries(context.calls.map((call, index) => [index, context.finished[index] ?? skipped(call)])),
    }),
    countCalls: assign({ toolCalls: ({ context }) => context.toolCalls + context.calls.length }),
    launchTools: enqueueActions(({ context, enqueue }) => {
      const launch = (call: ToolCall, index: number) =>
        enqueue.spawnChild('tool', {
          id: toolName(index),
          input: { session: context.session, runId: context.runId, agent: context.profile.agent, call, inDoubt: context.profile.inDoubt },
        })
      const next = nextIndex(context)
      if (context.profile.toolExecution === 'parallel') context.calls.forEach(launch)
      else if (context.calls[next]) launch(context.calls[next], next)
    }),
    recordFinished: assign(({ context, event }) => {
      if (event.type !== 'tool.finished') return {}
      const index = context.calls.findIndex(({ id }) => id === event.outcome.id)
      return { finished: { ...context.finished, [index]: { outcome: event.outcome, contentId: event.contentId } } }
    }),
    noteResults: enqueueActions(({ context, enqueue }) => {
      const add = context.calls.map((call, index) => toolResult(context.finished[index] ?? skipped(call)))
      if (add.length > 0) enqueue.emit({ type: 'transcript', add })
    }),
    announceSkipped: enqueueActions(({ context, enqueue }) => {
      for (const { outcome } of Object.values(context.finished))
        if (outcome.status === 'skipped')
          enqueue.emit({ type: 'tool', runId: context.runId, callId: outcome.id, name: outcome.name, phase: 'skipped', output: outcome.output })
    }),
    countResults: assign({ transcriptLength: ({ context }) => context.transcriptLength + context.calls.length, waiting: [] }),
    dismissTools: enqueueActions(({ context, enqueue }) => {
      for (const index of context.calls.keys()) enqueue.stopChild(toolName(index))
    }),
    cancelTools: enqueueActions(({ context, enqueue }) => {
      for (const index of context.calls.keys()) if (!(index in context.finished)) enqueue.sendTo(toolName(index), { type: 'cancel' })
    }),
    passDecision: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'approve') return
      const index = context.calls.findIndex(({ id }) => id === event.callId)
      if (index >= 0) enqueue.sendTo(toolName(index), event)
    }),
    keepWaiting: assign(({ context, event }) => (event.type === 'tool.waiting' ? { waiting: [...context.waiting, event.approval.callId] } : {})),
    endWaiting: assign(({ context, event }) =>
      event.type === 'tool.decided' ? { waiting: context.waiting.filter((id) => id !== event.callId) } : {},
    ),
    tellSession: sendParent(({ event }) => event),
    passEdge: sendTo('stream', ({ event }) => event as StreamEvent),
    closeStream: sendTo('stream', { type: 'stream.close' }),
    failStream: sendTo('stream', { type: 'stream.fail' }),
    abortStream: sendTo('stream', { type: 'stream.abort' }),
    recordSummary: assign(({ context }, { summary }: { summary: SummaryOutput }) => ({
      compacted: true,
      transcriptLength: summary.keep + 1,
      usage: addUsage(context.usage, summary.usage),
    })),
    noteSummary: emit(
      (_, { summary }: { summary: SummaryOutput }): TranscriptNote => ({ type: 'transcript', compact: { keep: summary.keep, summary: summary.id } }),
    ),
    announceCompacted: emit(
      ({ context }, { summary }: { summary: SummaryOutput }): SessionOutput => ({ type: 'compacted', runId: context.runId, keep: summary.keep }),
    ),
    announceEnd: emit(({ context }, { status }: { status: TurnStatus }): SessionOutput => ({ type: events[status], ...output(context, status) })),
  },
}).createMachine({
  id: 'turn',
  description: 'One accepted input up to its outcome: model calls, tool calls, steering, compaction.',
  context: ({ input: { prompt, ...input } }) => ({
    ...input,
    ids: prompt.map(({ id }) => id),
    steers: [],
    call: 0,
    attempt: 1,
    steps: 0,
    toolCalls: 0,
    usage: noUsage,
    text: '',
    partial: false,
    model: input.profile.model,
    calls: [],
    finished: {},
    waiting: [],
    compacted: false,
    cancelled: false,
    error: null,
  }),
  output: ({ event }) => (event as unknown as { output: TurnOutput }).output,
  invoke: { id: 'stream', src: 'stream', input: ({ context }) => ({ runId: context.runId }) },
  on: {
    steer: { actions: 'keepSteer', description: 'waits for the next step boundary' },
    cancel: { target: '.cancelling', actions: 'markCancelled' },
    'stream.start': { actions: 'passEdge' },
    'stream.end': { actions: 'passEdge' },
  },
  after: {
    wallTime: { target: '.failing', actions: { type: 'giveUp', params: { code: 'budget_time', message: 'the turn took longer than it may' } } },
  },
  initial: 'admission',
  states: {
    admission: {
      description: 'The messages become part of the transcript.',
      entry: ['notePrompt', 'countPrompt'],
      always: 'prompting',
    },
    prompting: {
      description: 'Is there a budget for one more step?',
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
      invoke: {
        id: 'model',
        src: 'callModel',
        input: ({ context: { session, runId, profile, transcriptLength, call } }) => ({ session, runId, profile, upTo: transcriptLength, call }),
        onDone: [
          {
            guard: 'wasStopped',
            target: 'cancelling',
            actions: [
              { type: 'recordAnswer', params: ({ event }) => ({ answer: event.output }) },
              { type: 'noteAnswer', params: ({ event }) => ({ answer: event.output }) },
              'skipCalls',
              'noteResults',
              'countResults',
            ],
          },
          {
            target: 'deciding',
            actions: [
              { type: 'recordAnswer', params: ({ event }) => ({ answer: event.output }) },
              { type: 'noteAnswer', params: ({ event }) => ({ answer: event.output }) },
            ],
          },
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
          after: { 1000: '#turn.cancelling' },
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
        { guard: 'overtaken', target: 'steering', actions: ['skipCalls', 'noteResults', 'announceSkipped', 'countResults'] },
        {
          guard: 'toolCallsSpent',
          target: 'failing',
          actions: [
            'skipCalls',
            'noteResults',
            'countResults',
            { type: 'giveUp', params: { code: 'budget_tool_calls', message: 'the turn used all its tool calls' } },
          ],
        },
        { guard: 'hasCalls', target: 'invoking', actions: 'countCalls' },
        { guard: 'steered', target: 'steering' },
        { target: 'finalising' },
      ],
    },
    invoking: {
      description: 'The tools work, side by side or one by one.',
      entry: 'launchTools',
      exit: ['skipCalls', 'noteResults', 'countResults', 'dismissTools'],
      on: {
        approve: { actions: 'passDecision' },
        'tool.waiting': { target: '.awaiting-input', actions: ['keepWaiting', 'tellSession'] },
        'tool.decided': { actions: ['endWaiting', 'tellSession'] },
        'tool.finished': { actions: 'recordFinished' },
        cancel: { actions: ['markCancelled', 'cancelTools'] },
      },
      always: [
        { guard: 'finishedCancelled', target: 'cancelling' },
        { guard: 'finishedSteered', target: 'steering' },
        { guard: 'finished', target: 'prompting' },
      ],
      initial: 'working',
      states: {
        working: {
          on: {
            'tool.finished': [
              { guard: 'oneByOneOvertaken', actions: ['recordFinished', 'skipCalls', 'announceSkipped'] },
              { guard: 'oneByOne', actions: ['recordFinished', 'launchTools'] },
              { actions: 'recordFinished' },
            ],
          },
        },
        'awaiting-input': {
          description: 'At least one call waits for a person.',
          tags: 'waiting',
          always: { guard: 'nobodyWaits', target: 'working' },
        },
      },
    },
    steering: {
      description: 'Newer messages are shown to the model before it goes on.',
      entry: ['noteSteers', 'takeSteers'],
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
        onDone: {
          target: 'calling',
          actions: [
            { type: 'recordSummary', params: ({ event }) => ({ summary: event.output }) },
            { type: 'noteSummary', params: ({ event }) => ({ summary: event.output }) },
            { type: 'announceCompacted', params: ({ event }) => ({ summary: event.output }) },
            'beginAgain',
          ],
        },
        onError: { target: 'failing', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    finalising: {
      description: 'All is said; the last of it is delivered.',
      entry: 'closeStream',
      on: { 'stream.closed': 'completed' },
    },
    failing: {
      description: 'It cannot go on; whoever listens is told.',
      entry: 'failStream',
      on: { 'stream.closed': 'failed' },
    },
    cancelling: {
      description: 'Somebody stopped it; what was said is kept.',
      entry: 'abortStream',
      on: { 'stream.closed': 'cancelled', cancel: {} },
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
