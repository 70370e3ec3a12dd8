/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */

import { fromTask, fromWork, type Registration, registerMachine } from '../../actors/index.ts'
import { SessionEvent, sessionEvent } from '../../contracts/session.ts'
import type { Publisher } from '../turn/publisher.setup.ts'
import { turnActor } from '../turn/turn.effects.ts'
import type { TurnPlace, TurnWorks } from '../turn/turn.services.ts'
import type { Desk } from './desk.setup.ts'
import { sessionMachine, withDesk } from './session.machine.ts'

/** @property desk stands in front of the session @property publisher behind each of its turns */
type Extension = { desk?: Desk; publisher?: Publisher }

export const registerSession = (works: TurnWorks, place: TurnPlace, { desk, publisher }: Extension = {}): Registration => {
  const machine = sessionMachine.provide({
    actors: {
      turn: turnActor(works, place, publisher),
      summarise: fromWork(works.summarise),
      fork: fromTask(({ input }: { input: { parent: string } }) => place.history(input.parent)),
    },
  })
  return registerMachine('session', desk ? withDesk(machine, desk) : machine, {
    events: desk ? sessionEvent(desk.annotations) : SessionEvent,
    noted: ({ type }) => type === 'transcript',
    defaultInput: (key) => ({ key }),
  })
}
