/** Runs of a session, stopped and waited for. */
import { isRuntimeError } from '../contracts/errors.ts'
import type { Outcome, Session } from '../runtime/index.ts'

/** A call over a wire is given up by most callers after half a minute; whoever has longer says so. */
const defaultWaitMs = 30_000

/** Stops the run that goes on and all that waits, or one of them. */
export const abortRuns = async (session: Session, runId: string | undefined): Promise<{ aborted: boolean; runIds: string[]; seq?: number }> => {
  const { run, queued, asides = [] } = await session.view()
  const all = [...(run ? [run.runId] : []), ...queued, ...asides]
  try {
    const { seq } = await session.cancel(runId)
    return { aborted: true, runIds: runId === undefined ? all : [runId], seq }
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return { aborted: false, runIds: [] }
    throw error
  }
}

/** How a turn failed is an outcome too; only what kept us from learning it is an error. @param timeoutMs default 30,000 @throws RuntimeError not_found, timeout */
export const waitForRun = async (session: Session, runId: string, timeoutMs = defaultWaitMs): Promise<Outcome> => {
  try {
    return withoutType(await session.wait(runId, timeoutMs))
  } catch (error) {
    return await failedOutcome(session, runId, error)
  }
}

/** Heard as it happens an outcome is an event; asked for later it is not. One answer has one shape. */
const withoutType = (outcome: Outcome & { type?: unknown }): Outcome => {
  const { type: _, ...rest } = outcome
  return rest
}

const failedOutcome = async (session: Session, runId: string, error: unknown): Promise<Outcome> => {
  if (!isRuntimeError(error) || error.code === 'not_found' || error.code === 'timeout') throw error
  try {
    return await session.outcome(runId)
  } catch {
    throw error
  }
}
