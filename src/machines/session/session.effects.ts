/** The session as a kind of root: its machine with all its effects, its event schema, and what its journal notes. */

import type { AnyActorLogic } from 'xstate'
import type { z } from 'zod'
import { fromTask, fromWork, type Registration, registerMachine } from '../../actors/index.ts'
import { SessionEvent, sessionEvent } from '../../contracts/session.ts'
import type { Publisher } from '../turn/publisher.setup.ts'
import { turnActor } from '../turn/turn.effects.ts'
import type { TurnPlace, TurnWorks } from '../turn/turn.services.ts'
import { hasDeskSettings } from './record.rules.ts'
import { sessionMachine } from './session.machine.ts'

/**
 * Who stands in front of a session and says what becomes of a message: it hears `DeskRequest` and tells its parent `DeskAnswer`.
 * @property annotations what a message carries for it
 */
export type Desk = { logic: AnyActorLogic; annotations: z.ZodType<Record<string, unknown>> }

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

/** It looks at what has something for it, and from then on at each message. What has nothing passes it by. */
export const withDesk = (machine: typeof sessionMachine, { logic }: Pick<Desk, 'logic'>): typeof sessionMachine =>
  machine.provide({
    actors: { desk: logic as never },
    guards: {
      isForDesk: ({ context, event }) =>
        context.desk || (event.type === 'message' && event.annotations !== undefined) || hasDeskSettings(context.record),
    },
  })
