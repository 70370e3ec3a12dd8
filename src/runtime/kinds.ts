/** Kinds of actors that somebody named, and what to tell who named one that is not here. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Runtime } from './interface.ts'

type Services = Pick<Runtime, 'services'>

/** Why nothing goes by this kind here; undefined when something does. */
const unknownKind = ({ services: { host } }: Services, kind: string): RuntimeError | undefined =>
  host.kinds.includes(kind)
    ? undefined
    : new RuntimeError('not_found', `no machine is registered as '${kind}'`, {
        field: 'kind',
        hint: `register it under machines in statecast.config.ts, or name the app that has it with --app; there are: ${host.kinds.join(', ')}`,
      })

/** @throws RuntimeError not_found, with where a machine is registered */
export const registered = (services: Services, kind: string): void => {
  const unknown = unknownKind(services, kind)
  if (unknown) throw unknown
}

/** Where those are listed that there are. */
export const whereToLook = (services: Services, kind: string): string => {
  if (kind === 'session') return 'see `statecast sessions`'
  const unknown = unknownKind(services, kind)
  return unknown ? `${unknown.message}: ${unknown.hint}` : `see \`statecast actors --kind ${kind} --all\``
}
