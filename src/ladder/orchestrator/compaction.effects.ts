/** What a compaction does in the world: its lock, a summary, and what the caller makes of it. */
import type { AnyActorLogic } from 'xstate'
import { type Compaction, compactionOf, memoOf } from './compaction.rules.ts'
import { applyActor, lockActor, summariseActor, unlockActor } from './session.chart.rules.ts'
import { rangeIn, type SessionRun } from './session.context.ts'
import { type SessionScope, sessionTask } from './session-task.effects.ts'

export const compactionActors = (scope: SessionScope): Record<string, AnyActorLogic> => {
  const { name, lockMaxMs, policy, definition } = scope
  const owner = ({ turn }: SessionRun): string => turn?.request.id ?? ''
  return {
    [lockActor]: sessionTask(scope, 'to lock a session', async (run) => (await scope.store()).lock(name, run.sessionId, owner(run), lockMaxMs)),
    [summariseActor]: sessionTask(scope, 'to summarise', async (run): Promise<Compaction> => {
      const { summarize } = definition
      const range = rangeIn(run) ?? { from: 0, to: -1 }
      if (typeof summarize !== 'function') return compactionOf(memoOf(range), range)
      return checked(await summarize(run.turn?.request.foldable ?? [], { sessionId: run.sessionId }))
    }),
    [applyActor]: sessionTask(scope, 'onCompact', async ({ sessionId, turn }) => {
      if (!policy.onCompact || !turn?.compaction) return false
      await policy.onCompact(turn.compaction, { sessionId })
      await (await scope.store()).setSummarizedThrough(name, sessionId, turn.compaction.replacesToIndex)
      return true
    }),
    [unlockActor]: sessionTask(scope, 'to unlock a session', async (run) => (await scope.store()).unlock(name, run.sessionId, owner(run))),
  }
}

const checked = (made: Compaction): Compaction => {
  const { summary, replacesFromIndex, replacesToIndex } = made ?? {}
  if (typeof summary?.content !== 'string' || !Number.isInteger(replacesFromIndex) || !Number.isInteger(replacesToIndex))
    throw new Error('it gave no compaction: { summary, replacesFromIndex, replacesToIndex }')
  return { summary: { role: 'system', content: summary.content }, replacesFromIndex, replacesToIndex }
}
