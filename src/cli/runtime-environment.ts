/** What a runtime or a client of a command takes from the surroundings of that command. */
import type { Environment, Logger } from '../contracts/environment.ts'
import { stderrLogger } from '../runtime/index.ts'
import { hasOwnProcess, streams, surroundings } from './surroundings.ts'

/** @param level where STATECAST_LOG names none @throws RuntimeError bad_request */
export const commandLogger = (level = 'warn'): Logger =>
  stderrLogger(surroundings().env.STATECAST_LOG || level, hasOwnProcess() ? undefined : streams().stderr)

export const commandEnvironment = (log: Logger = commandLogger()): Pick<Environment, 'log'> & Partial<Environment> => {
  const { env } = surroundings()
  return { log, variables: env, folder: surroundings().cwd() }
}
