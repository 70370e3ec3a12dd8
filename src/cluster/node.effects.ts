/** Gives the statecharts of a node and of its partitions their effects, and runs them. */
import { type ActorRefFrom, createActor, fromCallback, fromPromise } from 'xstate'
import type { Host } from '../actors/index.ts'
import { actorClock, type Environment, pause } from '../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import { type Lease, type NodeRecord, partitionOf } from '../contracts/placement.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Membership } from './membership.ts'
import { nodeMachine } from './node.machine.ts'
import { type PartitionContext, partitionMachine } from './partition.machine.ts'

const renewMs = 1_000
/** Renewals between two looks at the whole registry. */
const lookEvery = 30
/** Longest time from a change of the registry to the readers that wait for it, where its announcement got lost. */
const settleStepMs = 100

type NodeParts = {
  membership: Membership
  record: NodeRecord
  host: Pick<Host, 'vacate' | 'drop' | 'wakeNow'>
  environment: Pick<Environment, 'clock' | 'log'>
  /** Takes the stored messages of a partition in. @returns the stopper */
  consume(partition: number): () => Promise<void>
  /** Takes no more work of others; resolves when what was begun has ended. */
  finishWork(): Promise<void>
}

export type RunningNode = {
  actor: ActorRefFrom<typeof nodeMachine>
  /** Gives away what it holds; resolves when it has nothing left, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>
  /** Takes in nothing more, and says nothing more. */
  stop(): Promise<void>
}

export const runNode = ({ membership, record, host, environment, consume, finishWork }: NodeParts): RunningNode => {
  const { clock, log } = environment
  const me = record.id
  /** Partitions whose messages are being let go of. */
  const stopping = new Map<number, Promise<void>>()
  const within =
    (partition: number) =>
    (address: Address): boolean =>
      partitionOf(address) === partition
  /** What stands in the registry after the attempt; who is gone counts as nobody. */
  const write = (change: (lease: Lease, input: PartitionContext) => Lease | undefined) =>
    fromPromise<Lease, PartitionContext>(async ({ input }) => {
      const { holder, previous } = await membership.write(input.partition, (lease) => change(lease, input))
      return { holder: membership.isAlive(holder) ? holder : null, previous: membership.isAlive(previous) ? previous : null }
    })

  const partition = partitionMachine.provide({
    actors: {
      claim: write((lease) =>
        membership.isAlive(lease.holder)
          ? undefined
          : { holder: me, previous: lease.previous !== me && membership.isAlive(lease.previous) ? lease.previous : null },
      ),
      serve: fromCallback<{ type: string }, PartitionContext>(({ input: { partition: number } }) => {
        let stop: (() => Promise<void>) | undefined
        let over = false
        // It may come back before it has quite gone.
        const begun = (stopping.get(number) ?? Promise.resolve()).then(() => {
          if (over) return
          stop = consume(number)
          host.wakeNow(within(number))
        })
        begun.catch((error: unknown) => log.error({ partition: number, error: errorBody(error) }, 'the messages of a partition are not taken in'))
        return () => {
          over = true
          const stopped = begun
            .then(() => stop?.())
            .catch((error: unknown) => log.warn({ partition: number, error: errorBody(error) }, 'an inbox did not stop in good order'))
          stopping.set(number, stopped)
          void stopped.finally(() => stopping.get(number) === stopped && stopping.delete(number))
        }
      }),
      handOver: write((lease, { wanted }) => (lease.holder === me ? { holder: wanted, previous: me } : undefined)),
      settle: fromPromise(({ input, signal }) => host.vacate(within(input.partition), signal)),
      clear: write((lease) => (lease.previous === me ? { ...lease, previous: null } : undefined)),
      drop: fromPromise(async ({ input }) => host.drop(within(input.partition))),
    },
    actions: { wakeActors: ({ context }) => host.wakeNow(within(context.partition)) },
  })

  let revision = 0
  let draining = false
  const announceNow = async (): Promise<void> => {
    const announced = { ...record, draining }
    // An answer that was lost was a renewal all the same; and while a server stood still, the record may have expired with nobody there to miss us.
    revision = (await membership.announce(announced, revision)) ?? (await membership.announce(announced, await membership.standing(me))) ?? 0
  }
  let announced: Promise<void> = Promise.resolve()
  const announce = (): Promise<void> => {
    announced = announced.then(announceNow, announceNow)
    return announced
  }

  const machine = nodeMachine.provide({
    actors: {
      partition,
      join: fromPromise(announce),
      renew: fromCallback(({ receive }) => {
        let ended = false
        let timer: unknown
        let beats = 0
        const say = () =>
          announce()
            .then(() => (++beats % lookEvery === 0 ? membership.refresh() : undefined))
            .catch((error: unknown) => {
              log.warn({ error: errorBody(error) }, 'this node could not say that it is here')
              // A transport that was closed stays closed.
              ended ||= isRuntimeError(error) && error.code === 'closed'
            })
        const soon = () => {
          timer = clock.setTimeout(() => void say().then(() => ended || soon()), renewMs)
        }
        soon()
        receive(() => {
          draining = true
          void say()
        })
        return () => {
          ended = true
          clock.clearTimeout(timer)
        }
      }),
      finishWork: fromPromise(finishWork),
      leave: fromPromise(() => membership.withdraw(me)),
    },
  })

  const actor = createActor(machine, {
    input: { me, members: membership.members },
    clock: actorClock(clock),
  })
  membership.listen(() => actor.send({ type: 'members', members: membership.members }))
  actor.subscribe({ error: (error) => log.error({ error: errorBody(error) }, 'the node failed') })
  actor.start()

  return {
    actor,
    async drain(timeoutMs) {
      actor.send({ type: 'drain' })
      const until = clock.now() + timeoutMs
      while (actor.getSnapshot().status === 'active' && clock.now() < until) await pause(clock, settleStepMs)
    },
    async stop() {
      actor.stop()
      await Promise.all([...stopping.values(), announced.catch(() => undefined)])
    },
  }
}
