/** Looks after nodes whose word is late: those that were killed need not be waited for until it expires. */
import { type AnyActorRef, createActor, fromPromise } from 'xstate'
import { actorClock, type Environment } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import type { Membership } from './membership.ts'
import { peerMachine } from './peer.machine.ts'

/** ms between two looks at nodes while the word of one is late. */
const lookMs = 100

type PeersParts = {
  membership: Membership
  environment: Pick<Environment, 'clock' | 'log'>
  /** Whether anybody listens where a node does. A node that is only slow to answer is there. */
  listens(node: string): Promise<boolean>
}

/** @returns the stopper */
export const watchPeers = ({ membership, environment: { clock, log }, listens }: PeersParts): (() => void) => {
  const suspicions = new Map<string, AnyActorRef>()
  const machine = peerMachine.provide({ actors: { listens: fromPromise(({ input }) => listens(input.node)) } })
  let timer: unknown

  const suspect = (node: string, revision: number): void => {
    const actor = createActor(machine, {
      input: { node, revision },
      clock: actorClock(clock),
    })
    suspicions.set(node, actor)
    actor.subscribe({
      complete: () => {
        suspicions.delete(node)
        if (actor.getSnapshot().output?.gone)
          membership
            .dismiss(node, revision)
            .catch((error: unknown) => log.warn({ node, error: errorBody(error) }, 'the record of a node that has hung up could not be taken away'))
      },
    })
    actor.start()
  }

  const look = (): void => {
    for (const { node, revision } of membership.late()) if (!suspicions.has(node)) suspect(node, revision)
    timer = undefined
    plan()
  }
  /** A node by itself has nobody to look after, and of others the first word that could be late is the next to look at. */
  const plan = (): void => {
    const { lateInMs } = membership
    if (timer === undefined && lateInMs !== undefined) timer = clock.setTimeout(look, Math.max(lookMs, lateInMs))
  }
  const leave = membership.listen(plan)
  plan()
  return () => {
    leave()
    clock.clearTimeout(timer)
    for (const actor of suspicions.values()) actor.stop()
    suspicions.clear()
  }
}
