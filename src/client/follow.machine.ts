import { assign, emit, fromPromise, raise, setup } from 'xstate'
import { notProvided } from '../actors/not-provided.setup.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'

export type FollowInput = {
  /** ms for which nobody may answer before the run is given up; 0 where nobody else would. */
  outageMsMax: number
  /** Until the stream of events ends, nothing of it gets lost. */
  lossless: boolean
  /** The runtime is in this process: when it is closed, no other one takes over. */
  local: boolean
}

type FollowEvent =
  /** An end was heard from where anybody may speak, or without its content. */
  | { type: 'sign' }
  /** The outcome is known, or nobody wants to know it any more. */
  | { type: 'over' }
  /** Between the regions. */
  | { type: 'listening' }
  | { type: 'stream.ended' }
  | { type: 'answered' }
  | { type: 'silent' }

/** Nobody answers: it is told once an outage. */
type FollowEmitted = { type: 'outage'; error: unknown }

/** @property lost nobody has answered for too long */
type FollowOutput = { error: unknown; lost: boolean }

type Context = FollowInput & {
  /** The message has been handed over, or is being. */
  begun: boolean
  /** ms before the session is asked again. */
  pauseMs: number
  /** The message is no longer waiting or being answered, or is said not to be: the next answer that says so is believed. */
  ending: boolean
  /** What kept us from an answer last. */
  error: unknown
}

const firstPauseMs = 1_000
const longestPauseMs = 5_000
/** After a sign: what was said may be written a moment later where it is read. */
const afterSignMs = 100

const lateError = (): RuntimeError => new RuntimeError('timeout', 'no answer in time', { retryable: true, hint: 'ask again' })

const failure = ({ event }: { event: { error: unknown } }) => ({ error: event.error })
const keepError = { type: 'keepError', params: failure } as const
const isPassing = { type: 'isPassing', params: failure } as const
const giveUp = { target: '#follow.failed', actions: keepError } as const
/** What kept us from an answer may be over the next time. */
const askAgain = [{ guard: isPassing, target: 'idle', actions: [keepError, 'tellSilent'] }, giveUp] as const

