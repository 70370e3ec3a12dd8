/** When a root wants to be woken though nobody writes to it. */
import type { Commit } from '../../contracts/journal.ts'
import type { Replica } from '../replica/replica.ts'
import type { Output } from '../replica/sink.ts'

/** @param outputs that are still to come @returns ms since the epoch, 0 for at once, null for never */
export const wakeAtOf = ({ effects, timers }: Replica, outputs: readonly Output[], { quarantine, owed }: Partial<Commit>): number | null => {
  if (quarantine) return null
  return effects.size > 0 || owed || outputs.some(({ kind }) => kind === 'action') ? 0 : timers.nextDue()
}
