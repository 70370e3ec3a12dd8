/** An actor with a journal of its own, on whatever node it lives, as a child of a machine. */
import type { AnyActorLogic, PromiseActorLogic } from 'xstate'
import { RuntimeError } from '../../contracts/errors.ts'
import { type Address, checkKind, formatAddress } from '../../contracts/subjects.ts'
import { plainCopy } from '../journal/journal-value.ts'
import { type ActorDirectory, effect, fromTask } from './effect.ts'
import { patientDirectory } from './patient-directory.ts'

/** @property id which actor of the kind; by default one that belongs to this child alone @property input for its creation */
export type RemoteInput = { id?: string; input?: unknown }

const kinds = new WeakMap<AnyActorLogic, string>()
/** The kind of the actors that this logic stands for, also where it was wrapped; undefined for any other logic. */
export const remoteKindOf = (logic: AnyActorLogic): string | undefined => {
  for (let at: AnyActorLogic | null = logic; at !== null && typeof at === 'object'; at = Object.getPrototypeOf(at) as AnyActorLogic | null) {
    const kind = kinds.get(at)
    if (kind !== undefined) return kind
  }
  return undefined
}

/** How long one wait for its next commit is, in ms; a word that was lost on the way costs that much. */
const lookMs = 2_000

/**
 * Logic for `setup({ actors: { payment: remote('payment') } })`. It creates the actor, or attaches to the one that is there; what it is sent the actor
 * gets, each event once and in order; it is done when the actor is, with its output, and fails when the actor is set aside, or when its whole state does
 * not fit into one message between nodes (`too_large`). After a crash of either side, and when a store that was away is back, it goes on. Leaving the state detaches from the actor, and does not end it.
 */
export const remote = <Output = unknown>(kind: string): PromiseActorLogic<Output, RemoteInput> => {
  checkKind(kind)
  const logic = fromTask<Output, RemoteInput>(async ({ input, self, signal, receive }) => {
    const { key } = effect(self)
    const actors = patientDirectory(self, signal)
    const address: Address = { kind, id: input?.id ?? key }
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => undefined)
    // Copies, in which half a character is replaced: what comes from a machine cannot be refused any more.
    let line = actors.create(address, plainCopy(input?.input))
    let count = 0
    receive((event) => {
      // The same name whenever it is sent again after a crash.
      const id = `${key} ${++count}`
      line = line.then(async () => void (await actors.send(address, plainCopy(event), { id })))
      line.catch(failed.reject)
    })
    await line
    return Promise.race([failed.promise, outcome<Output>(address, actors, signal)])
  })
  kinds.set(logic, kind)
  return logic
}

const outcome = async <Output>(address: Address, actors: ActorDirectory, signal: AbortSignal): Promise<Output> => {
  const name = formatAddress(address)
  for (;;) {
    // Before we look, so that nothing falls in between.
    const next = actors.nextCommit(address, lookMs)
    // Nobody waits for it any more where what comes in between throws.
    next.catch(() => undefined)
    const { quarantine, snapshot } = await actors.read(address)
    if (quarantine) throw new RuntimeError('quarantined', `${name} was quarantined: ${quarantine.message}`, { data: { reason: quarantine } })
    if (snapshot?.status === 'done') return snapshot.output as Output
    if (snapshot?.status === 'error' || snapshot?.status === 'stopped')
      throw new RuntimeError('internal', `${name} ended without an output`, { hint: `see 'statecast trace ${name}'` })
    signal.throwIfAborted()
    await next
  }
}
