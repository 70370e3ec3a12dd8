import type { Profile } from '../../contracts/profile.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Desk } from './desk.setup.ts'
import { hasDeskSettings } from './record.rules.ts'
import { acceptForLater, askDesk, beginAgain, injectLater, refusals, refuseAside, refuseResults, refuseStray } from './refusals.rules.ts'
import { begin, endOf, type SessionEnd, summaryInput, turnInput } from './session.context.ts'
import { sessionSetup } from './session.setup.ts'

const ended = ({ event }: { event: { output: TurnOutput } }) => ({ output: event.output })
const wantsFork = { guard: 'wantsFork', target: 'forking', actions: { type: 'acceptNext', params: { status: 'started' } } } as const
const answerAtOnce = { target: 'running', actions: 'answerAtOnce' } as const

/**
 * A conversation: what becomes of each message, one turn at a time. Where there is a desk, a message is shown to it first, whatever the state, and its
 * answer comes back as an event: `admit`, or one of those that need no turn. Without a desk each message is admitted.
 */
export const sessionMachine = sessionSetup.createMachine({
  id: 'session',
  description: 'A conversation: what becomes of each message, one turn at a time.',
  context: begin,
  initial: 'awaiting-input',
  on: {
    message: [refuseResults, askDesk(), { actions: 'admit' }],
    stale: { actions: [{ type: 'startOver', params: { reason: 'stale' } }, askDesk().actions] },
    skip: { actions: 'skip' },
    refuse: { actions: 'refuseMessage' },
    say: { actions: 'reply' },
    stop: { actions: ['tellStopped', 'reply', 'dropQueue'] },
    debounced: { actions: 'settle' },
    configure: { actions: 'configure' },
    note: { actions: 'keepNote' },
    inject: { actions: { type: 'inject', params: { later: false } } },
    clear: { actions: ['announceCleared', 'dropQueue'] },
    side: [refuseAside, { actions: 'askAside' }],
    'side.ended': { actions: 'endAside' },
    ...refusals,
  },
  states: {
    'awaiting-input': {
      description: 'Nothing to do.',
      always: { guard: 'hasInjected', actions: 'joinInjected' },
      on: {
        message: [refuseStray, askDesk(), wantsFork, answerAtOnce],
        admit: [wantsFork, { guard: 'wantsMore', target: 'debouncing', actions: ['acceptLater', 'awaitMore'] }, answerAtOnce],
        startOver: {
          target: 'admission',
          actions: [{ type: 'startOver', params: { reason: 'asked for' } }, { type: 'acceptNext', params: { status: 'started' } }, 'keepChanges'],
        },
        reset: { actions: { type: 'startOver', params: { reason: 'asked for' } } },
        close: 'closed',
        compact: [
          { guard: 'hasTranscript', target: 'compacting', actions: 'keepOrder' },
          { actions: { type: 'refuse', params: { code: 'bad_request', message: 'there is no history to compact', hint: 'say something first' } } },
        ],
      },
    },
    forking: {
      description: 'A thread begins with what its parent said.',
      invoke: {
        id: 'parent',
        src: 'fork',
        input: ({ context, event }) => ({ parent: (event as { parent?: string }).parent ?? '', session: context.key }),
        onDone: { target: 'admission', actions: { type: 'takeHistory', params: ({ event }) => ({ history: event.output }) } },
        onError: 'admission',
      },
      on: {
        admit: acceptForLater,
        inject: injectLater,
        stop: { target: 'admission', actions: ['tellStopped', 'reply', 'dropQueue'] },
        startOver: beginAgain,
        reset: { target: 'admission', actions: ['dropQueue', { type: 'startOver', params: { reason: 'asked for' } }] },
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: 'dropQueue' },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
      },
    },
    admission: {
      description: 'Which message is next?',
      always: [
        { guard: 'hasInjected', actions: 'joinInjected' },
        { guard: 'isReady', target: 'running', actions: 'beginTurn' },
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
            actions: ['dropQueue', { type: 'acceptNext', params: { status: 'queued' } }],
          },
          ...acceptForLater,
        ],
        startOver: beginAgain,
        reset: { target: 'admission', actions: ['dropQueue', { type: 'startOver', params: { reason: 'asked for' } }] },
        stop: { target: 'admission', actions: ['tellStopped', 'reply', 'dropQueue'] },
        compact: { guard: 'isOrdered', target: 'compacting', actions: 'keepOrder' },
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
        input: turnInput,
        onDone: [
          {
            guard: { type: 'isBroken', params: ended },
            target: 'failed',
            actions: { type: 'endTurn', params: ended },
          },
          { guard: 'hasQueue', target: 'admission', actions: { type: 'endTurn', params: ended } },
          { target: 'awaiting-input', actions: { type: 'endTurn', params: ended } },
        ],
      },
      on: {
        admit: [
          {
            guard: 'wantsInterrupt',
            target: '.stopping',
            actions: ['dropQueue', { type: 'acceptNext', params: { status: 'queued' } }, 'stopTurn'],
          },
          ...acceptForLater,
        ],
        stop: { target: '.stopping', actions: ['tellStopped', 'leaveOrder', 'reply', 'dropQueue', 'stopTurn'] },
        startOver: {
          target: '.resetting',
          actions: ['leaveOrder', 'dropQueue', { type: 'acceptNext', params: { status: 'queued' } }, 'keepChanges', 'stopTurn'],
        },
        compact: { guard: 'isOrdered', target: '.yielding', actions: ['keepOrder', 'stopTurn'] },
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
              { guard: 'wantsSteer', target: 'steering', actions: ['steerTurn'] },
              { guard: 'wantsBacklog', target: 'steering', actions: ['steerOnly', 'acceptLater', 'awaitMore'] },
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
          on: {
            message: [refuseResults, askDesk('compacting')],
            admit: acceptForLater,
            'xstate.done.actor.turn': { guard: 'hasOrder', target: '#session.compacting', actions: { type: 'endTurn', params: ended } },
          },
        },
        resetting: {
          description: 'The turn is stopped first; then the transcript is cleared.',
          on: {
            message: [refuseResults, askDesk('resetting')],
            admit: acceptForLater,
            stop: { actions: ['tellStopped', 'reply', 'dropQueue'] },
            cancel: [{ guard: 'namesNoRun', actions: 'dropQueue' }, { guard: 'isThisRun' }],
            'xstate.done.actor.turn': {
              target: '#session.admission',
              actions: [
                { type: 'endTurn', params: ended },
                { type: 'startOver', params: { reason: 'asked for' } },
              ],
            },
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
        message: [refuseResults, askDesk('compacting')],
        inject: injectLater,
        admit: acceptForLater,
        cancel: [
          { guard: 'namesNoRun', target: 'admission', actions: ['dropQueue', 'leaveOrder'] },
          { guard: 'isQueued', actions: 'dropQueue' },
        ],
        stop: { target: 'admission', actions: ['tellStopped', 'reply', 'dropQueue', 'leaveOrder'] },
        startOver: {
          target: 'admission',
          actions: [
            'dropQueue',
            'leaveOrder',
            { type: 'startOver', params: { reason: 'asked for' } },
            { type: 'acceptNext', params: { status: 'started' } },
            'keepChanges',
          ],
        },
        reset: { target: 'admission', actions: ['dropQueue', 'leaveOrder', { type: 'startOver', params: { reason: 'asked for' } }] },
      },
    },
    failed: {
      description: 'The conversation cannot go on as it is; it begins anew, and says so.',
      entry: { type: 'startOver', params: { reason: 'the conversation was longer than the model can read, also after compaction' } },
      always: 'admission',
    },
    // What it ends with is no part of its structure, so journals of earlier builds keep their machine.
    closed: { type: 'final', description: 'Deleted.', output: ({ event }) => endOf(event as { type: string; delete?: true }) },
  },
  output: ({ event }) => (event as { output?: SessionEnd }).output,
})

/** It looks at what has something for it, and from then on at each message. What has nothing passes it by. */
export const withDesk = (machine: typeof sessionMachine, { logic }: Pick<Desk, 'logic'>): typeof sessionMachine =>
  machine.provide({
    actors: { desk: logic as never },
    guards: {
      isForDesk: ({ context, event }) =>
        !(event.type === 'message' && event.toolResults) &&
        (context.desk || (event.type === 'message' && event.annotations !== undefined) || hasDeskSettings(context.record)),
    },
  })
