/** Who hears of the runs of an executable, as its definition says. */
import { LadderError } from './errors.ts'
import { anything, handlers, text } from './given.ts'
import type { Handlers } from './listeners.ts'
import { isObserve, type Observe } from './observers.ts'

export type Heard = {
  /** Hears events of all its runs, by their type or `*`, before any other handler. */
  on?: Handlers
  /** Who gets the report of a run that has ended. Default: whom `setLadderObservers` has set. */
  observe?: Observe
}

/** What all executables say of themselves. Who is told is looked at by {@link checkHeard}, and what a name has to be by each of them. */
export const commonKinds = { on: anything, observe: anything, name: anything, version: text, description: text }

/** @throws LadderError LADDER_CONFIG */
export const checkHeard = (on: unknown, observe: unknown): void => {
  if (on !== undefined && !handlers.is(on))
    throw new LadderError('LADDER_CONFIG', 'on has what is no handler', { hint: "write on: { 'agent.completed': ({ runId }) => … }" })
  if (observe !== undefined && !isObserve(observe))
    throw new LadderError('LADDER_CONFIG', 'observe is nobody that can be told', { hint: 'write true, false, or one observer: (report) => …' })
}
