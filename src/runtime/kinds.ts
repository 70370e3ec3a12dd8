/** Kinds of actors that somebody named, and what to tell who named one that is not here. */
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Runtime } from '../runtime.ts'

type Services = Pick<Runtime, 'services'>

/** @throws RuntimeError not_found, with where a machine is registered */
export const registered = ({ services: { host } }: Services, kind: string): void => {
  try {
    host.registration(kind)
  } catch (cause) {
    if (!isRuntimeError(cause) || cause.code !== 'not_found') throw cause
    throw new RuntimeError('not_found', cause.message, {
      field: 'kind',
      hint: `register it under machines in statecast.config.ts, or name the app that has it with --app; ${cause.hint ?? ''}`,
      cause,
    })
  }
}

/** Where those are listed that there are. */
export const whereToLook = (services: Services, kind: string): string => {
  if (kind === 'session') return 'see `statecast sessions`'
  try {
    registered(services, kind)
    return `see \`statecast actors --kind ${kind} --all\``
  } catch (error) {
    return isRuntimeError(error) ? `${error.message}: ${error.hint}` : ''
  }
}
