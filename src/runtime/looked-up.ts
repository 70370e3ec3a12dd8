/** The event of a command, with what has to be looked up for a message first: the model of a parent, and whether the one that the session wants may still be used. */
import { definedOf } from '../contracts/defined.ts'
import type { SessionCommand, SessionEvent } from '../contracts/session.ts'
import { parentInKey } from '../contracts/session-key.rules.ts'
import type { SessionContext } from '../machines/index.ts'
import type { SessionParts } from './parts.ts'
import { eventOfCommand, type Receiver } from './receive.ts'

/** @param read what the session knows @returns a promise only where something has to be looked up */
export const eventFor = (
  command: SessionCommand,
  by: Receiver,
  parts: SessionParts,
  read: () => Promise<SessionContext | undefined>,
): SessionEvent | Promise<SessionEvent> => {
  if (command.type !== 'message') return eventOfCommand(command, by, parts)
  const { overrides, directory } = parts
  const parent = command.parent ?? parentInKey(by.key)
  if (parent === undefined && overrides.isChecked(by.key)) return eventOfCommand(command, by, parts)
  return (async () => {
    const stale = await overrides.staleIn(by.key, by, read)
    if (stale) await directory.send({ kind: 'session', id: by.key }, { type: 'configure', at: by.now, ...stale }, { mustExist: true })
    const above = parent === undefined ? undefined : await directory.read({ kind: 'session', id: parent })
    const inherited = (above?.snapshot?.context as SessionContext | undefined)?.record.toggles.model
    return eventOfCommand(command, { ...by, ...definedOf({ inherited }) }, parts)
  })()
}
