/** Other actors, for an effect that waits for them as long as it takes. */
import type { AnyActorRef } from 'xstate'
import { pause } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import { type ActorDirectory, othersOf } from './effect.ts'

const againMs = 500

/** A store that is away, or an actor that moves. What ends with this process goes on in another one. */
const isForNow = (error: unknown): boolean => isRuntimeError(error) && error.retryable && error.code !== 'closed'

/**
 * What is refused for the moment is asked again until `signal` aborts: an actor that is there is not created again, an event is taken once under its name.
 * @throws RuntimeError unsupported outside of a runtime
 */
export const patientDirectory = (self: AnyActorRef, signal: AbortSignal): ActorDirectory => {
  const { directory, clock } = othersOf(self)
  const patiently = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    for (;;)
      try {
        return await ask()
      } catch (error) {
        if (signal.aborted || !isForNow(error)) throw error
        await pause(clock, againMs)
      }
  }
  return {
    create: (...given) => patiently(() => directory.create(...given)),
    send: (...given) => patiently(() => directory.send(...given)),
    read: (...given) => patiently(() => directory.read(...given)),
    nextCommit: (...given) => patiently(() => directory.nextCommit(...given)),
  }
}
