/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */

import { fromTask, fromWork, type Registration, registerMachine } from '../../actors/index.ts'
import { SessionEvent } from '../../contracts/session.ts'
import { streamActor, turnActor } from '../turn/turn.effects.ts'
import type { TurnPlace, TurnWorks } from '../turn/turn.services.ts'
import { sessionMachine } from './session.machine.ts'

export const registerSession = (works: TurnWorks, place: TurnPlace): Registration =>
  registerMachine(
    'session',
    sessionMachine.provide({
      actors: {
        turn: turnActor(works, place),
        summarise: fromWork(works.summarise),
        stream: streamActor(place),
        fork: fromTask(({ input }: { input: { parent: string } }) => place.history(input.parent)),
      },
    }),
    {
      events: SessionEvent,
      noted: ({ type }) => type === 'transcript',
      defaultInput: (key) => ({ key }),
    },
  )
