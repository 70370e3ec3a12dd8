/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */
import { SessionEvent } from '../contracts/session.ts'
import { sessionMachine } from '../machines/session.machine.ts'
import { fromTask, fromWork } from './effect.ts'
import { type Registration, registerMachine } from './registration.ts'
import { streamActor, type TurnPlace, turnActor } from './turn.actor.ts'
import type { TurnWorks } from './turn-works.ts'

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
