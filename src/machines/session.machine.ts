import type { Profile, SummaryInput, TurnInput } from '../contracts/session.ts'
import { sessionSetup } from './session.setup.ts'

export { queueMax } from './session.context.ts'

/** What a message meets that cannot be answered now. */
const acceptForLater = [
  {
    guard: 'queueFull',
    actions: {
      type: 'refuse',
      params: { code: 'overloaded', message: 'too many messages wait in this session', hint: 'wait for the answers, or cancel the run' },
    },
  },
  { actions: { type: 'accept', params: { status: 'queued' } } },
] as const

/**
 * A conversation: what becomes of each message, one turn at a time.
 *
 * | state             | on      | guard          | next              | does                                                    |
 * | ----------------- | ------- | -------------- | ----------------- | ------------------------------------------------------- |
 * | awaiting-input    | message |                | admission         | accepts it                                              |
 * | awaiting-input    | reset   |                |                   | begins a new transcript and says so                     |
 * | awaiting-input    | compact | hasTranscript  | compacting        |                                                         |
 * | awaiting-input    | close   |                | closed            |                                                         |
 * | admission         |         | hasQueue       | running           | takes the next message, or all that are to be collected |
 * | admission         |         |                | awaiting-input    |                                                         |
 * | running.answering | message | wantsSteer     | running.steering  | hands it to the turn                                    |
 * | running.steering  |         |                | running.answering |                                                         |
 * | running           | message | wantsInterrupt | running.stopping  | drops what waits, accepts it, stops the turn            |
 * | running           | message | queueFull      |                   | refuses it: overloaded                                  |
 * | running           | message |                |                   | accepts it for later                                    |
 * | running           | cancel  | namesNoRun     | running.stopping  | drops what waits, stops the turn                        |
 * | running           | cancel  | isThisRun      | running.stopping  | stops the turn; what waits is next                      |
 * | running           | cancel  | isQueued       |                   | drops the message                                       |
 * | running           | approve | isWaiting      |                   | hands the decision to the call that waits               |
 * | running           | reset   |                | running.resetting | drops what waits, stops the turn                        |
 * | running.resetting | turn done |              | admission         | records the outcome, begins a new transcript            |
 * | running           | turn done | isBroken     | failed            | records the outcome                                     |
 * | running           | turn done |              | admission         | records the outcome                                     |
 * | compacting        | summary done |           | admission         | replaces old history                                    |
 * | compacting        | summary error |          | admission         | says that nothing changed                               |
 * | compacting        | message |                |                   | accepts it for later, or refuses it: overloaded         |
 * | compacting        | cancel  | namesNoRun     | admission         | drops what waits; the history stays as it was           |
 * | compacting        | reset   |                | admission         | drops what waits, begins a new transcript               |
 * | failed            |         |                | admission         | begins a new transcript and says why                    |
 * | (all others)      | cancel, approve, compact, close | |         | refuses it, with the reason                             |
 */
export const sessionMachine = sessionSetup.createMachine({
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
    resetReason: null,
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
        message: { target: 'admission', actions: { type: 'accept', params: { status: 'started' } } },
        reset: { actions: { type: 'beginAnew', params: { reason: 'asked for' } } },
        close: 'closed',
        compact: [
          { guard: 'hasTranscript', target: 'compacting' },
          { actions: { type: 'refuse', params: { code: 'bad_request', message: 'there is no history to compact', hint: 'say something first' } } },
        ],
      },
    },
    admission: {
      description: 'Which message is next?',
      always: [{ guard: 'hasQueue', target: 'running', actions: ['beginTurn', 'announceStart'] }, { target: 'awaiting-input' }],
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
              { type: 'endTurn', params: ({ event }) => ({ output: event.output }) },
              { type: 'beginAnew', params: { reason: 'asked for' } },
            ],
          },
          {
            guard: { type: 'isBroken', params: ({ event }) => ({ output: event.output }) },
            target: 'failed',
            actions: { type: 'endTurn', params: ({ event }) => ({ output: event.output }) },
          },
          { target: 'admission', actions: { type: 'endTurn', params: ({ event }) => ({ output: event.output }) } },
        ],
      },
      on: {
        message: [
          { guard: 'wantsInterrupt', target: '.stopping', actions: ['dropQueue', { type: 'accept', params: { status: 'queued' } }, 'stopTurn'] },
          ...acceptForLater,
        ],
        cancel: [
          { guard: 'namesNoRun', target: '.stopping', actions: ['dropQueue', 'stopTurn'] },
          { guard: 'isThisRun', target: '.stopping', actions: 'stopTurn' },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
        approve: { guard: 'isWaiting', actions: 'passDecision' },
        reset: { target: '.resetting', actions: ['keepReason', 'dropQueue', 'stopTurn'] },
        'tool.waiting': { actions: 'keepApproval' },
        'tool.decided': { actions: 'endApproval' },
      },
      initial: 'answering',
      states: {
        answering: {
          description: 'The turn works, or waits for a person.',
          on: { message: { guard: 'wantsSteer', target: 'steering', actions: 'steerTurn' } },
        },
        steering: { description: 'A message joins the turn that is running.', always: 'answering' },
        stopping: { description: 'The turn was told to stop; what is said now is for the next one.' },
        resetting: {
          description: 'The turn is stopped first; then the transcript is cleared.',
          on: {
            message: acceptForLater,
            cancel: [{ guard: 'namesNoRun', actions: 'dropQueue' }, { guard: 'isThisRun' }],
          },
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
        onDone: { target: 'admission', actions: { type: 'takeSummary', params: ({ event }) => ({ summary: event.output }) } },
        onError: { target: 'admission', actions: { type: 'announceTrouble', params: ({ event }) => ({ error: event.error }) } },
      },
      on: {
        message: acceptForLater,
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: 'dropQueue' },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
        reset: { target: 'admission', actions: ['dropQueue', { type: 'beginAnew', params: { reason: 'asked for' } }] },
      },
    },
    failed: {
      description: 'The conversation cannot go on as it is; it begins anew, and says so.',
      entry: { type: 'beginAnew', params: { reason: 'the conversation was longer than the model can read, also after compaction' } },
      always: 'admission',
    },
    closed: { type: 'final', description: 'Deleted.' },
  },
})
