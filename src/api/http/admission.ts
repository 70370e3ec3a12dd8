/** What a node that shuts down still does: it ends the work that it has, and begins none. */
import type { CommandName } from '../../contracts/commands.ts'
import { RuntimeError } from '../../contracts/errors.ts'

/** What begins work; a node that drains refuses it and still answers about the work it has. */
const beginsWork: ReadonlySet<CommandName> = new Set<CommandName>([
  'chat.send',
  'chat.inject',
  'files.put',
  'tools.result',
  'actors.send',
  'actors.revive',
  'actors.delete',
  'sessions.reset',
  'sessions.compact',
  'sessions.delete',
])

/** Also what parts of a node say of themselves that has been closed: who asked has neither opened them nor could. */
export const shuttingDown = (cause?: unknown): RuntimeError =>
  new RuntimeError('closed', 'this node is shutting down', { cause, retryable: true, hint: 'send it again when the node is back' })

/** @returns refuses a command that begins work, and where none is named any work. @throws RuntimeError closed, retryable */
export const admission =
  (draining: AbortSignal) =>
  (command?: CommandName): void => {
    if (draining.aborted && (command === undefined || beginsWork.has(command))) throw shuttingDown()
  }
