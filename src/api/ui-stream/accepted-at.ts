/** Finds the commit that accepted a message, from the end of the journal: whoever resumes asks for what has just begun. */
import type { Runtime, Session, SessionView, TracePage } from '../../runtime/index.ts'
import { acceptanceIn } from './trace.rules.ts'

/** Commits that are looked through first; each time twice as many. */
const firstBack = 64

/** @returns the first commit, where the journal has no such message */
export const acceptedAt = async (runtime: Runtime, { key }: Session, id: string): Promise<number> => {
  const { seq: last } = await runtime.command<SessionView>('sessions.get', { sessionKey: key })
  let behind = last + 1
  for (let back = firstBack; behind > 1; back *= 2) {
    const start = Math.max(1, behind - back)
    for (let from: number | null = start; from !== null && from < behind; ) {
      const page: TracePage = await runtime.command<TracePage>('trace.read', { id: key, from })
      const found = acceptanceIn(page.entries, id)
      if (found !== undefined) return found
      from = page.next
    }
    behind = start
  }
  return 1
}
