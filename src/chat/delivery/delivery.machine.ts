import { assign, enqueueActions, fromCallback, sendTo, setup } from 'xstate'
import type { Delivery, DeliveryOutput, SendKind } from '../../contracts/channel.ts'
import type { Payload, Route } from '../../contracts/reply.ts'

/** What the turn tells its pipeline; the deltas themselves pass beside the machine. */
export type StreamOrder =
  /** A model call begins. One that follows another without an end between them replaces it. `prefix` stands before each message. */
  | { type: 'stream.start'; attempt: number; prefix?: string }
  /** The call has ended, and with it a message of the model: `text` is all of it, also what got lost of its deltas. */
  | { type: 'stream.end'; text?: string }
  /** A tool begins: what was said goes first, then what is to be told about the tool. */
  | { type: 'stream.tool'; callId: string; payload?: Payload }
  /** All is said: of `payloads`, the whole answer, goes what was not streamed. */
  | { type: 'stream.finish'; leading: Payload[]; payloads: Payload[]; trailing: Payload[] }
  /** Nothing more is sent. */
  | { type: 'stream.abort' }

/** A message that has arrived, by its name within the turn. */
export type Delivered = { key: string; kind: SendKind }

/** Why something was not sent: nothing in it, the token for it, no need for it, streaming given up, or nowhere to send it. */
export type SkipReason = 'empty' | 'silent' | 'heartbeat' | 'duplicate' | 'dropped' | 'no_channel'
export type SkipCounts = Partial<Record<SkipReason, number>>
export type SendCounts = Record<SendKind, number>

/** What the effect reports. */
export type DeliverReport =
  | ({ type: 'block.sent' } & Delivered)
  /** It will not be sent. After a block that took too long none is sent any more, for their order's sake. */
  | ({ type: 'block.failed'; timedOut: boolean } & Delivered)
  /** There is nothing left to do. @property aborted streaming was given up */
  | ({ type: 'stream.finished' } & StreamOutput)

/** What the effect is told: orders, and what had arrived already, for one that had to begin anew. */
export type DeliverOrder = StreamOrder | ({ type: 'known' } & Delivered) | { type: 'broken' }

/**
 * @property route without one the answer goes to nobody but those who listen to the session, and nothing has to be delivered
 * @property aside what is said beside the turns, such as `notice`
 */
export type StreamInput = { session: string; runId: string; aside?: string; route?: Route; delivery?: Delivery; messageId?: string }
export type DeliverInput = StreamInput & { route: Route; delivery: Delivery }

/**
 * What was delivered.
 * @property failed sends that came to nothing; of a block, the whole answer may still have arrived @property lost messages that did not arrive at all
 * @property aborted streaming was given up, or the turn was stopped
 */
export type StreamOutput = { counts: SendCounts; failed: number; lost: number; aborted: boolean; skipped: SkipCounts }

/** @property live there is an effect that delivers */
type Context = StreamInput & StreamOutput & { live: boolean }

/**
 * What a turn says on its way to its users. It spans all model calls of the turn; a new attempt replaces what is left of the one before.
 *
 * | state          | on              | guard      | next           | does                                       |
 * | -------------- | --------------- | ---------- | -------------- | ------------------------------------------ |
 * | open.buffering | stream.start    |            | open.flushing  | tells the effect                           |
 * | open.flushing  | stream.start    |            | open.flushing  | tells the effect: a new attempt            |
 * | open.flushing  | stream.end      |            | open.buffering | tells the effect                           |
 * | open           | block.failed    | isTimeout  | broken         | counts it                                  |
 * | open           | deliver error   |            | broken         | nothing can be delivered any more          |
 * | broken         | stream.start, stream.end |   |                | tells the effect                           |
 * | open, broken   | stream.tool     |            |                | tells the effect                           |
 * | open, broken   | stream.finish   | isLive     | finishing      | tells the effect                           |
 * | open, broken   | stream.finish   |            | closed         |                                            |
 * | finishing      | stream.finished |            | closed         | takes the counts                           |
 * | finishing      | deliver error   |            | closed         | nothing can be delivered any more          |
 * | (live)         | block.sent      |            |                | counts it, and tells the effect that we know |
 * | (live)         | block.failed    |            |                | counts it                                  |
 * | open, broken, finishing | stream.abort | isLive | aborting    | tells the effect                           |
 * | open, broken, finishing | stream.abort |     | aborted        |                                            |
 * | aborting       | stream.finished |            | aborted        | takes the counts                           |
 * | aborting       | deliver error, after a while | | aborted      | nothing more is sent                       |
 */
