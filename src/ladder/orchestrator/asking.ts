/** A request of a session from its beginning to its answer, as its caller follows it. */
import { isRuntimeError, type Runtime, uuid } from '../../index.ts'
import type { LadderEvent } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { isOtherInput, otherInput } from '../same-input.ts'
import type { Compaction } from './compaction.rules.ts'
import type { CheckedOrchestrator } from './definition.ts'
import { followTurn } from './following.ts'
import type { CompactOptions } from './options.ts'
import { checkedCall, compactRequestOf } from './request.ts'
import { type Answer, inputHashIn, isKnown, type SessionRequest, type SessionRun, turnRunId, underWay } from './session.context.ts'

type Kinds = { name: string; turnKind: string }
type Asked = { sessionId: string; signal: AbortSignal | undefined; hear: (told: LadderEvent) => void }

/** @param request as it is sent; the id of one that was sent is attached to @throws LadderError where the answer is gone; the reason of the signal where it was withdrawn */
export const answerOf = async (
  runtime: Runtime,
  kinds: Kinds,
  request: SessionRequest | string,
  { sessionId, signal, hear }: Asked,
): Promise<Answer> => {
  const { name, turnKind } = kinds
  const id = typeof request === 'string' ? request : request.id
  signal?.throwIfAborted()
  const actor = runtime.actor(name, sessionId, { sessionId })
  const over = new AbortController()
  const hearing = { isOver: false }
  const listen = (told: LadderEvent): void => {
    hearing.isOver ||= ends.has(told.type)
    hear(told)
  }
  const attached = typeof request === 'string' ? ((await actor.snapshot()).context as SessionRun) : undefined
  const turn = attached && underWay(attached).find((one) => one.request.id === id)
  const heard = followTurn({
    runtime,
    session: actor.address,
    turnKind,
    id,
    hear: listen,
    signal: over.signal,
    ...(turn?.isPlaced && { placed: turnRunId({ sessionId, turn }) }),
    ...(turn?.plan && { turnIndex: turn.plan.turnIndex }),
  })
  // Whoever fails to ask does not wait for it.
  heard.catch(() => undefined)
  const cancel = (): void => void actor.send({ type: 'cancel', request: id, reason: String(signal?.reason ?? 'aborted') }).catch(() => undefined)
  try {
    if (typeof request !== 'string') await actor.send({ type: 'execute', request })
    const isAnothers = (session: unknown): boolean =>
      typeof request !== 'string' && isOtherInput(inputHashIn(session as SessionRun, id), request.inputHash)
    // Whoever was refused cancels nobody.
    if (signal && isAnothers((await actor.snapshot()).context)) throw otherInput(name, 'requestId', id)
    if (signal?.aborted) cancel()
    signal?.addEventListener('abort', cancel)
    const snapshot = await actor.waitFor(({ context }) => isAnothers(context) || !isWaiting(context as SessionRun, id))
    if (isAnothers(snapshot.context)) throw otherInput(name, 'requestId', id)
    over.abort()
    await heard
    const answer = (snapshot.context as SessionRun).answers.find((one) => one.id === id)
    if (!answer) throw forgotten(id)
    if (answer.status === 'withdrawn') {
      signal?.throwIfAborted()
      throw LadderError.from(answer.error as never)
    }
    // What another node says may be lost on the way.
    if (!hearing.isOver && answer.wants === 'turn') hear(endTold(answer, sessionId))
    return answer
  } catch (error) {
    throw isRuntimeError(error) && error.code === 'drift' ? outdated(name, sessionId, error) : error
  } finally {
    signal?.removeEventListener('abort', cancel)
    over.abort()
  }
}

/** A history that is summarised outside of a turn. @returns null where nothing of it is to be @throws LadderError */
export const compactionOf = async (
  runtime: Runtime,
  checked: CheckedOrchestrator,
  { sessionId, history, signal }: CompactOptions,
): Promise<Compaction | null> => {
  const request = compactRequestOf(checked, uuid(), checkedCall(checked.name, sessionId, history))
  const { error, compaction } = await answerOf(runtime, checked, request, { sessionId, signal, hear: () => undefined })
  if (error) throw LadderError.from(error)
  return compaction ?? null
}

/** undefined where nothing was ever asked of it. @throws LadderError ORCHESTRATOR_DRIFT */
export const sessionOf = async (runtime: Runtime, name: string, sessionId: string): Promise<SessionRun | undefined> => {
  try {
    return (await runtime.actor(name, sessionId).snapshot()).context as SessionRun
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return undefined
    throw isRuntimeError(error) && error.code === 'drift' ? outdated(name, sessionId, error) : error
  }
}

/** @param only the one of this name @returns what was asked for, the oldest first */
export const turnsUnderWay = async (runtime: Runtime, name: string, sessionId: string, only?: string): Promise<string[]> => {
  const session = await sessionOf(runtime, name, sessionId)
  const turns = session ? underWay(session).filter(({ request }) => request.wants === 'turn') : []
  return turns.map(({ request }) => request.id).filter((id) => (only ?? id) === id)
}

/** Of all sessions: nothing wakes one that waits for input. */
export const turnsAtWork = async (runtime: Runtime, name: string): Promise<{ sessionId: string; turn: string }[]> => {
  const all: { sessionId: string; turn: string }[] = []
  type Page = { actors: readonly { id: string; wakeAt: number | null }[]; next: string | null }
  for (let after: string | null | undefined; after !== null; ) {
    const page: Page = await runtime.command<Page>('actors.list', { kind: name, states: false, limit: 100, ...(after && { after }) })
    for (const { id: sessionId, wakeAt } of page.actors)
      if (wakeAt !== null) for (const turn of await turnsUnderWay(runtime, name, sessionId)) all.push({ sessionId, turn })
    after = page.next
  }
  return all
}

const isWaiting = (session: SessionRun, id: string): boolean => isKnown(session, id) && !session.answers.some((one) => one.id === id)

const ends = new Set(['turn.completed', 'turn.failed', 'turn.cancelled', 'turn.awaiting-input'].map((type) => `orchestrator.${type}`))

const endTold = ({ id, status, turnIndex, error }: Answer, sessionId: string): LadderEvent => ({
  type: `orchestrator.turn.${status === 'max-iterations' ? 'failed' : status}`,
  runId: id,
  rootRunId: id,
  sessionId,
  ...(turnIndex !== undefined && { turnIndex }),
  ...(error && { error }),
})

const forgotten = (id: string): LadderError =>
  new LadderError('ORCHESTRATOR_FAILED', `what became of the request '${id.slice(0, 80)}' is not kept any more`, {
    hint: 'a session keeps the answers of its newest requests: ask sooner, and read the rows of the store',
    context: { requestId: id },
  })

const outdated = (name: string, sessionId: string, cause: Error): LadderError =>
  new LadderError('ORCHESTRATOR_DRIFT', `the session '${sessionId}' was kept by another version of the runtime, or with another sessionLock`, {
    cause,
    context: { sessionId },
    hint: `let turns end before the runtime is changed, or sessionLock from or to false; then runtime.actor('${name}', sessionId).forget(): its rows stay in the store`,
  })
