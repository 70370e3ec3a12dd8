/** How the command line follows a run: hints name commands on the same data, and an outage is told to the person who watches. */
import type { Client, FollowOptions } from '../client/index.ts'
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import type { SessionView } from '../runtime/index.ts'
import { hintCommand, type Place } from './hint.ts'
import { dim, note, printable } from './output.ts'

export const followedFrom = (place: Place): FollowOptions => ({
  commandLine: (command, sessionKey) => hintCommand(place, command, sessionKey),
  onOutage: (error) => note(dim(`  (no node can be asked: ${printable(errorBody(error).message)}; the turn continues, and is asked for again)`)),
})

/**
 * Resumes the work that a killed process left in a conversation. A process that a command started resumes nothing by itself, and may serve this command too.
 * A node that resumes on its own is asked in vain, at no cost.
 * @returns the run in flight, for which the caller may wait
 */
export const resumeSession = async (client: Client, sessionKey: string, { run, queued, asides = [] }: SessionView): Promise<string | undefined> => {
  const [runId] = [...(run ? [run.runId] : []), ...queued, ...asides]
  if (runId === undefined) return undefined
  // Waiting for a run wakes its session; the wait itself may end at once.
  await client.command('agent.wait', { sessionKey, runId, timeoutMs: 0 }).catch((error: unknown) => {
    if (!isRuntimeError(error) || (error.code !== 'timeout' && error.code !== 'not_found')) throw error
  })
  return runId
}

/** A session as its journal leaves it; undefined before its first message. */
export const sessionOf = (client: Client, sessionKey: string): Promise<SessionView | undefined> =>
  client.command<SessionView>('sessions.get', { sessionKey }).catch((error: unknown) => {
    if (isRuntimeError(error) && error.code === 'not_found') return undefined
    throw error
  })
