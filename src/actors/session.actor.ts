/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */
import { SessionEvent } from '../contracts/session.ts'
import { sessionMachine } from '../machines/session.machine.ts'
import { type Registration, registerMachine } from './registration.ts'
import { summariseTask, type TurnServices, turnActor } from './turn.actor.ts'

export const registerSession = (services: TurnServices): Registration =>
  registerMachine('session', sessionMachine.provide({ actors: { turn: turnActor(services), summarise: summariseTask(services) } }), {
    events: SessionEvent,
    noted: ({ type }) => type === 'transcript',
    defaultInput: (key) => ({ key }),
  })
