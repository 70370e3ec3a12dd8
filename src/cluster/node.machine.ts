import { assign, type EventObject, enqueueActions, fromCallback, fromPromise, sendTo, setup } from 'xstate'
import { notProvided } from '../actors/not-provided.setup.ts'
import { emptyLease, holders, type Members, partitionCount, rendezvous } from '../contracts/placement.ts'
import { type PartitionLook, partitionMachine } from './partition.machine.ts'

type NodeEvent =
  /** Who is alive, and who has which lease. */
  | { type: 'members'; members: Members }
  /** Give everything away, then leave. */
  | { type: 'drain' }

type NodeContext = {
  me: string
  members: Members
  draining: boolean
  /** What each partition was told last. */
  looks: readonly PartitionLook[]
}

/** What its renewal is told. */
type RenewEvent = { type: 'drain' }

const partitions = Array.from({ length: partitionCount }, (_, index) => index)
const childOf = (partition: number): string => `partition-${partition}`

/** Who is gone holds nothing, and who drains is to have nothing. */
const looksOf = ({ me, members, draining }: NodeContext): PartitionLook[] => {
  const alive = new Set(members.nodes.map(({ id }) => id))
  const present = (id: string | null) => (id !== null && (id === me || alive.has(id)) ? id : null)
  const may = holders(members).filter((id) => id !== me || !draining)
  return partitions.map((partition) => {
    const { holder, previous } = members.leases[partition] ?? emptyLease
    return { holder: present(holder), previous: present(previous), wanted: rendezvous(partition, may) }
  })
}
const isSame = (look: PartitionLook, before: PartitionLook | undefined): boolean =>
  look.holder === before?.holder && look.previous === before.previous && look.wanted === before.wanted

/** One node of a cluster: it registers itself, takes its share of the partitions, hands some over when other nodes join, and all of them when it drains. */
export const nodeMachine = setup({
  types: {
    input: {} as { me: string; members: Members },
    context: {} as NodeContext,
    events: {} as NodeEvent,
  },
  actors: {
    partition: partitionMachine,
    /** Writes the record of the node. */
    join: fromPromise<void, NodeContext>(notProvided),
    /** Renews the record, and writes it again where it has expired. */
    renew: fromCallback<RenewEvent & EventObject, NodeContext>(() => undefined),
    /** Takes no more work of others, and ends what it has begun. */
    finishWork: fromPromise<void>(notProvided),
    /** Takes the record back. */
    leave: fromPromise<void, NodeContext>(notProvided),
  },
  guards: {
    holdsNoLease: ({ context: { me, members } }) => members.leases.every(({ holder, previous }) => holder !== me && previous !== me),
  },
  actions: {
    keepMembers: assign(({ event }) => (event.type === 'members' ? { members: event.members } : {})),
    spawnPartitions: enqueueActions(({ context: { me }, enqueue }) => {
      for (const partition of partitions) enqueue.spawnChild('partition', { id: childOf(partition), input: { partition, me } })
    }),
    /** Each partition for which something has changed decides for itself what follows. */
    lookAll: enqueueActions(({ context, enqueue }) => {
      const looks = looksOf(context)
      for (const partition of partitions) {
        const look = looks[partition] as PartitionLook
        if (!isSame(look, context.looks[partition])) enqueue.sendTo(childOf(partition), { type: 'look', ...look })
      }
      enqueue.assign({ looks })
    }),
    forgetLooks: assign({ looks: [] }),
    stopPartitions: enqueueActions(({ enqueue }) => {
      for (const partition of partitions) enqueue.stopChild(childOf(partition))
    }),
    beginDraining: assign({ draining: true }),
    tellRenewal: sendTo('renew', { type: 'drain' }),
  },
  delays: { again: 1000 },
}).createMachine({
  id: 'node',
  description: 'One node of a cluster: it says that it is there, takes its share of the partitions, and gives them away when it drains.',
  context: ({ input }) => ({ ...input, draining: false, looks: [] }),
  on: { members: { actions: 'keepMembers' } },
  initial: 'joining',
  states: {
    joining: {
      invoke: { src: 'join', input: ({ context }) => context, onDone: 'member', onError: 'waiting' },
      on: { drain: 'leaving' },
    },
    waiting: {
      description: 'The registry does not answer.',
      after: { again: 'joining' },
      on: { drain: 'leaving' },
    },
    member: {
      entry: ['forgetLooks', 'spawnPartitions', 'lookAll'],
      exit: 'stopPartitions',
      invoke: { id: 'renew', src: 'renew', input: ({ context }) => context },
      on: { members: { actions: ['keepMembers', 'lookAll'] } },
      initial: 'serving',
      states: {
        serving: { on: { drain: { target: 'draining', actions: ['beginDraining', 'tellRenewal', 'lookAll'] } } },
        draining: {
          description: 'Each lease goes to whoever is next; actors in the middle of their work end it here, and so does work for others.',
          initial: 'working',
          states: {
            working: { invoke: { src: 'finishWork', onDone: 'handing', onError: 'handing' } },
            handing: { always: { guard: 'holdsNoLease', target: '#node.leaving' } },
          },
        },
      },
    },
    leaving: {
      invoke: { src: 'leave', input: ({ context }) => context, onDone: 'left', onError: 'left' },
    },
    left: { type: 'final' },
  },
})
