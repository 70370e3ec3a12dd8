/** How the command line follows a run: hints name commands on the same data, and an outage is told to the person who watches. */
import type { FollowOptions } from '../client/index.ts'
import { errorBody } from '../contracts/errors.ts'
import { hintCommand, type Place } from './hint.ts'
import { dim, note, printable } from './output.ts'

export const followedFrom = (place: Place): FollowOptions => ({
  commandLine: (command, sessionKey) => hintCommand(place, command, sessionKey),
  onOutage: (error) => note(dim(`  (no node can be asked: ${printable(errorBody(error).message)}; the turn continues, and is asked for again)`)),
})