export const streamMachine = setup({
  types: {
    input: {} as StreamInput,
    context: {} as Context,
    output: {} as StreamOutput,
    events: {} as StreamOrder | DeliverReport,
  },
  actors: { deliver: fromCallback<DeliverOrder, DeliverInput, DeliveryOutput>(() => undefined) },
  guards: {
    isTimeout: ({ event }) => event.type === 'block.failed' && event.kind === 'block' && event.timedOut,
    isLive: ({ context }) => context.live,
  },
  delays: { patience: 5_000 },
  actions: {
    begin: enqueueActions(({ context: { session, runId, aside, route, delivery = {}, messageId }, enqueue }) => {
      if (!route) return
      const said = { ...(aside === undefined ? {} : { aside }), ...(messageId === undefined ? {} : { messageId }) }
      const input = { session, runId, route, delivery, ...said }
      enqueue.spawnChild('deliver', { id: 'deliver', input })
      enqueue.assign({ live: true })
    }),
    tell: enqueueActions(({ context, event, enqueue }) => {
      if (context.live) enqueue.sendTo('deliver', event)
    }),
    noteSent: enqueueActions(({ context: { counts, live }, event, enqueue }) => {
      if (event.type !== 'block.sent') return
      const { key, kind } = event
      enqueue.assign({ counts: { ...counts, [kind]: counts[kind] + 1 } })
      if (live) enqueue.sendTo('deliver', { type: 'known', key, kind })
    }),
    noteFailed: assign({ failed: ({ context }) => context.failed + 1 }),
    noteBroken: assign({ aborted: true }),
    /** It knows that; one that is started again after a crash does not. */
    tellBroken: sendTo('deliver', { type: 'broken' }),
    /** Of what it has not said nobody knows more than that. */
    noteLost: assign({ live: false, aborted: true, lost: 1 }),
    takeCounts: assign(({ event }) => {
      if (event.type !== 'stream.finished') return {}
      const { type: _, ...counted } = event
      return counted
    }),
  },
}).createMachine({
  id: 'stream',
  description: 'What a turn says on its way to its users.',
  context: ({ input }) => ({ ...input, live: false, counts: { tool: 0, block: 0, final: 0 }, failed: 0, lost: 0, aborted: false, skipped: {} }),
  output: ({ context: { counts, failed, lost, aborted, skipped } }) => ({ counts, failed, lost, aborted, skipped }),
  initial: 'open',
  entry: 'begin',
  on: {
    'block.sent': { actions: 'noteSent' },
    'block.failed': { actions: 'noteFailed' },
    'stream.abort': [
      { guard: 'isLive', target: '.aborting', actions: ['tell', 'noteBroken'] },
      { target: '.aborted', actions: 'noteBroken' },
    ],
  },
  states: {
    open: {
      initial: 'buffering',
      on: {
        'stream.tool': { actions: 'tell' },
        'stream.finish': [{ guard: 'isLive', target: 'finishing', actions: 'tell' }, { target: 'closed' }],
        'block.failed': { guard: 'isTimeout', target: 'broken', actions: ['noteFailed', 'noteBroken', 'tellBroken'] },
        'xstate.error.actor.deliver': { target: 'broken', actions: 'noteLost' },
      },
      states: {
        buffering: { description: 'No model is speaking.', on: { 'stream.start': { target: 'flushing', actions: 'tell' } } },
        flushing: {
          description: 'Deltas are passing by.',
          on: {
            'stream.end': { target: 'buffering', actions: 'tell' },
            'stream.start': { target: 'flushing', reenter: true, actions: 'tell' },
          },
        },
      },
    },
    broken: {
      description: 'A block could not be sent in time, so none is sent any more; what is left goes when all is said.',
      on: {
        'stream.start': { actions: 'tell' },
        'stream.end': { actions: 'tell' },
        'stream.tool': { actions: 'tell' },
        'stream.finish': [{ guard: 'isLive', target: 'finishing', actions: 'tell' }, { target: 'closed' }],
        'xstate.error.actor.deliver': { actions: 'noteLost' },
      },
    },
    finishing: {
      description: 'All is said; the last of it is delivered.',
      on: {
        'stream.finished': { target: 'closed', actions: 'takeCounts' },
        'xstate.error.actor.deliver': { target: 'closed', actions: 'noteLost' },
      },
    },
    aborting: {
      description: 'Nobody wants more of it: the effect puts its things away.',
      on: {
        'stream.abort': {},
        'stream.finished': { target: 'aborted', actions: 'takeCounts' },
        'xstate.error.actor.deliver': 'aborted',
      },
      after: { patience: 'aborted' },
    },
    closed: { type: 'final' },
    aborted: { type: 'final' },
  },
})
