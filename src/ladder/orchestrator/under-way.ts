/** What people and other programs do to the turn of a session that is under way. */
import { RuntimeError } from '../../index.ts'
import { checkedDecision, type Decision, type PendingCall } from '../approval.ts'
import { LadderError } from '../errors.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { type Waits, waitsForNobody } from '../work/waits.ts'
import { sessionOf } from './asking.ts'
import type { HostBinding } from './binding.ts'
import type { CheckedOrchestrator } from './definition.ts'
import { type SessionRun, summaryRunId, turnRunId } from './session.context.ts'

export class UnderWay {
  readonly #name: string
  readonly #supervisor: Supervisor
  readonly #binding: HostBinding
  readonly #summaryKind: string

  constructor({ name, summaryKind }: Pick<CheckedOrchestrator, 'name' | 'summaryKind'>, supervisor: Supervisor, binding: HostBinding) {
    this.#name = name
    this.#summaryKind = summaryKind
    this.#supervisor = supervisor
    this.#binding = binding
  }

  /** @returns false where there is none */
  async cancel(sessionId: string, reason: string): Promise<boolean> {
    const { request } = (await this.#session(sessionId))?.turn ?? {}
    if (!request) return false
    await this.#binding.runtime.actor(this.#name, sessionId).send({ type: 'cancel', request: request.id, reason })
    return true
  }

  /** @param request of this turn alone */
  async pending(sessionId: string, request?: string): Promise<readonly PendingCall[]> {
    const session = await this.#session(sessionId)
    if (request !== undefined && session?.turn?.request.id !== request) return []
    return session?.turn?.isPlaced && !session.turn.end ? this.#supervisor.pending(turnRunId(session)) : []
  }

  /** @throws LadderError APPROVAL_UNKNOWN, SCHEMA_VALIDATION_FAILED */
  async decide(sessionId: string, given: Decision, request?: string): Promise<void> {
    const decision = checkedDecision(given)
    const session = await this.#session(sessionId)
    const isMeant = request === undefined || session?.turn?.request.id === request
    if (isMeant && session?.turn?.isPlaced) return this.#supervisor.decide(turnRunId(session), decision)
    throw new LadderError('APPROVAL_UNKNOWN', `no call of the session '${sessionId}' waits for anybody`, {
      context: { sessionId, callId: decision.callId },
      hint: 'it was decided before, or its turn has ended: pending() lists those that wait',
    })
  }

  /** @throws LadderError SCHEMA_VALIDATION_FAILED; RuntimeError not_found */
  async send(sessionId: string, event: { type: string } & Record<string, unknown>, options: { id?: string }): Promise<void> {
    const session = await this.#session(sessionId)
    if (session?.turn?.isPlaced && !session.turn.end) return this.#supervisor.send(turnRunId(session), event, options)
    throw new RuntimeError('not_found', `no turn of the session '${sessionId.slice(0, 80)}' is under way`, { hint: 'send it while execute() waits' })
  }

  /** For whom a session waits: for what its turn does, as long as the request is not answered. */
  async waitsOf(sessionId: string, request?: string): Promise<Waits> {
    const session = await this.#session(sessionId)
    const isAnswered = session?.answers.some(({ id }) => id === request)
    if (!session?.turn || isAnswered) return waitsForNobody
    const { isPlaced, isAsked } = session.turn
    return {
      notes: [],
      next: [
        ...(isPlaced ? [{ kind: this.#supervisor.name, id: turnRunId(session) }] : []),
        ...(isAsked ? [{ kind: this.#summaryKind, id: summaryRunId(session) }] : []),
      ],
    }
  }

  #session(sessionId: string): Promise<SessionRun | undefined> {
    return sessionOf(this.#binding.runtime, this.#name, sessionId)
  }
}
