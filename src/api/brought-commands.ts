/** Commands that extensions bring, carried out as those of the node are. */
import type { Access } from '../contracts/access.ts'
import { parseInput } from '../contracts/parse.ts'
import type { RuntimeParts } from '../runtime/index.ts'
import { requireWhole } from './access.ts'
import { requireScope } from './scopes.ts'

/** By name, in the order of the extensions. */
export const broughtCommands = ({ extensions }: Pick<RuntimeParts, 'extensions'>) => extensions.commands()

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
