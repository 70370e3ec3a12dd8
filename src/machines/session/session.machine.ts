import type { Profile } from '../../contracts/profile.ts'
import type { TurnInput } from '../../contracts/turn.ts'
import { acceptForLater, beginAgain, refusals } from './refusals.rules.ts'
import { begin, summaryInput } from './session.context.ts'
import { sessionSetup } from './session.setup.ts'

/**
 * A conversation: what becomes of each message, one turn at a time.
 *
 * A message is looked at first, in whatever state: one that came before is skipped, an order is carried out, and the rest is admitted (`admit`).
 *
 * | state             | on      | guard          | next              | does                                                    |
 * | ----------------- | ------- | -------------- | ----------------- | ------------------------------------------------------- |
 * | (all)             | message | isRepeated, isIgnored, isUnmentioned | | skips it                                             |
 * | (all)             | message | saysStop, saysReset, saysCompact | | raises `stop`, `anew`, `shorten`                        |
 * | (all)             | message | isLateOrder    |                   | begins anew first: the conversation has gone stale      |
 * | (all)             | message | isOrder        |                   | carries it out and answers, without a model             |
 * | (all)             | message | isMuted        |                   | refuses it: forbidden                                   |
 * | (all)             | message |                |                   | raises `admit`; who accepts it answers questions in it  |
 * | awaiting-input    | admit   | wantsFork      | forking           | accepts it, the first of a thread                       |
 * | forking           | parent done, error |     | admission         | takes over what its parent said, if that can be read    |
 * | awaiting-input    | admit   | wantsMore      | debouncing        | accepts it, and waits for those that belong to it       |
 * | awaiting-input    | admit   | isStale        | admission         | begins anew, accepts it                                 |
 * | awaiting-input    | admit   |                | admission         | accepts it                                              |
 * | awaiting-input    | anew    |                | admission         | begins anew, accepts it                                 |
 * | awaiting-input    | shorten, compact | hasTranscript | compacting |                                                       |
 * | awaiting-input    | reset   |                |                   | begins anew and says so                                 |
 * | admission         |         | isReady        | running           | takes the next message, or all that are to be collected |
 * | admission         |         | hasQueue       | debouncing        |                                                         |
 * | admission         |         |                | awaiting-input    |                                                         |
 * | debouncing        | debounced |              | admission         | nothing came for long enough                            |
 * | debouncing        | admit   | wantsInterrupt | admission         | drops what waits, accepts it                            |
 * | running.answering | admit   | wantsSteer     | running.steering  | hands it to the turn                                    |
 * | running.answering | admit   | wantsBacklog   | running.steering  | the same, and keeps it for a turn of its own            |
 * | running.answering | compaction.started |     | running.compacting | no steering until it has ended                         |
 * | running.answering | turn.delivering    |     | running.delivering | no steering any more                                   |
 * | running           | admit   | wantsInterrupt | running.stopping  | drops what waits, accepts it, stops the turn            |
 * | debouncing, running, compacting | admit |    |                   | accepts it for later, or refuses it: overloaded         |
 * | running           | stop    |                | running.stopping  | drops what waits, stops the turn, says so               |
 * | running           | anew    |                | running.resetting | drops what waits, keeps this one, stops the turn        |
 * | running           | shorten |                | running.yielding  | stops the turn                                          |
 * | running           | cancel  | namesNoRun     | running.stopping  | drops what waits, stops the turn                        |
 * | running           | approve | isWaiting      |                   | hands the decision to the call that waits               |
 * | running           | reset   |                | running.resetting | drops what waits, stops the turn                        |
 * | running.resetting, .yielding | turn done | |  admission, compacting | records the outcome; begins anew                    |
 * | running           | turn done | isBroken     | failed            | records the outcome                                     |
 * | running           | turn done |              | admission         | records the outcome                                     |
 * | compacting        | summary done |           | admission         | replaces old history                                    |
 * | compacting        | summary error |          | admission         | says that nothing changed                               |
 * | compacting        | stop, cancel, reset, anew |  | admission       | drops what waits; the history stays as it was, or begins anew |
 * | failed            |         |                | admission         | begins anew and says why                                |
 * | (all others)      | cancel, approve, compact, close | |         | refuses it, with the reason                             |
 */
