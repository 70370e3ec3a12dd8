/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */

import { fromTask, fromWork, type Registration, registerMachine } from '../../actors/index.ts'
import { SessionEvent } from '../../contracts/session.ts'
import type { Publisher } from '../turn/publisher.setup.ts'
import { turnActor } from '../turn/turn.effects.ts'
import type { TurnPlace, TurnWorks } from '../turn/turn.services.ts'
import { sessionMachine } from './session.machine.ts'

/** @property publisher stands behind each turn @property saying brings what a session itself says to users */
type Extension = { publisher?: Publisher; saying?: NonNullable<NonNullable<Parameters<typeof sessionMachine.provide>[0]['actors']>['stream']> }

export const registerSession = (works: TurnWorks, place: TurnPlace, { publisher, saying }: Extension = {}): Registration =>
  registerMachine(
    'session',
    sessionMachine.provide({
      actors: {
        turn: turnActor(works, place, publisher),
        summarise: fromWork(works.summarise),
        ...(saying ? { stream: saying } : {}),
        fork: fromTask(({ input }: { input: { parent: string } }) => place.history(input.parent)),
      },
    }),
    {
      events: SessionEvent,
      noted: ({ type }) => type === 'transcript',
      defaultInput: (key) => ({ key }),
    },
  )