/** One accepted message or run, from the moment it is sent to its outcome. What is heard of it passes beside the machine. */
export const followMachine = setup({
  types: {
    input: {} as FollowInput,
    context: {} as Context,
    events: {} as FollowEvent,
    emitted: {} as FollowEmitted,
    output: {} as FollowOutput,
  },
  actors: {
    /** Opens the stream of events; from then on nothing is missed until it ends. */
    listen: fromPromise<void>(notProvided),
    /** Reads the stream to its end. */
    hear: fromPromise<void>(notProvided),
    /** Hands the message over. @returns what became of it at first */
    send: fromPromise<{ status: string; duplicate?: true }>(notProvided),
    /** Asks the session. @returns whether the message waits or is being answered */
    ask: fromPromise<boolean>(notProvided),
    /** Gets the outcome from the journal. */
    fetch: fromPromise<void>(notProvided),
  },
  guards: {
    isBegun: ({ context }) => context.begun,
    /** It may be otherwise when asked again. */
    isPassing: ({ context }, { error }: { error: unknown }) =>
      isRuntimeError(error) && error.retryable && !(context.local && error.code === 'closed'),
    /** Nobody knows whether it was taken; said again under its id it is taken once. */
    isUnknown: (_, { error }: { error: unknown }) => isRuntimeError(error) && error.retryable && error.code === 'timeout',
    isStatus: (_, { status, is }: { status: string; is: string }) => status === is,
    isRepeated: (_, { duplicate }: { duplicate: boolean }) => duplicate,
    isUnanswered: (_, { unanswered }: { unanswered: boolean }) => unanswered,
    isEnding: ({ context }) => context.ending,
    hearsAll: ({ context }) => context.lossless && !context.ending,
    isAlone: ({ context }) => context.outageMsMax === 0,
    hasOthers: ({ context }) => context.outageMsMax > 0,
  },
  actions: {
    begin: assign({ begun: true }),
    expectEnd: assign({ ending: true, pauseMs: firstPauseMs }),
    expectEndSoon: assign({ ending: true, pauseMs: afterSignMs }),
    keepWaiting: assign({ ending: false, pauseMs: ({ context }) => Math.min(2 * context.pauseMs, longestPauseMs) }),
    keepError: assign({ error: (_, { error }: { error: unknown }) => error }),
    keepLateness: assign({ error: lateError, pauseMs: firstPauseMs }),
    tellListening: raise({ type: 'listening' }),
    tellStreamEnded: raise({ type: 'stream.ended' }),
    tellAnswered: raise({ type: 'answered' }),
    tellSilent: raise({ type: 'silent' }),
    emitOutage: emit(({ context: { error } }) => ({ type: 'outage', error })),
  },
  delays: {
    pause: ({ context }) => context.pauseMs,
    again: firstPauseMs,
    /** A question to a link that is down would wait for its own limit, long after the link is up again. */
    answer: 10_000,
    /** An outcome stands in a journal, which takes time to read. */
    outcome: 60_000,
    outageMax: ({ context }) => context.outageMsMax,
  },
}).createMachine({
  id: 'follow',
  description: 'One message or run, followed by whoever sent it from the moment it is sent to its outcome.',
  context: ({ input }) => ({ ...input, begun: false, pauseMs: firstPauseMs, ending: false, error: undefined }),
  initial: 'following',
  on: { over: '.ended' },
  states: {
    following: {
      type: 'parallel',
      states: {
        stream: {
          description: 'What is said, as it is said; a stream that ends is opened again, from the place that was reached.',
          initial: 'opening',
          states: {
            opening: {
              invoke: {
                src: 'listen',
                onDone: { target: 'open', actions: 'tellListening' },
                onError: [
                  { guard: 'isBegun', target: 'broken', actions: 'tellStreamEnded' },
                  {
                    guard: isPassing,
                    target: 'broken',
                    actions: [keepError, 'tellSilent'],
                  },
                  giveUp,
                ],
              },
            },
            open: {
              invoke: {
                src: 'hear',
                onDone: { target: 'broken', actions: 'tellStreamEnded' },
                onError: { target: 'broken', actions: 'tellStreamEnded' },
              },
            },
            broken: { after: { again: 'opening' } },
          },
        },
        course: {
          description: 'How far the message is, as the session itself says.',
          initial: 'preparing',
          states: {
            preparing: {
              description: 'Nothing is sent before its answer can be heard.',
              on: { listening: { target: 'sending', actions: 'begin' } },
            },
            sending: {
              invoke: {
                src: 'send',
                onDone: [
                  {
                    guard: { type: 'isRepeated', params: ({ event }) => ({ duplicate: event.output.duplicate === true }) },
                    target: 'asking',
                    actions: ['tellAnswered', 'expectEnd'],
                  },
                  {
                    // The turn that it joined may wait for a person already.
                    guard: { type: 'isStatus', params: ({ event }) => ({ status: event.output.status, is: 'steered' }) },
                    target: 'asking',
                    actions: 'tellAnswered',
                  },
                  { target: 'idle', actions: 'tellAnswered' },
                ],
                onError: [
                  {
                    guard: { type: 'isUnknown', params: failure },
                    target: 'unsent',
                    actions: [keepError, 'tellSilent'],
                  },
                  giveUp,
                ],
              },
            },
            unsent: { after: { again: 'sending' } },
            idle: {
              description: 'Events tell the rest; where they may get lost, the session is asked now and then.',
              on: { sign: { target: 'asking', actions: 'expectEndSoon' }, 'stream.ended': 'asking' },
              initial: 'choosing',
              states: {
                choosing: { always: [{ guard: 'hearsAll', target: 'hearing' }, { target: 'pausing' }] },
                hearing: {},
                pausing: { after: { pause: '#follow.following.course.asking' } },
              },
            },
            asking: {
              on: { sign: { actions: 'expectEndSoon' } },
              after: { answer: { guard: 'hasOthers', target: 'idle', actions: ['keepLateness', 'tellSilent'] } },
              invoke: {
                src: 'ask',
                onDone: [
                  {
                    guard: { type: 'isUnanswered', params: ({ event }) => ({ unanswered: event.output }) },
                    target: 'idle',
                    actions: ['tellAnswered', 'keepWaiting'],
                  },
                  { guard: 'isEnding', target: 'fetching', actions: 'tellAnswered' },
                  // The event that says so may be on its way.
                  { target: 'idle', actions: ['tellAnswered', 'expectEnd'] },
                ],
                onError: askAgain,
              },
            },
            fetching: {
              after: { outcome: { guard: 'hasOthers', target: 'idle', actions: ['keepLateness', 'tellSilent'] } },
              invoke: {
                src: 'fetch',
                onDone: '#follow.ended',
                onError: askAgain,
              },
            },
          },
        },
        link: {
          description: 'Whether anybody answers: the run goes on either way.',
          initial: 'up',
          states: {
            up: {
              on: {
                silent: [
                  { guard: 'isAlone', target: '#follow.lost' },
                  { target: 'down', actions: 'emitOutage' },
                ],
              },
            },
            down: { on: { answered: 'up' }, after: { outageMax: '#follow.lost' } },
          },
        },
      },
    },
    ended: { type: 'final', output: { error: undefined, lost: false } },
    failed: { type: 'final', output: ({ context: { error } }) => ({ error, lost: false }) },
    lost: { type: 'final', output: ({ context: { error } }) => ({ error, lost: true }) },
  },
  output: ({ event }) => (event as unknown as { output: FollowOutput }).output,
})
