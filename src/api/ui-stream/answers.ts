/** The answers that are made while somebody reads them, or may come back to do so: what the model has said so far stands nowhere else. */

import { createHash } from 'node:crypto'
import type { ClientResult } from '../../contracts/client-tools.ts'
import type { CommandInput } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { Clock } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Outcome, Runtime, Session, SessionView } from '../../runtime/index.ts'
import { Answer, type Recorded } from './answer.ts'
import type { Decision } from './request.rules.ts'

/** Answers that are recorded at once; beyond it those go that nobody reads, the oldest first: what is missing of them then comes with their end. */
const recordedMax = 1_000

type Accepted = { id: string; runId: string; status: string; seq: number; duplicate?: true }

export class Answers {
  readonly #runtime: () => Runtime
  /** In the order in which they began. */
  readonly #live = new Map<Answer, string>()

  readonly #clock: Clock

  constructor(runtime: () => Runtime, clock: Clock) {
    this.#runtime = runtime
    this.#clock = clock
  }

  /** Says something. @returns its answer; of a message that was said before, the one that it got @throws RuntimeError as `chat.send` does */
  say(message: CommandInput<'chat.send'>): Promise<Answer> {
    return this.#begin(message.sessionKey, (runtime) => runtime.command<Accepted>('chat.send', message))
  }

  /**
   * Gives results of calls that the client has run; those of other calls are what it was shown itself.
   * @returns the answer that goes on with them; of results that were given before, the one that did @throws RuntimeError as `tools.result` does
   */
  async give(results: readonly ClientResult[], input: Omit<CommandInput<'tools.result'>, 'results' | 'idempotencyKey'>): Promise<Answer> {
    const { pendingCalls = [] } = await this.#view(this.#runtime().session(input.sessionKey))
    const wanted = results.filter(({ callId }) => pendingCalls.some((call) => call.callId === callId))
    const given = { ...input, results: wanted.length > 0 ? wanted : [...results], idempotencyKey: nameOf(results) }
    return this.#begin(input.sessionKey, (runtime) => runtime.command<Accepted>('tools.result', given))
  }

  async #begin(sessionKey: string, tell: (runtime: Runtime) => Promise<Accepted>): Promise<Answer> {
    const runtime = this.#runtime()
    const session = runtime.session(sessionKey)
    // Before it is sent, so that nothing of its answer is missed.
    const listening = runtime.events(session.address)
    try {
      const { id, runId, status, seq, duplicate } = await tell(runtime)
      if (!duplicate && status !== 'steered') return this.#record(session, { id, listening, from: seq })
      listening.stop()
      return duplicate ? await this.of(session, id, seq) : await this.of(session, runId)
    } catch (error) {
      listening.stop()
      throw error
    }
  }

  /** The answer that is being made in a session, or is next; undefined where none is. */
  async running(sessionKey: string): Promise<Answer | undefined> {
    const session = this.#runtime().session(sessionKey)
    const view = await this.#view(session).catch((error: unknown) => {
      if (!isRuntimeError(error) || error.code !== 'not_found') throw error
      return undefined
    })
    const id = view?.run?.runId ?? view?.queued[0]
    if (id === undefined || view?.quarantine) return undefined
    return this.#find(session, id) ?? this.#record(session, view?.run ? { id, runId: id } : { id })
  }

  /** Decides about calls that wait. What somebody else has decided before stays as it is. @throws RuntimeError not_found, conflict */
  async decide(sessionKey: string, decisions: readonly Decision[]): Promise<void> {
    for (const { callId, inputHash, attempt, decision, note } of decisions)
      await this.#runtime()
        .command('approvals.resolve', { sessionKey, callId, inputHash, attempt, decision, by: 'web chat', note })
        .catch((error: unknown) => {
          if (!isRuntimeError(error) || error.code !== 'already_decided') throw error
        })
  }

  /**
   * The answer to a message, or of a run, that was accepted at some time.
   * @param seq the commit that accepted it, where that is known @throws RuntimeError not_found
   */
  async of(session: Session, id: string, seq?: number): Promise<Answer> {
    const known = this.#find(session, id)
    if (known) return known
    const runId = await this.#runOf(session, id)
    // What it joined was accepted before.
    const from = runId === undefined || runId === id ? seq : undefined
    return this.#find(session, runId ?? id) ?? this.#record(session, { id: runId ?? id, ...definedOf({ runId, from }) })
  }

  /** @returns undefined for a message that waits for its turn @throws RuntimeError not_found */
  async #runOf(session: Session, id: string): Promise<string | undefined> {
    const { run, queued } = await this.#view(session)
    if (run?.ids.includes(id)) return run.runId
    if (queued.includes(id)) return undefined
    const { runId } = await this.#runtime().command<Outcome>('agent.wait', { sessionKey: session.key, runId: id })
    return runId
  }

  #view({ key }: Session): Promise<SessionView> {
    return this.#runtime().command<SessionView>('sessions.get', { sessionKey: key })
  }

  #find({ key }: Session, id: string): Answer | undefined {
    for (const [answer, of] of this.#live) if (of === key && answer.answers(id)) return answer
    return undefined
  }

  #record(session: Session, recorded: Recorded): Answer {
    if (this.#live.size >= recordedMax)
      for (const [answer] of this.#live)
        if (!answer.isRead) {
          answer.stop()
          this.#live.delete(answer)
          break
        }
    const answer = new Answer({ runtime: this.#runtime(), session, clock: this.#clock }, recorded, (over) => this.#live.delete(over))
    this.#live.set(answer, session.key)
    return answer
  }
}

/** The same each time that they are given: a page that tries again gives nothing twice. */
const nameOf = (results: readonly ClientResult[]): string => {
  const calls = results.map(({ callId }) => callId).sort()
  return `results-${createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 32)}`
}
