/** Commands that extensions bring: every door of a node serves them beside its own. */
import { z } from 'zod'
import type { Access } from '../contracts/access.ts'
import { isCommand } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type GatewayScope, gatewayScopes } from '../contracts/gateway.ts'
import { callable, knownOnly } from './extension-schemas.ts'
import type { Runtime } from './interface.ts'

/** @property access on whose behalf; none: somebody who may do everything */
export type CommandBy = { runtime: Runtime; access?: Access | undefined }

export type ExtensionCommand<Input extends z.ZodType = z.ZodType> = {
  /** What it takes, an object; what it says of itself by `describe()` stands in lists of commands. */
  input: Input
  /** What a token needs for it. One of some sessions does not reach it. All but `read` count as work, which a node that shuts down refuses. */
  scope: GatewayScope
  /** @returns plain JSON @throws RuntimeError, told to whoever asked; anything else is told as an internal fault */
  run(input: z.output<Input>, by: CommandBy): unknown
}

/** A command of an extension, with the type of its input. */
export const command = <Input extends z.ZodType>(definition: ExtensionCommand<Input>): ExtensionCommand => definition

export const CommandShape = knownOnly({
  input: z.custom((value) => value instanceof z.ZodType, 'must be a zod schema'),
  scope: z.enum(gatewayScopes),
  run: callable,
})

const commandName = /^[a-z][a-z0-9]{0,31}(?:\.[a-z][a-zA-Z0-9]{0,31}){1,3}$/

/** @throws RuntimeError bad_request, conflict with a command of the node */
export const checkCommandName = (extension: string, name: string): void => {
  if (!commandName.test(name))
    throw new RuntimeError('bad_request', `the extension '${extension}' brings a command named '${name.slice(0, 80)}'`, {
      field: 'extensions',
      hint: 'name it like ladder.execute: words of letters and digits, with dots between them',
    })
  if (isCommand(name))
    throw new RuntimeError('conflict', `the extension '${extension}' brings the command '${name}', which each node has`, {
      field: 'extensions',
      hint: 'choose another name',
    })
}