export const sessionMachine = sessionSetup.createMachine({
  id: 'session',
  description: 'A conversation: what becomes of each message, one turn at a time.',
  context: ({ input }) => begin(input.key),
  initial: 'awaiting-input',
  on: {
    message: [
      { guard: 'isRepeated', actions: { type: 'skip', params: { reason: 'duplicate' } } },
      { guard: 'isIgnored', actions: { type: 'skip', params: { reason: 'unauthorised' } } },
      { guard: 'saysStop', actions: { type: 'raiseAs', params: { type: 'stop' } } },
      {
        guard: 'wantsMutedReset',
        actions: { type: 'refuse', params: { code: 'forbidden', message: 'this session does not answer', hint: 'say /send on to change that' } },
      },
      { guard: 'saysReset', actions: ['answerQuestions', { type: 'raiseAs', params: { type: 'anew' } }] },
      { guard: 'saysCompact', actions: { type: 'raiseAs', params: { type: 'shorten' } } },
      { guard: 'isLateOrder', actions: [{ type: 'beginAnew', params: { reason: 'stale' } }, 'obey'] },
      { guard: 'isOrder', actions: 'obey' },
      { guard: 'isUnmentioned', actions: { type: 'skip', params: { reason: 'unmentioned' } } },
      {
        guard: 'isMuted',
        actions: { type: 'refuse', params: { code: 'forbidden', message: 'this session does not answer', hint: 'say /send on to change that' } },
      },
      { actions: { type: 'raiseAs', params: { type: 'admit' } } },
    ],
    debounced: { actions: 'settle' },
    say: { actions: 'deliver' },
    'order.done': { actions: 'answerOrder' },
    'xstate.done.actor.*': { actions: 'endSaying' },
    configure: { actions: 'configure' },
    note: { actions: 'keepNote' },
    clear: { actions: ['announceCleared', 'dropQueue'] },
    stop: { actions: ['answerStop', 'dropQueue'] },
    shorten: { actions: { type: 'answer', params: { text: 'The conversation is being compacted already.' } } },
    ...refusals,
  },
  states: {
    'awaiting-input': {
      description: 'Nothing to do.',
      on: {
        admit: [
          { guard: 'wantsFork', target: 'forking', actions: ['answerQuestions', { type: 'acceptNext', params: { status: 'started' } }] },
          { guard: 'wantsMore', target: 'debouncing', actions: ['answerQuestions', 'acceptLater', 'awaitMore'] },
          {
            guard: 'isStale',
            target: 'admission',
            actions: ['answerQuestions', { type: 'beginAnew', params: { reason: 'stale' } }, { type: 'acceptNext', params: { status: 'started' } }],
          },
          { target: 'admission', actions: ['answerQuestions', { type: 'acceptNext', params: { status: 'started' } }] },
        ],
        anew: {
          target: 'admission',
          actions: [{ type: 'beginAnew', params: { reason: 'asked for' } }, { type: 'acceptNext', params: { status: 'started' } }, 'announceNew'],
        },
        reset: { actions: { type: 'beginAnew', params: { reason: 'asked for' } } },
        close: 'closed',
        shorten: [
          { guard: 'hasTranscript', target: 'compacting', actions: 'keepOrder' },
          { actions: { type: 'answer', params: { text: 'There is no history to compact.' } } },
        ],
        compact: [
          { guard: 'hasTranscript', target: 'compacting' },
          { actions: { type: 'refuse', params: { code: 'bad_request', message: 'there is no history to compact', hint: 'say something first' } } },
        ],
      },
    },
    forking: {
      description: 'A thread begins with what its parent said.',
      invoke: {
        id: 'parent',
        src: 'fork',
        input: ({ event }) => ({ parent: (event as { parent?: string }).parent ?? '' }),
        onDone: { target: 'admission', actions: { type: 'takeHistory', params: ({ event }) => ({ history: event.output }) } },
        onError: 'admission',
      },
      on: {
        admit: acceptForLater,
        stop: { target: 'admission', actions: ['answerStop', 'dropQueue'] },
        anew: beginAgain,
        reset: { target: 'admission', actions: ['dropQueue', { type: 'beginAnew', params: { reason: 'asked for' } }] },
        shorten: { actions: { type: 'answer', params: { text: 'There is no history to compact.' } } },
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: 'dropQueue' },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
      },
    },
    admission: {
      description: 'Which message is next?',
      always: [
        { guard: 'isReady', target: 'running', actions: ['beginTurn', 'announceStart'] },
        { guard: 'hasQueue', target: 'debouncing' },
        { target: 'awaiting-input' },
      ],
    },
    debouncing: {
      description: 'Messages wait, and more may follow.',
      on: {
        debounced: { target: 'admission', actions: 'settle' },
        admit: [
          {
            guard: 'wantsInterrupt',
            target: 'admission',
            actions: ['answerQuestions', 'dropQueue', { type: 'acceptNext', params: { status: 'queued' } }],
          },
          ...acceptForLater,
        ],
        anew: beginAgain,
        reset: { target: 'admission', actions: ['dropQueue', { type: 'beginAnew', params: { reason: 'asked for' } }] },
        stop: { target: 'admission', actions: ['answerStop', 'dropQueue'] },
        shorten: [
          { guard: 'hasTranscript', target: 'compacting', actions: 'keepOrder' },
          { actions: { type: 'answer', params: { text: 'There is no history to compact.' } } },
        ],
        clear: { target: 'admission', actions: ['announceCleared', 'dropQueue'] },
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: 'dropQueue' },
          { guard: 'isQueued', target: 'admission', actions: 'dropQueue' },
        ],
      },
    },
    running: {
      description: 'A turn is answering.',
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context: { key, run, transcriptLength } }) => ({ ...run, session: key, transcriptLength }) as TurnInput,
        onDone: [
          {
            guard: 'isResetting',
            target: 'admission',
            actions: [
              { type: 'endTurn', params: ({ event }) => ({ output: event.output }) },
              { type: 'beginAnew', params: { reason: 'asked for' } },
            ],
          },
          { guard: 'isYielding', target: 'compacting', actions: { type: 'endTurn', params: ({ event }) => ({ output: event.output }) } },
          {
            guard: { type: 'isBroken', params: ({ event }) => ({ output: event.output }) },
            target: 'failed',
            actions: { type: 'endTurn', params: ({ event }) => ({ output: event.output }) },
          },
          { target: 'admission', actions: { type: 'endTurn', params: ({ event }) => ({ output: event.output }) } },
        ],
      },
      on: {
        admit: [
          {
            guard: 'wantsInterrupt',
            target: '.stopping',
            actions: ['answerQuestions', 'dropQueue', { type: 'acceptNext', params: { status: 'queued' } }, 'stopTurn'],
          },
          ...acceptForLater,
        ],
        stop: { target: '.stopping', actions: ['leaveOrder', 'answerStop', 'dropQueue', 'stopTurn'] },
        anew: {
          target: '.resetting',
          actions: ['leaveOrder', 'dropQueue', { type: 'acceptNext', params: { status: 'queued' } }, 'announceNew', 'stopTurn'],
        },
        shorten: { target: '.yielding', actions: ['keepOrder', 'stopTurn'] },
        cancel: [
          { guard: 'namesNoRun', target: '.stopping', actions: ['leaveOrder', 'dropQueue', 'stopTurn'] },
          { guard: 'isThisRun', target: '.stopping', actions: ['leaveOrder', 'stopTurn'] },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
        approve: { guard: 'isWaiting', actions: 'passDecision' },
        reset: { target: '.resetting', actions: ['leaveOrder', 'keepReason', 'dropQueue', 'stopTurn'] },
        'tool.waiting': { actions: 'keepApproval' },
        'tool.decided': { actions: 'endApproval' },
      },
      initial: 'answering',
      states: {
        answering: {
          description: 'The turn works, or waits for a person.',
          on: {
            admit: [
              { guard: 'wantsSteer', target: 'steering', actions: ['answerQuestions', 'steerTurn'] },
              { guard: 'wantsBacklog', target: 'steering', actions: ['answerQuestions', 'steerOnly', 'acceptLater', 'awaitMore'] },
            ],
            'compaction.started': 'compacting',
            'turn.delivering': 'delivering',
          },
        },
        steering: { description: 'A message joins the turn that is running.', always: 'answering' },
        compacting: {
          description: 'The turn shortens its history; what is said now is for the next one.',
          on: { 'compaction.ended': 'answering' },
        },
        delivering: { description: 'The turn has said all; what is said now is for the next one.' },
        stopping: { description: 'The turn was told to stop; what is said now is for the next one.' },
        yielding: {
          description: 'The turn was told to stop; then the history is compacted.',
          on: { admit: acceptForLater, shorten: { actions: { type: 'answer', params: { text: 'The conversation is being compacted already.' } } } },
        },
        resetting: {
          description: 'The turn is stopped first; then the transcript is cleared.',
          on: {
            admit: acceptForLater,
            stop: { actions: ['answerStop', 'dropQueue'] },
            shorten: { actions: { type: 'answer', params: { text: 'The conversation begins anew: there is nothing to compact.' } } },
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
        input: ({ context, event }) => summaryInput(context, event as { profile?: Profile }),
        onDone: { target: 'admission', actions: { type: 'takeSummary', params: ({ event }) => ({ summary: event.output }) } },
        onError: { target: 'admission', actions: { type: 'announceTrouble', params: ({ event }) => ({ error: event.error }) } },
      },
      on: {
        admit: acceptForLater,
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: ['dropQueue', 'leaveOrder'] },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
        stop: { target: 'admission', actions: ['answerStop', 'dropQueue', 'leaveOrder'] },
        anew: {
          target: 'admission',
          actions: [
            'dropQueue',
            'leaveOrder',
            { type: 'beginAnew', params: { reason: 'asked for' } },
            { type: 'acceptNext', params: { status: 'started' } },
            'announceNew',
          ],
        },
        reset: { target: 'admission', actions: ['dropQueue', 'leaveOrder', { type: 'beginAnew', params: { reason: 'asked for' } }] },
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
