/** All that an author may put around an agent: checked, in the terms of its chart, and as actors. */
import type { AnyActorLogic } from 'xstate'
import { enterLogic, leaveLogic } from '../around/layers.effects.ts'
import { keepLogic, recallLogic } from './answers.effects.ts'
import { type AnswerCache, checkedCache } from './answers.ts'
import { type AroundShape, closeActor, enterActor, keepActor, leaveActor, openActor, recallActor, recoverActor } from './around.chart.rules.ts'
import { aboutRun, closeLogic, openLogic, recoverLogic } from './around.effects.ts'
import type { Budget } from './budget.rules.ts'
import { checkedBudget } from './budget.ts'
import { checkedGuardrails, type Guardrails } from './guardrails.ts'
import { type AnyMiddleware, checkedMiddleware } from './middleware.ts'

export type SurroundingOptions = {
  /** What a run may use. Default: as much as `maxTrips` and `limits` allow. */
  budget?: Budget
  /** Checks of what goes to the model, and of what comes from it before its tools run. */
  guardrails?: Guardrails
  /** Code around runs, trips and tools: the first is the outermost. */
  middleware?: readonly AnyMiddleware[]
  /** Answers that are kept: who asks the same again gets one without a call of the model. */
  cache?: AnswerCache
}

export type Surroundings = { budget?: Budget; guardrails: Guardrails; middleware: readonly AnyMiddleware[]; cache?: AnswerCache }

/** @throws LadderError LADDER_CONFIG naming what is wrong */
export const checkedSurroundings = (agent: string, { budget, guardrails = {}, middleware, cache }: SurroundingOptions): Surroundings => ({
  guardrails: checkedGuardrails(agent, guardrails),
  middleware: checkedMiddleware(agent, middleware),
  ...(budget && { budget: checkedBudget(agent, budget) }),
  ...(cache && { cache: checkedCache(agent, cache) }),
})

/** Undefined where nothing stands around it: its chart is as if there were no such thing. */
export const shapeAround = ({ budget, guardrails, middleware, cache }: Surroundings): AroundShape | undefined => {
  const hasHook = (level: 'execute' | 'trip', ...hooks: readonly ('before' | 'after' | 'onError')[]): boolean =>
    middleware.some((one) => hooks.some((hook) => one[level]?.[hook] !== undefined))
  const shape = {
    wraps: hasHook('execute', 'before', 'after', 'onError'),
    recalls: cache !== undefined,
    opens: hasHook('trip', 'before') || (guardrails.input ?? []).length > 0,
    closes: hasHook('trip', 'after') || (guardrails.output ?? []).length > 0,
    recovers: hasHook('trip', 'onError'),
  }
  if (!budget && Object.values(shape).every((part) => !part)) return undefined
  return { ...shape, ...(budget && { budget }) }
}

type Code = {
  name: string
  version: string | undefined
  contextOf: (runId: string) => Readonly<Record<string, unknown>>
  cacheFailed: (runId: string, thrown: unknown) => void
}

/** Only those that its chart asks for. */
export const actorsAround = (shape: AroundShape, { guardrails, middleware, cache }: Surroundings, more: Code): Record<string, AnyActorLogic> => {
  const code = { ...more, guardrails, middleware }
  const wrapping = { ...code, code: 'AGENT_EXEC_FAILED' as const, about: aboutRun(more.name) }
  return {
    ...(shape.wraps && { [enterActor]: enterLogic(wrapping), [leaveActor]: leaveLogic(wrapping) }),
    ...(shape.opens && { [openActor]: openLogic(code) }),
    ...(shape.closes && { [closeActor]: closeLogic(code) }),
    ...(shape.recovers && { [recoverActor]: recoverLogic(code) }),
    ...(cache && {
      [recallActor]: recallLogic({ ...code, cache, failed: more.cacheFailed }),
      [keepActor]: keepLogic({ ...code, cache, failed: more.cacheFailed }),
    }),
  }
}

/** What each run begins with. */
export const statesOf = ({ middleware }: Surroundings): Record<string, object> =>
  Object.fromEntries(middleware.map(({ name, state }) => [name, structuredClone(state ?? {}) as object]))
