/** What turns find on the node of their session. */

import type { LocalServices } from '../machines/index.ts'
import { Lanes } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'

export const localServices = ({ environment, transcripts }: SharedParts, lanes: Readonly<Record<string, number>> = {}): LocalServices => ({
  lanes: new Lanes(lanes),
  history: (session) => transcripts.read({ kind: 'session', id: session }),
  clock: environment.clock,
  log: environment.log,
})
