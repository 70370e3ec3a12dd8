/** Kinds of actors that somebody named, and what to tell who named one that is not here. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Parts } from './parts.ts'

type Kinds = Pick<Parts, 'host'>

/** Why nothing goes by this kind here; undefined when something does. */
const unknownKind = ({ host }: Kinds, kind: string): RuntimeError | undefined =>
  host.kinds.includes(kind)
    ? undefined
    : new RuntimeError('not_found', `no machine is registered as '${kind}'`, {
        field: 'kind',
        hint: `register it under machines in statecast.config.ts, or name the app that has it with --app; there are: ${host.kinds.join(', ')}`,
      })

/** @throws RuntimeError not_found, with where a machine is registered */
export const registered = (parts: Kinds, kind: string): void => {
  const unknown = unknownKind(parts, kind)
  if (unknown) throw unknown
}

/** Where those are listed that there are. */
export const whereToLook = (parts: Kinds, kind: string): string => {
  if (kind === 'session') return 'see `statecast sessions`'
  const unknown = unknownKind(parts, kind)
  return unknown ? `${unknown.message}: ${unknown.hint}` : `see \`statecast actors --kind ${kind} --all\``
}
