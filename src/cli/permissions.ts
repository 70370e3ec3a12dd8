/** `statecast permissions`: users for the configuration of nats-server, each with what its role needs and no more. */
import { subjects } from '../contracts/subjects.ts'
import { inboxPrefixOf, permissionsOf, type Role, roles, serverConfig } from '../transport/nats/permissions.ts'
import type { Globals } from './connect.ts'
import { exitCodes, print, printJson } from './output.ts'

export type PermissionsOptions = Globals & { role?: Role; prefix: string }

/** @throws RuntimeError bad_request for what is no prefix */
export const permissions = async ({ role, prefix, json = false }: PermissionsOptions): Promise<number> => {
  // Checks it: it is written into a file of somebody else.
  subjects(prefix)
  const which = role === undefined ? roles : [role]
  if (json) for (const one of which) printJson({ role: one, inboxPrefix: inboxPrefixOf(one), ...permissionsOf(one, prefix) })
  else {
    print(`# Set ${which.map((one) => `STATECAST_${one.toUpperCase()}_PASSWORD`).join(', ')} in the environment of nats-server.`)
    print(`# Connect with ${which.map((one) => `nats://${one}:<password>@host:4222?inbox_prefix=${inboxPrefixOf(one)}`).join(', ')}.`)
    print(serverConfig(which, prefix).trimEnd())
  }
  return exitCodes.fine
}
