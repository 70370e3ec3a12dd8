/** The files that a message names, made its session's own before the journal names them. */
import type { SessionEvent } from '../../contracts/session.ts'
import type { FileStore } from './file-store.ts'

/** Durable when it resolves; what names none passes as it is. @throws RuntimeError not_found for one that was never uploaded */
export const namedFiles = (store: FileStore, session: string, event: SessionEvent | Promise<SessionEvent>): SessionEvent | Promise<SessionEvent> => {
  if (event instanceof Promise) return event.then((made) => namedFiles(store, session, made))
  if (event.type !== 'message' || event.files === undefined) return event
  const { files, ...rest } = event
  return files.length === 0 ? rest : store.link(session, files).then((linked) => ({ ...event, files: linked }))
}
