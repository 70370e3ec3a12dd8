/** What is said beside a conversation, numbered for those who watch it. */
import { definedOf } from '../../contracts/defined.ts'
import type { SideResultEvent } from '../../contracts/gateway.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { ShownText } from '../../contracts/shown.ts'

/** Runs whose results are counted: more than go on at once in one session. */
const countedMax = 100

export class Asides {
  readonly #told = new Map<string, number>()

  /** @param at ms since the epoch @param shown what of a text people see */
  event(
    { kind, runId, question, text, isError }: Extract<SessionOutput, { type: 'side_result' }>,
    { sessionKey, at, shown }: { sessionKey: string; at: number; shown: ShownText },
  ): SideResultEvent {
    const seq = (this.#told.get(runId) ?? 0) + 1
    this.#told.delete(runId)
    this.#told.set(runId, seq)
    if (this.#told.size > countedMax) this.#told.delete(this.#told.keys().next().value as string)
    return { kind, runId, sessionKey, seq, text: shown.finished(text, { heartbeat: false }), isError, ts: at, ...definedOf({ question }) }
  }
}
