/** What a session does in the world: its rows are loaded and saved, something is recalled and remembered. Failures come back as results. */
import type { AnyActorLogic } from 'xstate'
import { remote } from '../../index.ts'
import { wordsOf } from '../errors.ts'
import { recallFor, rememberFor } from '../memory/session-memory.ts'
import type { CheckpointRow } from '../stores/store.ts'
import { compactionActors } from './compaction.effects.ts'
import { dueRange, marginOf, rangeOf } from './compaction.rules.ts'
import { dueFrom, runsBefore } from './runs.rules.ts'
import { endActor, loadActor, lookActor, recallActor, saveActor, summaryActor, turnActor } from './session.chart.rules.ts'
import { answersMax, foldableIn, type Persisted, type Plan, type Recalled, type SessionRun } from './session.context.ts'
import { lockActors, requireLock, underLock } from './session-lock.effects.ts'
import { type SessionScope, sessionTask } from './session-task.effects.ts'

export const sessionActors = (scope: SessionScope): Record<string, AnyActorLogic> => ({
  [loadActor]: sessionTask(scope, `to load a session of '${scope.name}'`, (run) => underLock(scope, run, () => planOf(scope, run))),
  [lookActor]: sessionTask(
    scope,
    'to look at a lock',
    async ({ sessionId }) => (await (await scope.store()).record(scope.name, sessionId)).lock?.expiresAt ?? null,
  ),
  [recallActor]: sessionTask(scope, 'to recall', async ({ sessionId, turn }) => {
    const { context, warning } = scope.memory ? await recallFor(scope.memory, sessionId, turn?.request.input, { timer: await scope.timer() }) : {}
    return { ...(context && { known: context }), ...(warning && { warning: warning.message }) } satisfies Recalled
  }),
  [turnActor]: remote(scope.turnKind) as AnyActorLogic,
  [saveActor]: sessionTask(scope, `to save a turn of '${scope.name}'`, (run) => saved(scope, run)),
  [endActor]: sessionTask(scope, 'endsWhen', (run) => isOver(scope, run)),
  ...compactionActors(scope),
  ...lockActors(scope),
  [summaryActor]: remote(scope.summaryKind) as AnyActorLogic,
})

const planOf = async (scope: SessionScope, { sessionId, turn }: SessionRun): Promise<Plan> => {
  const { name, definition, signature, summarizer, lockMaxMs, memory, sessionLock } = scope
  const { state = {}, version = null, summarize } = definition
  const store = await scope.store()
  const row = await store.load(name, sessionId)
  const summarizedThrough = row?.summarized_through ?? null
  const range =
    turn?.request.wants === 'compaction'
      ? rangeOf(turn.request.foldable?.length ?? 0, typeof summarize === 'function' ? null : summarizedThrough)
      : undefined
  return {
    found: row !== undefined,
    turnIndex: row ? row.turn_index + 1 : 0,
    state: { ...(asJson(row ? row.state : state) as object), ...turn?.request.state },
    signature,
    version,
    savedSignature: row?.signature ?? null,
    summarizedThrough,
    lockedUntil: typeof row?.lock_expires_at === 'string' ? Date.parse(row.lock_expires_at) : null,
    lockMaxMs,
    asksEnd: definition.endsWhen !== undefined,
    recalls: memory !== undefined && memory.recall.k !== 0,
    asksSummarizer: summarizer !== undefined && typeof summarize !== 'function',
    ...(range && { range }),
    ...(sessionLock && { lockTtlMs: sessionLock.ttlMs }),
  }
}

/** The row is the same each time: a session that was killed in between saves it once more. */
const saved = async (scope: SessionScope, run: SessionRun): Promise<Persisted> => {
  const { name, store: found, policy, keepRows, memory, forget } = scope
  const { sessionId, turn, runs } = run
  const { plan, end, request } = turn ?? {}
  if (!plan || !end) throw new Error('there is no turn to be saved')
  await requireLock(scope, run)
  const store = await found()
  const state = asJson(end.state)
  await store.save({
    orchestrator_name: name,
    session_id: sessionId,
    turn_index: plan.turnIndex,
    state,
    last_route: end.route,
    signature: plan.signature,
    version: plan.version,
    summarized_through: plan.summarizedThrough,
    lock_acquired_at: null,
    lock_expires_at: null,
    saved_at: new Date(end.endedAt).toISOString(),
  } satisfies CheckpointRow)
  const warnings = [...(turn?.warnings ?? [])]
  const tried = async (what: string, work: () => unknown): Promise<void> => {
    try {
      await work()
    } catch (thrown) {
      warnings.push(`${what} failed: ${wordsOf(thrown)}`)
    }
  }
  if (keepRows !== undefined && plan.turnIndex >= keepRows) await tried('to drop old turns', () => store.prune?.(name, sessionId, keepRows))
  // What is answered late still reads its run.
  const due = keepRows === undefined || !runs ? undefined : dueFrom(runs, plan.turnIndex, Math.max(keepRows, answersMax), run.keptFrom)
  let runsFrom: number | undefined
  if (runs && due !== undefined)
    await tried('to forget the runs of old turns', async () => {
      await forget(runsBefore(sessionId, runs, due))
      runsFrom = due
    })
  const outcome = end.data ?? Object.values(end.iteration?.branches ?? {}).map(({ output }) => output)
  const { warning } = memory ? await rememberFor(memory, sessionId, request?.input, outcome, { timer: await scope.timer() }) : {}
  if (warning) warnings.push(warning.message)
  const isDue = policy.afterTurns !== undefined && plan.turnIndex >= policy.afterTurns
  const range = isDue && request ? dueRange(foldableIn(request), plan.summarizedThrough, marginOf(policy)) : undefined
  return { route: end.route, isOver: false, warnings, ...(range && { range }), ...(runsFrom !== undefined && { runsFrom }) }
}

const isOver = async ({ definition }: SessionScope, { sessionId, turn }: SessionRun): Promise<boolean> => {
  const { plan, end } = turn ?? {}
  const of = { sessionId, turnIndex: plan?.turnIndex ?? 0, state: asJson(end?.state) as never, data: end?.data }
  return (await definition.endsWhen?.(of)) === true
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? {})) as unknown
