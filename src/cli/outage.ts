/** Asking on while nobody answers: a turn goes on whether or not those who wait for it can hear of it. */

import type { Client } from '../client/index.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { hintCommand, type Place } from './hint.ts'
import { dim, note, printable } from './output.ts'

/** ms after which a question counts as unanswered: asked of a link that is down it would wait for its own limit, long after the link is up again. */
const answerMs = 10_000

export type Outage = {
  /** An answer that is not waited for longer than the link may be silent. @throws RuntimeError timeout, or what `work` throws */
  answer<Answer>(work: Promise<Answer>, withinMs?: number): Promise<Answer>
  /** Somebody has answered. */
  over(): void
  /** @throws the error, with where to look, once it lasts too long or asking again would not help */
  endure(error: unknown): void
}

/** What keeps us from hearing of one session. */
export const outageOf = ({ outageMsMax = 0 }: Client, sessionKey: string, place: Place): Outage => {
  let since: number | undefined
  return {
    answer: async (work, withinMs = answerMs) => {
      // Who runs in this process, or is the only node, answers late where it is busy; nobody else would.
      if (outageMsMax === 0) return work
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(
        () => late.reject(new RuntimeError('timeout', `no answer within ${withinMs / 1000} s`, { retryable: true, hint: 'ask again' })),
        withinMs,
      )
      try {
        return await Promise.race([work, late.promise])
      } finally {
        clearTimeout(timer)
      }
    },
    over: () => {
      since = undefined
    },
    endure: (error) => {
      if (!isRuntimeError(error) || !error.retryable) throw error
      const now = performance.now()
      if (since === undefined && outageMsMax > 0)
        note(dim(`  (no node can be asked: ${printable(error.message)}; the turn continues, and is asked for again)`))
      since ??= now
      if (now - since < outageMsMax) return
      const look = `what was accepted continues: ${hintCommand(place, 'history', sessionKey)} shows what became of it`
      throw new RuntimeError(error.code, error.message, { ...error.toJSON(), hint: [error.hint, look].filter(Boolean).join('; '), cause: error })
    },
  }
}
