/** Whether a run has ended, and what is made of that. */
import { type ActorSnapshot, isRuntimeError } from '../index.ts'
import type { Report, Result } from './envelope.ts'
import type { LadderError } from './errors.ts'

/** It has ended, or waits to be gone on with. */
export const isSettled = (at: ActorSnapshot): boolean => at.status !== 'active' || at.hasTag('settled')

export const resultOf = <Data>(report: Report, error: LadderError | undefined, data?: Data): Result<Data> => ({
  ...(error && { error }),
  ...((!error || data !== undefined) && { data: data as Data }),
  usage: report.usage,
  report,
})

export const unlessUnknown = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

/** A run that has completed takes no events any more, and still has its result. */
export const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}
