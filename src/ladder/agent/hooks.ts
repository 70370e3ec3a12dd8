/** Code of an author that is told what an agent has used, and that it is done. What it throws changes nothing. */
import type { Report } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import type { TripUsage } from './agent.context.ts'

export type HookOptions = {
  /** Told after each answer of the model. */
  onUsage?: (trip: TripUsage) => unknown
  /** Told once when a run has completed; again where a crash leaves in doubt whether it was. */
  onComplete?: (report: Report) => unknown
}

/** @throws LadderError LADDER_CONFIG for what cannot be told anything */
export const checkedHooks = (agent: string, { onUsage, onComplete }: HookOptions): HookOptions => {
  for (const [name, hook] of Object.entries({ onUsage, onComplete }))
    if (hook !== undefined && typeof hook !== 'function')
      throw new LadderError('LADDER_CONFIG', `${name} of '${agent}' is no function`, { hint: `write ${name}: (told) => …`, context: { agent } })
  return { ...(onUsage && { onUsage }), ...(onComplete && { onComplete }) }
}
