/** The files that a message names, made its session's own before the journal names them. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { SessionCommand, SessionEvent } from '../../contracts/session.ts'
import type { FileStore } from './file-store.ts'

/** @throws RuntimeError bad_request for a message with neither a text nor a file */
export const checkSays = (command: SessionCommand): void => {
  if (command.type === 'message' && command.text === '' && !command.files?.length && !command.toolResults?.length)
    throw new RuntimeError('bad_request', 'text must not be empty', { field: 'text', hint: 'say something, or send a file' })
}

/** Durable when it resolves; what names none passes as it is. @throws RuntimeError not_found for one that was never uploaded */
export const namedFiles = (store: FileStore, session: string, event: SessionEvent | Promise<SessionEvent>): SessionEvent | Promise<SessionEvent> => {
  if (event instanceof Promise) return event.then((made) => namedFiles(store, session, made))
  if (event.type !== 'message' || event.files === undefined) return event
  const { files, ...rest } = event
  return files.length === 0 ? rest : store.link(session, files).then((linked) => ({ ...event, files: linked }))
}
