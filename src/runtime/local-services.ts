/** What turns find on the node of their session. */

import type { TurnPlace } from '../machines/index.ts'
import { Lanes } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'

export const turnPlace = ({ environment, transcripts }: SharedParts, lanes: Readonly<Record<string, number>> = {}): TurnPlace => ({
  lanes: new Lanes(lanes),
  history: (session) => transcripts.read({ kind: 'session', id: session }),
  clock: environment.clock,
  log: environment.log,
})
