import { assign, emit, enqueueActions, fromPromise, sendTo, setup, stateIn } from 'xstate'
import type { ErrorCode } from '../contracts/errors.ts'
import type {
  AcceptedMessage,
  Approval,
  Profile,
  SessionEvent,
  SessionOutput,
  SummaryInput,
  SummaryOutput,
  TranscriptNote,
  TurnInput,
  TurnOutput,
} from '../contracts/session.ts'
import type { ToolReport } from './tool.machine.ts'
import { turnMachine } from './turn.machine.ts'

/** Messages that may wait while a turn is running. */
export const queueMax = 100
/** Decisions and outcomes that a session remembers, to answer repeated questions. */
const rememberedMax = 50

type Run = { runId: string; ids: string[]; profile: Profile }

type Context = {
  key: string
  transcriptLength: number
  /** Accepted messages without a turn, oldest first. */
  queue: AcceptedMessage[]
  run: Run | null
  /** Turns so far: part of nothing but the trace. */
  turns: number
  approvals: Approval[]
  decided: string[]
  /** How the last turns ended, newest last. */
  outcomes: Omit<TurnOutput, 'text' | 'transcriptLength'>[]
  resets: number
  updatedAt: number
}

type Refusal = { code: ErrorCode; message: string; hint: string }

const remember = <T>(list: T[], item: T): T[] => [...list, item].slice(-rememberedMax)
const newest = (context: Context): AcceptedMessage | undefined => context.queue.at(-1)

/** What the next turn takes: one message, or all that wait when the newest asks to be collected. */
const taken = (context: Context): AcceptedMessage[] => (newest(context)?.profile.queueMode === 'collect' ? context.queue : context.queue.slice(0, 1))

/** Errors after which the conversation itself cannot be used any more. */
const isBroken = (output: TurnOutput): boolean => output.status === 'failed' && output.error?.code === 'provider_overflow'

/**
 * A conversation: what becomes of each message, one turn at a time.
 *
 * | state         | on            | guard          | next           | does                                          |
 * | ------------- | ------------- | -------------- | -------------- | --------------------------------------------- |
 * | awaiting-input | message      |                | admission      | accepts it                                    |
 * | admission     |               | hasQueue       | running        | takes the next message, or all to be collected |
 * | admission     |               |                | awaiting-input |                                               |
 * | running       | message       | queueFull      | running        | refuses it: overloaded                        |
 * | running       | message       | wantsSteer     | running.steering | hands it to the turn                        |
 * | running       | message       | wantsInterrupt | running        | drops what waits, stops the turn, accepts it  |
 * | running       | message       |                | running        | accepts it for later                          |
 * | running       | turn done     | isBroken       | failed         | records the outcome                           |
 * | running       | turn done     |                | admission      | records the outcome                           |
 * | failed        |               |                | admission      | begins a new transcript and says so           |
 * | awaiting-input | compact      |                | compacting     |                                               |
 * | awaiting-input | close        |                | closed         |                                               |
 */
