/** What people and other programs do to the turn of a session that is under way. */
import { RuntimeError } from '../../index.ts'
import { checkedDecision, type Decision, type PendingCall } from '../approval.ts'
import { type Waits, waitsForNobody } from '../calling/waits.ts'
import { LadderError } from '../errors.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { sessionOf } from './asking.ts'
import { besideMax } from './beside.context.ts'
import type { HostBinding } from './binding.ts'
import type { CheckedOrchestrator } from './definition.ts'
import { summaryRunId, turnRunId, underWay } from './session.context.ts'

const noDrift = (error: unknown): undefined => {
  if (!(error instanceof LadderError) || error.code !== 'ORCHESTRATOR_DRIFT') throw error
}

type SendOptions = { id?: string; requestId?: string }
type Turn = { request: string; runId: string; isRunning: boolean }

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
    const turns = await this.#turns(sessionId)
    const actor = this.#binding.runtime.actor(this.#name, sessionId)
    await Promise.all(turns.map(({ request }) => actor.send({ type: 'cancel', request, reason })))
    return turns.length > 0
  }

  /** @param request of this turn alone */
  async pending(sessionId: string, request?: string): Promise<readonly PendingCall[]> {
    const runs = await this.#runs(sessionId, request)
    return (await Promise.all(runs.map(({ runId }) => this.#supervisor.pending(runId)))).flat()
  }

  /** @throws LadderError APPROVAL_UNKNOWN, SCHEMA_VALIDATION_FAILED */
  async decide(sessionId: string, given: Decision, request?: string): Promise<void> {
    const decision = checkedDecision(given)
    const runs = await this.#runs(sessionId, request)
    for (const { runId } of runs.slice(1))
      if ((await this.#supervisor.pending(runId)).some(({ callId }) => callId === decision.callId)) return this.#supervisor.decide(runId, decision)
    // It also says what was decided before.
    if (runs[0]) return this.#supervisor.decide(runs[0].runId, decision)
    throw new LadderError('APPROVAL_UNKNOWN', `no call of the session '${sessionId}' waits for anybody`, {
      context: { sessionId, callId: decision.callId },
      hint: 'it was decided before, or its turn has ended: pending() lists those that wait',
    })
  }

  /** @throws LadderError SCHEMA_VALIDATION_FAILED; RuntimeError not_found */
  async send(sessionId: string, event: { type: string } & Record<string, unknown>, { requestId, ...options }: SendOptions): Promise<void> {
    const runs = await this.#runs(sessionId, requestId)
    const [run, ...others] = runs
    if (others.length > 0)
      throw new LadderError(
        'SCHEMA_VALIDATION_FAILED',
        `${runs.length} turns of the session '${sessionId}' are under way, and the event names none`,
        {
          context: { sessionId, requestIds: runs.map(({ request }) => request) },
          hint: 'send it with { requestId }',
        },
      )
    if (run) return this.#supervisor.send(run.runId, event, options)
    throw new RuntimeError('not_found', `no turn of the session '${sessionId.slice(0, 80)}' is under way`, { hint: 'send it while execute() waits' })
  }

  /** For whom a request waits: for what its own turn does, or for all that are under way where no other may begin. */
  async waitsOf(sessionId: string, request?: string): Promise<Waits> {
    // One that another version has kept is refused when it is asked.
    const session = await sessionOf(this.#binding.runtime, this.#name, sessionId).catch(noDrift)
    if (!session || session.answers.some(({ id }) => id === request)) return waitsForNobody
    const turns = underWay(session)
    const own = turns.filter(({ request: { id } }) => id === request)
    const mayBegin = session.turns !== undefined && turns.length < besideMax
    const next = (own.length > 0 || mayBegin ? own : turns).flatMap((turn) => [
      ...(turn.isPlaced ? [{ kind: this.#supervisor.name, id: turnRunId({ sessionId, turn }) }] : []),
      { kind: this.#summaryKind, id: summaryRunId({ turn }) },
    ])
    return { notes: [], next }
  }

  /** The oldest first. */
  async #turns(sessionId: string): Promise<Turn[]> {
    const session = await sessionOf(this.#binding.runtime, this.#name, sessionId)
    if (!session) return []
    return underWay(session).map((turn) => ({
      request: turn.request.id,
      runId: turnRunId({ sessionId, turn }),
      isRunning: turn.isPlaced === true && !turn.end,
    }))
  }

  /** Of turns that have been begun, and have not ended as far as their session knows. @param only of this one */
  async #runs(sessionId: string, only?: string): Promise<Turn[]> {
    return (await this.#turns(sessionId)).filter(({ request, isRunning }) => isRunning && (only ?? request) === request)
  }
}
