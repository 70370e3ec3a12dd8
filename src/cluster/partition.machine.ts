import { assign, type EventObject, fromCallback, fromPromise, setup } from 'xstate'
import { notProvided } from '../actors/not-provided.setup.ts'
import type { Lease } from '../contracts/placement.ts'

/** What is known of the lease of one partition; of nodes that are gone it names none. `wanted` is who should have it. */
export type PartitionLook = Lease & { wanted: string | null }
type PartitionEvent = { type: 'look' } & PartitionLook

export type PartitionContext = PartitionLook & { partition: number; me: string }

/**
 * One partition, as one node sees it. The lease in the registry says which node holds it; the journal, and not the lease, keeps two nodes from writing to one actor.
 * A node that hands a partition over keeps the actors that are at work until they rest (`lingering`), and the next holder leaves those alone (`held.beside`).
 */
export const partitionMachine = setup({
  types: {
    input: {} as { partition: number; me: string },
    context: {} as PartitionContext,
    events: {} as PartitionEvent,
  },
  actors: {
    /** Writes the lease if nobody has it. */
    claim: fromPromise<Lease, PartitionContext>(notProvided),
    /** Takes the messages of the partition in, and wakes its actors, for as long as it is held. */
    serve: fromCallback<EventObject, PartitionContext>(() => undefined),
    /** Names the next holder in the lease, and us as the one before. */
    handOver: fromPromise<Lease, PartitionContext>(notProvided),
    /** Ends when no actor of the partition is in memory any more; none is cut off in its work. */
    settle: fromPromise<void, PartitionContext>(notProvided),
    /** Takes our name out of the lease. */
    clear: fromPromise<Lease, PartitionContext>(notProvided),
    /** Lets go of its actors at once, without a word to the journal. */
    drop: fromPromise<void, PartitionContext>(notProvided),
  },
  actions: {
    look: assign(({ event: { holder, previous, wanted } }) => ({ holder, previous, wanted })),
    note: assign((_, found: Lease) => found),
    /** Wakes what another node kept from being woken. */
    wakeActors: () => undefined,
  },
  guards: {
    mine: ({ context: { holder, me } }) => holder === me,
    mineBefore: ({ context: { previous, me } }) => previous === me,
    /** Who is gone is not named. */
    othersBefore: ({ context: { previous, me } }) => previous !== null && previous !== me,
    nobodyBefore: ({ context: { previous, me } }) => previous === null || previous === me,
    /** A holder that is not known does not count as another node. */
    taken: ({ context: { holder, me } }) => holder !== null && holder !== me,
    forMe: ({ context: { holder, wanted, me } }) => holder === null && wanted === me,
    forOthers: ({ context: { wanted, me } }) => wanted !== me,
  },
  delays: { pause: 500 },
}).createMachine({
  id: 'partition',
  description: 'One of the 64 parts of all actors, as one node sees it: elsewhere, held, or on its way.',
  context: ({ input }) => ({ ...input, holder: null, previous: null, wanted: null }),
  on: { look: { actions: 'look' } },
  initial: 'elsewhere',
  states: {
    elsewhere: {
      always: [
        { guard: 'mine', target: 'held' },
        { guard: 'mineBefore', target: 'lingering' },
        { guard: 'forMe', target: 'claiming' },
      ],
    },
    claiming: {
      invoke: {
        src: 'claim',
        input: ({ context }) => context,
        onDone: { target: 'elsewhere', actions: { type: 'note', params: ({ event }) => event.output } },
        onError: 'pausing',
      },
    },
    held: {
      invoke: { src: 'serve', input: ({ context }) => context },
      always: [
        { guard: 'taken', target: 'taken' },
        { guard: 'forOthers', target: 'handingOver' },
        { guard: 'forMe', target: 'reclaiming' },
      ],
      initial: 'alone',
      states: {
        alone: { always: { guard: 'othersBefore', target: 'beside' } },
        beside: {
          description: 'Some of its actors are in the middle of their work on the node that had it before, which we ask about each of them.',
          always: { guard: 'nobodyBefore', target: 'alone', actions: 'wakeActors' },
        },
      },
    },
    reclaiming: {
      description: 'Somebody has taken the record of its lease away. Its actors go on meanwhile.',
      invoke: {
        src: 'claim',
        input: ({ context }) => context,
        onDone: { target: 'held', actions: { type: 'note', params: ({ event }) => event.output } },
        onError: 'taken',
      },
    },
    handingOver: {
      description: 'Its actors still work here; who comes next asks us about each of them.',
      invoke: {
        src: 'handOver',
        input: ({ context }) => context,
        onDone: { target: 'lingering', actions: { type: 'note', params: ({ event }) => event.output } },
        onError: 'pausing',
      },
    },
    lingering: {
      description: 'Actors in the middle of their work end it here.',
      always: [
        { guard: 'mine', target: 'held' },
        { guard: 'forMe', target: 'claiming' },
      ],
      invoke: { src: 'settle', input: ({ context }) => context, onDone: 'clearing' },
    },
    clearing: {
      invoke: {
        src: 'clear',
        input: ({ context }) => context,
        onDone: { target: 'elsewhere', actions: { type: 'note', params: ({ event }) => event.output } },
        onError: 'pausing',
      },
    },
    taken: {
      description: 'We were away for so long that another node took it.',
      invoke: { src: 'drop', input: ({ context }) => context, onDone: 'elsewhere' },
    },
    pausing: {
      description: 'The registry does not answer.',
      after: { pause: 'elsewhere' },
    },
  },
})
