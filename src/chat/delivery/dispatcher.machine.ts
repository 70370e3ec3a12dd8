import { assign, emit, enqueueActions, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { Payload } from '../../contracts/reply.ts'
import type { Counted, DeliverOrder, DeliverReport } from './delivery.context.ts'
import {
  abandoned,
  arrived,
  begin,
  blocksTaken,
  counted,
  currentOf,
  type DispatcherContext,
  type DispatcherInput,
  failed,
  flushed,
  found,
  isRestSeen,
  isWorthSending,
  nextTaken,
  partOf,
  released,
  restOf,
  type SendInput,
  type SentBlock,
  saidOf,
  sendingBegun,
  superseded,
  toolMessageQueued,
} from './dispatcher.context.ts'
import type { TypingEvent } from './typing.machine.ts'

/** What the reader of the deltas tells. */
export type ReaderEvent =
  /** Blocks were cut out of the text. @property voice the model wants sound to be a voice message */
  | { type: 'blocks'; blocks: Payload[]; voice: boolean }
  /** A block that had been sent was said again. */
  | { type: 'block.found'; block: SentBlock }
  /** What was said of the message does not count any more: it is said from the beginning. */
  | { type: 'message.superseded' }
  /** @property whole nothing of it got lost on its way */
  | { type: 'message.ended'; whole: boolean }

type DispatcherEvent = ReaderEvent | Exclude<DeliverOrder, { type: 'delivery.end' | 'known' }>

type DispatcherEmitted =
  | Exclude<DeliverReport, { type: 'delivery.finished' }>
  /** @property said blocks of the message that went out: they need not be said again */
  | { type: 'superseded'; said: readonly SentBlock[] }
  | { type: 'typing'; trigger: TypingEvent['type'] }
  | { type: 'stripped' }

/** Longer than this no timer runs. */
const msMax = 2 ** 31 - 1

/**
 * How one answer gets to its channel: message after message in the order in which they came (OC-61, 62, 72), short blocks put together (OC-60), sound at the
 * end (OC-63), and then what was not streamed (OC-65). It runs within the effect that delivers and is not journalled; what arrived is, by the machine `delivery`
 * (docs/decisions/0008-the-dispatcher-is-a-local-chart.md). Deltas pass beside it: it gets the blocks that were cut out of them.
 */
export const dispatcherMachine = setup({
  types: {
    input: {} as DispatcherInput,
    context: {} as DispatcherContext,
    events: {} as DispatcherEvent,
    emitted: {} as DispatcherEmitted,
    output: {} as Counted,
    /** Something is on its way to the channel, or will be without anybody's doing. */
    tags: {} as 'busy',
  },
  actors: { send: fromPromise<void, SendInput>(notProvided) },
  guards: {
    isNothingHeld: ({ context }) => context.coalescer.held === undefined,
    isWorthSending: ({ context }) => isWorthSending(context),
    hasWaiting: ({ context }) => context.waiting.length > 0,
    /** Between blocks, never before the first. */
    isPaced: ({ context }) => context.current?.kind === 'block' && context.blockSent && context.delivery.pacing !== 'off',
    isToSend: ({ context }) => context.current !== null,
    isDropped: ({ context }) => context.current === null,
    hasMoreParts: ({ context: { current } }) => current !== null && current.part + 1 < current.parts.length,
    isLimited: ({ context }) => context.delivery.sendTimeoutMs > 0,
    isDrained: ({ context }) => isDrained(context),
    isDrainedBeforeMore: ({ context }) => isDrained(context) && isRestSeen(context),
  },
  delays: {
    idle: ({ context }) => context.delivery.coalesce.idleMs,
    /** The effect puts one by chance in its place. */
    pause: ({ context: { delivery } }) => (typeof delivery.pacing === 'object' ? delivery.pacing.minMs : 800),
    limit: ({ context: { delivery } }) => (delivery.sendTimeoutMs > 0 ? delivery.sendTimeoutMs : msMax),
  },
  actions: {
    showRun: emit({ type: 'typing', trigger: 'run.start' }),
    showMessage: emit({ type: 'typing', trigger: 'message.start' }),
    showTool: emit({ type: 'typing', trigger: 'tool' }),
    showAllSaid: emit({ type: 'typing', trigger: 'run.complete' }),
    showEnd: emit({ type: 'typing', trigger: 'cleanup' }),
    nextMessage: assign(({ context: { message, audio } }) => ({ message: message + 1, audioBefore: audio })),
    notePrefix: assign(({ event }) => (event.type === 'delivery.start' ? { prefix: event.prefix } : {})),
    noteWhole: assign(({ context, event }) => (event.type === 'message.ended' ? { complete: context.complete && event.whole } : {})),
    supersede: enqueueActions(({ context, enqueue }) => {
      enqueue.assign(superseded(context))
      enqueue.emit({ type: 'superseded', said: saidOf(context) })
    }),
    noteFound: assign(({ context, event }) => (event.type === 'block.found' ? found(context, event.block) : {})),
    takeBlocks: assign(({ context, event }) => (event.type === 'blocks' ? blocksTaken(context, event.blocks, event.voice) : {})),
    flush: assign(({ context }) => flushed(context)),
    release: assign(({ context }) => released(context)),
    queueToolMessage: assign(({ context, event }) => (event.type === 'delivery.tool' ? toolMessageQueued(context, event) : {})),
    keepAnswer: assign(({ event }) => (event.type === 'delivery.finish' ? { answer: event } : {})),
    queueRest: assign({ waiting: ({ context }) => restOf(context) }),
    takeNext: enqueueActions(({ context, enqueue }) => {
      const next = nextTaken(context)
      enqueue.assign(next)
      if (next.stripped && !context.stripped) enqueue.emit({ type: 'stripped' })
    }),
    beginSending: assign(({ context }) => sendingBegun(context)),
    nextPart: assign({ current: ({ context: { current } }) => current && { ...current, part: current.part + 1 } }),
    tellSent: emit(({ context }) => ({ type: 'block.sent', ...currentOf(context) })),
    tellFailed: emit(({ context }) => ({ type: 'block.failed', ...currentOf(context), timedOut: false })),
    tellLate: emit(({ context }) => ({ type: 'block.failed', ...currentOf(context), timedOut: true })),
    noteSent: assign(({ context }) => arrived(context, currentOf(context))),
    noteFailed: assign(({ context }) => failed(context, currentOf(context), false)),
    noteLate: assign(({ context }) => failed(context, currentOf(context), true)),
    giveUpBlocks: assign({ aborted: true }),
    abandon: assign(({ context }) => abandoned(context)),
  },
}).createMachine({
  id: 'dispatcher',
  description: 'How the messages of one answer get to their channel, one after the other.',
  context: ({ input }) => begin(input),
  output: ({ context }) => counted(context),
  entry: 'showRun',
  initial: 'delivering',
  states: {
    delivering: {
      type: 'parallel',
      on: {
        'delivery.tool': { actions: ['flush', 'showTool', 'queueToolMessage'] },
        'block.found': { actions: 'noteFound' },
        broken: { actions: 'giveUpBlocks' },
        'delivery.abort': { target: 'aborted', actions: 'abandon' },
      },
      states: {
        message: {
          description: 'A message of the model; another attempt at it replaces what was not sent of the one before.',
          initial: 'none',
          states: {
            none: { on: { 'delivery.start': { target: 'writing', actions: ['showMessage', 'flush', 'nextMessage', 'notePrefix'] } } },
            writing: {
              on: {
                'delivery.start': { actions: ['showMessage', 'supersede', 'notePrefix'] },
                'message.superseded': { actions: 'supersede' },
                'message.ended': { target: 'none', actions: 'noteWhole' },
                'delivery.finish': 'none',
              },
            },
          },
        },
        blocks: {
          description: 'Short blocks are put together.',
          initial: 'none',
          on: { blocks: { target: '.holding', actions: 'takeBlocks' } },
          states: {
            none: {},
            holding: {
              tags: 'busy',
              description: 'For a while more may come.',
              always: { guard: 'isNothingHeld', target: 'none' },
              after: { idle: [{ guard: 'isWorthSending', target: 'none', actions: 'flush' }, { target: 'short' }] },
            },
            short: {
              description: 'Too little for a message: it waits, however long that takes.',
              always: { guard: 'isNothingHeld', target: 'none' },
            },
          },
        },
        queue: {
          initial: 'idle',
          states: {
            idle: { always: { guard: 'hasWaiting', target: 'choosing', actions: 'takeNext' } },
            choosing: {
              tags: 'busy',
              always: [
                { guard: 'isPaced', target: 'pausing' },
                { guard: 'isToSend', target: 'sending', actions: 'beginSending' },
                { target: 'idle' },
              ],
            },
            pausing: {
              tags: 'busy',
              description: 'Between blocks, as a person would.',
              always: { guard: 'isDropped', target: 'idle' },
              after: { pause: { target: 'sending', actions: 'beginSending' } },
            },
            sending: {
              tags: 'busy',
              description: 'Where the channel takes less at a time, a message becomes several parts; without one of them the rest makes no sense.',
              invoke: {
                src: 'send',
                input: ({ context }) => partOf(context),
                onDone: [
                  { guard: 'hasMoreParts', target: 'sending', reenter: true, actions: 'nextPart' },
                  { target: 'idle', actions: ['tellSent', 'noteSent'] },
                ],
                onError: { target: 'idle', actions: ['tellFailed', 'noteFailed'] },
              },
              after: { limit: { guard: 'isLimited', target: 'idle', actions: ['tellLate', 'noteLate'] } },
            },
          },
        },
        answer: {
          initial: 'open',
          states: {
            open: {
              description: 'The turn goes on.',
              on: { 'delivery.finish': { target: 'flushing', actions: ['keepAnswer', 'release'] } },
            },
            flushing: {
              tags: 'busy',
              description: 'All is said; what was streamed of it goes first.',
              always: [
                { guard: 'isDrainedBeforeMore', target: 'finishing', actions: ['showRun', 'queueRest', 'showAllSaid'] },
                { guard: 'isDrained', target: 'finishing', actions: ['queueRest', 'showAllSaid'] },
              ],
            },
            finishing: { tags: 'busy', description: 'Then what was not.', always: { guard: 'isDrained', target: '#dispatcher.done' } },
          },
        },
      },
    },
    done: { entry: 'showEnd', type: 'final' },
    aborted: { description: 'Nobody wants more of it.', entry: 'showEnd', type: 'final' },
  },
})

const isDrained = ({ waiting, current }: DispatcherContext): boolean => waiting.length === 0 && current === null
