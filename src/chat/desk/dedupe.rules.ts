/** Whether what comes in is new. */
import type { Origin } from '../../contracts/reply.ts'

/** Messages that were taken, the oldest first. */
export type Seen = { key: string; at: number }[]

const seenMs = 20 * 60_000
const seenMax = 5000

/** What tells a message from every other; undefined where its channel gave it no id, so that nobody can know. */
export const dedupeKey = ({ channel, account, to, thread, messageId }: Origin, session: string): string | undefined =>
  // Written as a list, so that no two of them can look alike whatever the names hold.
  messageId === undefined ? undefined : JSON.stringify([channel, account ?? null, session, to, thread ?? null, messageId])

/** Notes a message. One that comes again keeps its first time, so that it is forgotten 20 minutes after that. @param now ms since the epoch */
export const remember = (seen: Readonly<Seen>, key: string | undefined, now: number): { seen: Seen; duplicate: boolean } => {
  const kept = seen.filter(({ at }) => now - at < seenMs)
  if (key === undefined) return { seen: kept.slice(-seenMax), duplicate: false }
  const duplicate = kept.some((message) => message.key === key)
  return { seen: (duplicate ? kept : [...kept, { key, at: now }]).slice(-seenMax), duplicate }
}
