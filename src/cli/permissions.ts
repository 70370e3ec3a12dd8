/** `statecast permissions`: users for the configuration of nats-server, each with what its role needs and no more. */
import { RuntimeError } from '../contracts/errors.ts'
import { subjects } from '../contracts/subjects.ts'
import { inboxPrefixOf, nameOf, passwordOf, permissionsOf, type Role, roles, serverConfig, type User } from '../transport/nats/index.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printJson } from './output.ts'

type PermissionsOptions = Globals & { role?: Role; service?: string[]; prefix: string }

/** @throws RuntimeError bad_request: no prefix, a tool without its service, two services whose passwords would have one name */
export const permissions = async ({ role, service = [], prefix, json = false }: PermissionsOptions): Promise<number> => {
  // Checks it: it is written into a file of somebody else.
  subjects(prefix)
  const which = usersOf(role, service)
  if (json) for (const user of which) printJson({ ...aboutUser(user), inboxPrefix: inboxPrefixOf(user), ...permissionsOf(user, prefix) })
  else {
    const config = serverConfig(which, prefix).trimEnd()
    print(`# Set ${which.map(passwordOf).join(', ')} in the environment of nats-server.`)
    print(`# Connect with ${which.map((user) => `nats://${nameOf(user)}:<password>@host:4222?inbox_prefix=${inboxPrefixOf(user)}`).join(', ')}.`)
    print(config)
    if (role === undefined && service.length === 0) note('each service with tools has a user of its own: add --service NAME for each of them')
  }
  return exitCodes.fine
}

const aboutUser = (user: User): object => (typeof user === 'string' ? { role: user } : { role: 'tool', ...user })

const usersOf = (role: Role | undefined, service: readonly string[]): User[] => {
  const tools = [...new Set(service)].map((one) => ({ service: one }))
  if (role === 'tool' && tools.length === 0)
    throw new RuntimeError('bad_request', 'a user is for the tools of one service: which one?', {
      field: 'service',
      hint: 'name it as its tools are announced: statecast permissions --role tool --service weather',
    })
  if (role !== undefined && role !== 'tool' && tools.length > 0)
    throw new RuntimeError('bad_request', `--service names a service with tools, and --role ${role} is none`, {
      field: 'service',
      hint: 'leave --role away for all users, or say --role tool',
    })
  if (new Set(tools.map(passwordOf)).size < tools.length)
    throw new RuntimeError('bad_request', 'two of these services would have their password under one name', {
      field: 'service',
      hint: 'give the services names that differ in more than case, or - and _',
    })
  const others = role === undefined ? roles.filter((one) => one !== 'tool') : role === 'tool' ? [] : [role]
  return [...others, ...tools]
}
