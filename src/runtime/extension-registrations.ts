/** What extensions bring to the runtime before any actor is there: machines, and what stands in front of sessions and behind their turns. */
import { z } from 'zod'
import type { Registration } from '../actors/index.ts'
import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import type { Extension, ExtensionParts, SessionSockets } from './extension.ts'
import { Sockets } from './extension-schemas.ts'
import type { Reception } from './receive.ts'
import { registerEntry } from './user-machines.ts'

/** How the actors are made that extensions bring. @throws RuntimeError not_durable, bad_request, conflict */
export const registerBrought = (extensions: readonly Extension[], parts: ExtensionParts): Registration[] =>
  extensions.flatMap(({ name, machines = {} }) =>
    Object.entries(machines).map(([kind, given]) => {
      const made = typeof given === 'function' ? asked(name, `the machine '${kind}'`, () => given(parts)) : given
      if (typeof made !== 'object' || made === null || isPromise(made))
        throw new RuntimeError('bad_request', `the extension '${name}' brings no machine as '${kind}'`, {
          field: 'extensions',
          hint: 'give the result of createMachine(), { machine, … }, or a function that returns one of them at once',
        })
      if ('kind' in made && made.kind !== kind)
        throw new RuntimeError('conflict', `what the extension '${name}' brings as '${kind}' is of the kind '${String(made.kind).slice(0, 80)}'`, {
          field: 'extensions',
          hint: 'bring it under its own kind, or leave the kind out',
        })
      return isRegistration(made) ? made : registerEntry(kind, made)
    }),
  )

/** What stands in front of sessions and behind their turns. @throws RuntimeError bad_request */
export const socketsOf = (extensions: readonly Extension[], parts: ExtensionParts): SessionSockets & Pick<Reception, 'receiveFailed'> => {
  const extension = extensions.find(({ session }) => session !== undefined)
  if (extension === undefined) return {}
  const { name } = extension
  const sockets = asked(name, 'its sockets of the session', () => extension.session?.(parts)) as SessionSockets
  if (isPromise(sockets))
    throw new RuntimeError('bad_request', `session() of the extension '${name}' gives a promise`, {
      field: `extensions.${name}.session`,
      hint: 'let it return { desk, publisher, receive, shown, understanding, references } at once; what takes time belongs into start()',
    })
  const schema = z.object({ extensions: z.object({ [name]: z.object({ session: Sockets }) }) })
  parseInput(
    schema,
    { extensions: { [name]: { session: sockets } } },
    'session() returns { desk, publisher, receive, shown, understanding, references }: see docs/guides/app.md',
  )
  const { desk, publisher, receive, shown, understanding, references } = sockets
  return {
    ...(desk && { desk }),
    ...(publisher && { publisher }),
    ...(shown && { shown }),
    ...(understanding && { understanding }),
    ...(references && { references }),
    ...(receive && { receive: receive.bind(sockets), receiveFailed: receiveFailed(name, parts.environment.log) }),
  }
}

/** What the sender of a message is told where the code of an extension fails. */
const receiveFailed =
  (name: string, log: Logger) =>
  (error: unknown): never => {
    if (isRuntimeError(error)) throw error
    log.error({ extension: name, error: errorBody(error) }, 'an extension failed to receive a message')
    throw new RuntimeError('internal', `the extension '${name}' failed to receive the message: ${messageOf(error)}`, {
      hint: `mend receive() of the extension '${name}', and send the message again`,
      cause: error,
    })
  }

const asked = <Answer>(name: string, what: string, ask: () => Answer): Answer => {
  try {
    return ask()
  } catch (error) {
    if (isRuntimeError(error)) throw error
    throw new RuntimeError('bad_request', `the extension '${name}' did not give ${what}: ${messageOf(error)}`, {
      field: 'extensions',
      hint: 'mend what it says, or leave the extension out',
      cause: error,
    })
  }
}

/** One that is refused rejects unheard. */
const isPromise = (value: unknown): boolean => {
  if (!(value instanceof Promise)) return false
  value.catch(() => undefined)
  return true
}

const isRegistration = (made: object): made is Registration => 'kind' in made && 'gated' in made && 'signature' in made
