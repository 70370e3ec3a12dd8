import { assign, enqueueActions, fromCallback, raise, sendTo, setup } from 'xstate'
import type { DeliveryOutput } from '../../contracts/channel.ts'
import type { PublisherEvent, PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import {
  begin,
  type Counted,
  type DeliverInput,
  type DeliverOrder,
  type DeliverReport,
  type DeliveryContext,
  delivered,
  effectInput,
  type Finish,
  finishing,
  orderFor,
  type SayingInput,
} from './delivery.context.ts'

/** Whether blocks are sent or not. */
const whileOpen = {
  'tool.started': { actions: 'tell' },
  'tool.waiting': { actions: 'tell' },
  'tool.ended': { actions: 'tell' },
  'turn.ended': [
    { guard: 'isCancelled', actions: 'stop' },
    { guard: 'isLive', target: 'finishing', actions: 'tellAll' },
    { target: 'closed', actions: 'tellAll' },
  ],
  'delivery.finish': [{ guard: 'isLive', target: 'finishing', actions: 'tellAll' }, { target: 'closed' }],
} as const

/** What a turn does, what a session itself has to say, and what the effect reports; deltas pass beside the machine. */
export type DeliveryEvent = PublisherEvent | Finish | DeliverReport

/**
 * What is said on its way to its users: the publisher of a turn, over all of its model calls, or something that a session says by itself. A new attempt
 * of a call replaces what is left of the one before.
 */
export const deliveryMachine = setup({
  types: {
    input: {} as SayingInput | PublisherInput,
    context: {} as DeliveryContext,
    output: {} as Counted & PublisherOutput,
    events: {} as DeliveryEvent,
  },
  actors: { deliver: fromCallback<DeliverOrder, DeliverInput, DeliveryOutput>(() => undefined) },
  guards: {
    isTimeout: ({ event }) => event.type === 'block.failed' && event.kind === 'block' && event.timedOut,
    isLive: ({ context }) => context.live,
    isCancelled: ({ event }) => event.type === 'turn.ended' && event.answer.status === 'cancelled',
  },
  delays: { patience: 5_000 },
  actions: {
    begin: enqueueActions(({ context, enqueue }) => {
      const input = effectInput(context)
      if (!input) return
      enqueue.spawnChild('deliver', { id: 'deliver', input })
      enqueue.assign({ live: true })
    }),
    tell: enqueueActions(({ context, event, enqueue }) => {
      const order = context.live ? orderFor(context, event as PublisherEvent) : undefined
      if (order) enqueue.sendTo('deliver', order)
    }),
    tellAll: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'delivery.finish' && context.live) enqueue.sendTo('deliver', event)
      if (event.type !== 'turn.ended') return
      const { order, output } = finishing(context, event.answer)
      enqueue.assign({ output })
      if (context.live) enqueue.sendTo('deliver', order)
    }),
    stop: raise({ type: 'turn.stopped' }),
    tellStopped: sendTo('deliver', { type: 'delivery.abort' }),
    noteVerbose: assign(({ context, event }) => (event.type === 'configure' ? { verbose: event.verbose ?? context.verbose } : {})),
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
      if (event.type !== 'delivery.finished') return {}
      const { type: _, ...counted } = event
      return counted
    }),
  },
}).createMachine({
  id: 'delivery',
  description: 'What is said on its way to its users.',
  context: ({ input }) => begin(input),
  output: ({ context }) => delivered(context),
  initial: 'open',
  entry: 'begin',
  on: {
    configure: { actions: 'noteVerbose' },
    'block.sent': { actions: 'noteSent' },
    'block.failed': { actions: 'noteFailed' },
    'turn.stopped': [
      { guard: 'isLive', target: '.aborting', actions: ['tellStopped', 'noteBroken'] },
      { target: '.aborted', actions: 'noteBroken' },
    ],
  },
  states: {
    open: {
      initial: 'buffering',
      on: {
        ...whileOpen,
        'block.failed': { guard: 'isTimeout', target: 'broken', actions: ['noteFailed', 'noteBroken', 'tellBroken'] },
        'xstate.error.actor.deliver': { target: 'broken', actions: 'noteLost' },
      },
      states: {
        buffering: { description: 'No model is speaking.', on: { 'model.started': { target: 'flushing', actions: 'tell' } } },
        flushing: {
          description: 'Deltas are passing by.',
          on: {
            'model.ended': { target: 'buffering', actions: 'tell' },
            'model.started': { target: 'flushing', reenter: true, actions: 'tell' },
          },
        },
      },
    },
    broken: {
      description: 'A block could not be sent in time, so none is sent any more; what is left goes when all is said.',
      on: {
        'model.started': { actions: 'tell' },
        'model.ended': { actions: 'tell' },
        ...whileOpen,
        'xstate.error.actor.deliver': { actions: 'noteLost' },
      },
    },
    finishing: {
      description: 'All is said; the last of it is delivered.',
      on: {
        'delivery.finished': { target: 'closed', actions: 'takeCounts' },
        'xstate.error.actor.deliver': { target: 'closed', actions: 'noteLost' },
      },
    },
    aborting: {
      description: 'Nobody wants more of it: the effect puts its things away.',
      on: {
        'turn.stopped': {},
        'delivery.finished': { target: 'aborted', actions: 'takeCounts' },
        'xstate.error.actor.deliver': 'aborted',
      },
      after: { patience: 'aborted' },
    },
    closed: { type: 'final' },
    aborted: { type: 'final' },
  },
})
