/** The contract of a system that stands on top of sessions and actors, and is brought along by `createRuntime({ extensions })`. */
import type { Registration } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { registerSession } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'
import type { Receive } from './receive.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import type { Session } from './session.ts'

/** What an extension finds before any actor is there. */
export type ExtensionParts = SharedParts & {
  /** Folder that its files are in. */
  workspace: string
  session(key: string, which?: { agent?: string }): Session
}

/** What stands in front of the turns of a session, and behind them. */
export type SessionSockets = NonNullable<Parameters<typeof registerSession>[2]> & {
  /** Makes the event of a message; without one, a message comes from code and has no origin. */
  receive?: Receive
}

/** One is of one runtime at a time: it is bound to the parts of the runtime that starts it. */
export type Extension = {
  /** One word, for errors and the log. */
  readonly name: string
  /** Machines that it brings, by the kind of their actors. */
  machines?: Readonly<Record<string, (parts: ExtensionParts) => Registration>>
  /** One extension at most has sockets of the session. */
  session?(parts: ExtensionParts): SessionSockets
  /** Begins its own work when actors run, on a node that takes up work. @returns the stopper, called before the actors are closed */
  start?(parts: RuntimeParts): Promise<() => void | Promise<void>>
}

/** @throws RuntimeError bad_request, conflict */
export const checkExtensions = (extensions: readonly Extension[]): readonly Extension[] => {
  const seen = { names: new Set<string>(), kinds: new Set<string>() }
  const once = (set: Set<string>, value: string, what: string): void => {
    if (set.has(value))
      throw new RuntimeError('conflict', `two extensions ${what} '${value}'`, { field: 'extensions', hint: 'leave one of them out' })
    set.add(value)
  }
  for (const { name, machines = {} } of extensions) {
    once(seen.names, name, 'are named')
    for (const kind of Object.keys(machines)) once(seen.kinds, kind, 'bring actors of the kind')
  }
  const sockets = extensions.filter(({ session }) => session !== undefined)
  if (sockets.length > 1)
    throw new RuntimeError('conflict', `${sockets.map(({ name }) => name).join(' and ')} both stand in front of sessions`, {
      field: 'extensions',
      hint: 'leave one of them out',
    })
  return extensions
}
