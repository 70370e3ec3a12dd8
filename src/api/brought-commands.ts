/** Commands that extensions bring, carried out as those of the node are. */
import type { Access } from '../contracts/access.ts'
import { isCommand } from '../contracts/commands.ts'
import type { GatewayScope } from '../contracts/gateway.ts'
import { parseInput } from '../contracts/parse.ts'
import type { RuntimeParts } from '../runtime/index.ts'
import { requireWhole } from './access.ts'
import { requireScope, scopeOf } from './scopes.ts'

/** By name, in the order of the extensions. */
export const broughtCommands = ({ extensions }: Pick<RuntimeParts, 'extensions'>) => extensions.commands()

/** What a token needs for a command, whoever brings it. */
export const neededScope = (parts: Pick<RuntimeParts, 'extensions'>, name: string): GatewayScope | undefined => {
  if (isCommand(name)) return scopeOf(name)
  const brought = broughtCommands(parts)
  return Object.hasOwn(brought, name) ? brought[name]?.scope : undefined
}

/** @returns what carries it out; undefined where no extension brings one of that name */
export const broughtCommand = (parts: RuntimeParts, name: string) => {
  const commands = broughtCommands(parts)
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!found) return undefined
  const { input: schema, scope, run } = found
  /** @throws RuntimeError forbidden, bad_request, closed, and what the command throws */
  return async (input: unknown, access: Access | undefined): Promise<unknown> => {
    // As with those of the node: who may not is not told what else is wrong.
    if (access) requireScope(access.scopes, scope, name)
    requireWhole(access, name)
    const read = parseInput(schema, input)
    if (scope !== 'read') parts.admit()
    return await run(read, { runtime: parts.runtime, access })
  }
}
