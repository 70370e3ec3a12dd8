/** What turns find on the node of their session: its channels, what the session says live, its lanes. */

import { formatAddress } from '../contracts/subjects.ts'
import type { TurnPlace } from '../machines/index.ts'
import { Lanes } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'

export const turnPlace = ({ channels, outputs, environment, transcripts }: SharedParts, lanes: Readonly<Record<string, number>> = {}): TurnPlace => ({
  lanes: new Lanes(lanes),
  history: (session) => transcripts.read({ kind: 'session', id: session }),
  deliver: {
    channel: (id) => channels.get(id),
    // A turn lives where its session does: what the bus says of it is hearsay.
    hear: (session, listener) => outputs.listenHere(formatAddress({ kind: 'session', id: session }), ({ event }) => listener(event)),
    clock: environment.clock,
    random: () => environment.random.next(),
    log: environment.log,
  },
})