export const sessionMachine = setup({
  types: {
    input: {} as { key: string },
    context: {} as Context,
    events: {} as SessionEvent | Extract<ToolReport, { type: 'tool.waiting' | 'tool.decided' }>,
    emitted: {} as SessionOutput,
  },
  actors: {
    turn: turnMachine,
    summarise: fromPromise<SummaryOutput, SummaryInput>(() => Promise.reject(new Error('not provided'))),
  },
  guards: {
    hasQueue: ({ context }) => context.queue.length > 0,
    queueFull: ({ context }) => context.queue.length >= queueMax,
    wantsSteer: ({ event }) => event.type === 'message' && event.profile.queueMode === 'steer',
    wantsInterrupt: ({ event }) => event.type === 'message' && event.profile.queueMode === 'interrupt',
    isBroken: (_, { output }: { output: TurnOutput }) => isBroken(output),
    isThisRun: ({ context, event }) => event.type === 'cancel' && (event.runId === undefined || context.run?.ids.includes(event.runId) === true),
    isWaiting: ({ context, event }) =>
      event.type === 'approve' && context.approvals.some(({ callId, inputHash }) => callId === event.callId && inputHash === event.inputHash),
    isOtherInput: ({ context, event }) => event.type === 'approve' && context.approvals.some(({ callId }) => callId === event.callId),
    wasDecided: ({ context, event }) => event.type === 'approve' && context.decided.includes(event.callId),
    isResetting: stateIn({ running: 'resetting' }),
    hasTranscript: ({ context }) => context.transcriptLength > 1,
  },
  actions: {
    accept: assign(({ context, event }) =>
      event.type === 'message' ? { queue: [...context.queue, { id: event.id, text: event.text, profile: event.profile }] } : {},
    ),
    announceAccepted: emit(
      ({ context, event }, { status }: { status: 'started' | 'queued' }): SessionOutput => ({
        type: 'accepted',
        id: event.type === 'message' ? event.id : '',
        status,
        runId: status === 'started' ? (newest(context)?.id ?? '') : '',
      }),
    ),
    announceSteered: emit(
      ({ context, event }): SessionOutput => ({
        type: 'accepted',
        id: event.type === 'message' ? event.id : '',
        status: 'steered',
        runId: context.run?.runId ?? '',
      }),
    ),
    takeNext: assign(({ context }) => {
      const messages = taken(context)
      const [first] = messages
      if (!first) return {}
      return {
        queue: context.queue.slice(messages.length),
        turns: context.turns + 1,
        run: { runId: first.id, ids: messages.map(({ id }) => id), profile: (messages.at(-1) ?? first).profile },
      }
    }),
    announceStart: emit(
      ({ context: { run } }): SessionOutput => ({ type: 'started', runId: run?.runId ?? '', ids: run?.ids ?? [], model: run?.profile.model ?? '' }),
    ),
    steerTurn: sendTo('turn', ({ event }) => ({ type: 'steer', id: event.type === 'message' ? event.id : '' })),
    countSteer: assign(({ context, event }) =>
      context.run && event.type === 'message' ? { run: { ...context.run, ids: [...context.run.ids, event.id] } } : {},
    ),
    cancelTurn: sendTo('turn', { type: 'cancel' }),
    dropQueue: enqueueActions(({ context, enqueue }) => {
      for (const { id, profile } of context.queue)
        enqueue.emit({
          type: 'aborted',
          runId: id,
          status: 'cancelled',
          ids: [id],
          text: '',
          partial: false,
          usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
          steps: 0,
          toolCalls: 0,
          model: profile.model,
          transcriptLength: context.transcriptLength,
        })
      enqueue.assign({ queue: [] })
    }),
    recordOutcome: assign(({ context }, { output }: { output: TurnOutput }) => {
      const { text: _, transcriptLength, ...outcome } = output
      return { transcriptLength, run: null, approvals: [], outcomes: remember(context.outcomes, outcome) }
    }),
    keepApproval: assign(({ context, event }) => (event.type === 'tool.waiting' ? { approvals: [...context.approvals, event.approval] } : {})),
    announceApproval: emit(
      ({ event }): SessionOutput => ({ type: 'approval', ...(event as Extract<ToolReport, { type: 'tool.waiting' }>).approval }),
    ),
    endApproval: assign(({ context, event }) =>
      event.type === 'tool.decided'
        ? { approvals: context.approvals.filter(({ callId }) => callId !== event.callId), decided: remember(context.decided, event.callId) }
        : {},
    ),
    passDecision: sendTo('turn', ({ event }) => event as Extract<SessionEvent, { type: 'approve' }>),
    announceDecision: emit(({ context, event }): SessionOutput => {
      const { callId, decision, by } = event as Extract<SessionEvent, { type: 'approve' }>
      return { type: 'decided', runId: context.run?.runId ?? '', callId, decision, ...(by ? { by } : {}) }
    }),
    refuse: emit((_, refusal: Refusal): SessionOutput => ({ type: 'refused', ...refusal })),
    clearTranscript: assign(({ context }) => ({ transcriptLength: 0, resets: context.resets + 1 })),
    noteClear: emit((): TranscriptNote => ({ type: 'transcript', clear: true })),
    announceReset: emit((_, { reason }: { reason: string }): SessionOutput => ({ type: 'reset', reason })),
    recordSummary: assign((_, { summary }: { summary: SummaryOutput }) => ({ transcriptLength: summary.keep + 1 })),
    noteSummary: emit(
      (_, { summary }: { summary: SummaryOutput }): TranscriptNote => ({ type: 'transcript', compact: { keep: summary.keep, summary: summary.id } }),
    ),
    announceCompacted: emit((_, { summary }: { summary: SummaryOutput }): SessionOutput => ({ type: 'compacted', keep: summary.keep })),
    announceTrouble: emit((_, { error }: { error: unknown }): SessionOutput => {
      const { code, message } = error as { code?: ErrorCode; message?: string }
      return { type: 'refused', code: code ?? 'internal', message: message ?? String(error), hint: 'the conversation is unchanged; try again later' }
    }),
  },
}).createMachine({
  id: 'session',
  description: 'A conversation: what becomes of each message, one turn at a time.',
  context: ({ input }) => ({
    key: input.key,
    transcriptLength: 0,
    queue: [],
    run: null,
    turns: 0,
    approvals: [],
    decided: [],
    outcomes: [],
    resets: 0,
    updatedAt: 0,
  }),
  initial: 'awaiting-input',
  on: {
    cancel: {
      actions: { type: 'refuse', params: { code: 'not_found', message: 'there is no such run to cancel', hint: 'the run may have ended by itself' } },
    },
    approve: [
      {
        guard: 'wasDecided',
        actions: {
          type: 'refuse',
          params: { code: 'already_decided', message: 'this call was decided before', hint: 'one decision counts; see the trace for it' },
        },
      },
      {
        guard: 'isOtherInput',
        actions: {
          type: 'refuse',
          params: {
            code: 'conflict',
            message: 'the decision is about other arguments than those that wait',
            hint: 'read the approval again and decide about its inputHash',
          },
        },
      },
      {
        actions: { type: 'refuse', params: { code: 'not_found', message: 'no call of this id waits for a decision', hint: 'see `approvals.list`' } },
      },
    ],
    compact: {
      actions: {
        type: 'refuse',
        params: { code: 'session_busy', message: 'the conversation cannot be compacted now', hint: 'wait for the turn to end, or cancel it' },
      },
    },
    close: {
      actions: {
        type: 'refuse',
        params: { code: 'session_busy', message: 'the conversation cannot be closed now', hint: 'wait for the turn to end, or cancel it' },
      },
    },
  },
  states: {
    'awaiting-input': {
      description: 'Nothing to do.',
      on: {
        message: { target: 'admission', actions: ['accept', { type: 'announceAccepted', params: { status: 'started' } }] },
        reset: { actions: ['clearTranscript', 'noteClear', { type: 'announceReset', params: { reason: 'asked for' } }] },
        close: 'closed',
        compact: [
          { guard: 'hasTranscript', target: 'compacting' },
          { actions: { type: 'refuse', params: { code: 'bad_request', message: 'there is no history to compact', hint: 'say something first' } } },
        ],
      },
    },
    admission: {
      description: 'Which message is next?',
      always: [{ guard: 'hasQueue', target: 'running', actions: ['takeNext', 'announceStart'] }, { target: 'awaiting-input' }],
    },
    running: {
      description: 'A turn is answering.',
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context: { key, run, transcriptLength } }) =>
          ({
            session: key,
            runId: run?.runId ?? '',
            profile: run?.profile,
            prompt: (run?.ids ?? []).map((id) => ({ id })),
            transcriptLength,
          }) as TurnInput,
        onDone: [
          {
            guard: 'isResetting',
            target: 'admission',
            actions: [
              { type: 'recordOutcome', params: ({ event }) => ({ output: event.output }) },
              'clearTranscript',
              'noteClear',
              { type: 'announceReset', params: { reason: 'asked for' } },
            ],
          },
          {
            guard: { type: 'isBroken', params: ({ event }) => ({ output: event.output }) },
            target: 'failed',
            actions: { type: 'recordOutcome', params: ({ event }) => ({ output: event.output }) },
          },
          { target: 'admission', actions: { type: 'recordOutcome', params: ({ event }) => ({ output: event.output }) } },
        ],
      },
      on: {
        message: [
          {
            guard: 'queueFull',
            actions: {
              type: 'refuse',
              params: { code: 'overloaded', message: 'too many messages wait in this session', hint: 'wait for the answers, or cancel the run' },
            },
          },
          { guard: 'wantsSteer', target: '.steering', actions: ['steerTurn', 'countSteer', 'announceSteered'] },
          { guard: 'wantsInterrupt', actions: ['dropQueue', 'accept', 'cancelTurn', { type: 'announceAccepted', params: { status: 'queued' } }] },
          { actions: ['accept', { type: 'announceAccepted', params: { status: 'queued' } }] },
        ],
        cancel: { guard: 'isThisRun', actions: ['dropQueue', 'cancelTurn'] },
        approve: { guard: 'isWaiting', actions: ['passDecision', 'announceDecision'] },
        reset: { actions: ['dropQueue', 'cancelTurn'], target: '.resetting' },
        'tool.waiting': { actions: ['keepApproval', 'announceApproval'] },
        'tool.decided': { actions: 'endApproval' },
      },
      initial: 'answering',
      states: {
        answering: { description: 'The turn works, or waits for a person.' },
        steering: { description: 'A message joins the turn that is running.', always: 'answering' },
        resetting: {
          description: 'The turn is stopped first; then the transcript is cleared.',
          on: { message: { actions: ['accept', { type: 'announceAccepted', params: { status: 'queued' } }] } },
        },
      },
    },
    compacting: {
      description: 'Old history becomes a summary.',
      invoke: {
        id: 'summary',
        src: 'summarise',
        input: ({ context: { key, transcriptLength, turns }, event }) =>
          ({
            session: key,
            profile: (event as { profile?: Profile }).profile,
            upTo: transcriptLength,
            id: `${key}:summary-${turns}`,
          }) as SummaryInput,
        onDone: {
          target: 'admission',
          actions: [
            { type: 'recordSummary', params: ({ event }) => ({ summary: event.output }) },
            { type: 'noteSummary', params: ({ event }) => ({ summary: event.output }) },
            { type: 'announceCompacted', params: ({ event }) => ({ summary: event.output }) },
          ],
        },
        onError: { target: 'admission', actions: { type: 'announceTrouble', params: ({ event }) => ({ error: event.error }) } },
      },
      on: { message: { actions: ['accept', { type: 'announceAccepted', params: { status: 'queued' } }] } },
    },
    failed: {
      description: 'The conversation cannot go on as it is; it begins anew, and says so.',
      entry: [
        'clearTranscript',
        'noteClear',
        { type: 'announceReset', params: { reason: 'the conversation was longer than the model can read, also after compaction' } },
      ],
      always: 'admission',
    },
    closed: { type: 'final', description: 'Deleted.' },
  },
})
