/** Code of an author that is told what an agent has used, and that it is done. What it throws changes nothing. */
import type { Report } from '../envelope.ts'
import type { TripUsage } from './agent.context.ts'

export type HookOptions = {
  /** Told after each answer of the model. */
  onUsage?: (trip: TripUsage) => unknown
  /** Told once when a run has completed; again where a crash leaves in doubt whether it was. */
  onComplete?: (report: Report) => unknown
}
