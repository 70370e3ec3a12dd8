/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */

import { fromTask, placeable, type Registration, registerMachine } from '../../actors/index.ts'
import { SessionEvent, sessionEventSchema } from '../../contracts/session.ts'
import { sideMachine } from '../side/side.machine.ts'
import { contentsOf } from '../transcript/fold.rules.ts'
import type { Publisher } from '../turn/publisher.setup.ts'
import { turnActor } from '../turn/turn.actor.ts'
import type { LocalServices, TurnEffects } from '../turn/turn.services.ts'
import { checkChangedResult } from './changed-result.rules.ts'
import type { Desk } from './desk.setup.ts'
import { renamedSession } from './renamed.rules.ts'
import { isDeleted } from './session.context.ts'
import { sessionMachine, withDesk } from './session.machine.ts'

/** @property desk stands in front of the session @property publisher behind each of its turns */
type Extension = { desk?: Desk; publisher?: Publisher }

const driftHint =
  'where an extension that stands in front of conversations, such as chat() of statecast/chat, was added or left out since then, give createRuntime the extensions that it had'

export const registerSession = (effects: TurnEffects, services: LocalServices, { desk, publisher }: Extension = {}): Registration => {
  const machine = sessionMachine.provide({
    actors: {
      turn: turnActor(effects, services, publisher),
      summarise: placeable(effects.summarise),
      side: sideMachine.provide({ actors: { ask: placeable(effects.askAside) } }),
      fork: fromTask(({ input }: { input: { parent: string; session: string } }) => services.fork(input.parent, input.session)),
    },
  })
  const registration = registerMachine('session', desk ? withDesk(machine, desk) : machine, {
    events: desk ? sessionEventSchema(desk.annotations) : SessionEvent,
    noted: ({ type }) => type === 'transcript',
    defaultInput: (key) => ({ key }),
  })
  return {
    ...registration,
    driftHint,
    renamed: renamedSession,
    checkResult: checkChangedResult,
    isDeleted,
    reads: { besides: askedBesides, contents: contentsOf },
  }
}

/** Effects that read the conversation say up to where. When a model was called before decides about its cache, and not what it is asked. */
export const askedBesides = (input: unknown): unknown => {
  const { upTo, lastCallAt: _, ...besides } = (input ?? {}) as { upTo?: unknown; lastCallAt?: unknown }
  return typeof upTo === 'number' ? besides : undefined
}
