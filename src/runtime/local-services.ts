/** What turns find on the node of their session. */

import type { LocalServices } from '../machines/index.ts'
import { Lanes } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'

export const localServices = ({ environment, transcripts, files }: SharedParts, lanes: Readonly<Record<string, number>> = {}): LocalServices => ({
  lanes: new Lanes(lanes),
  async fork(parent, session) {
    const messages = await transcripts.read({ kind: 'session', id: parent })
    await files.share(
      session,
      messages.flatMap((message) => (message.role === 'user' ? (message.files ?? []) : [])),
    )
    return messages
  },
  clock: environment.clock,
  log: environment.log,
})
