/** What a session remembers whose turns run beside each other, and how each thing that happens changes it. Pure. */
import type { LadderErrorBody } from '../errors.ts'
import { retriedTurn, runsFrom, withTurn } from './runs.rules.ts'
import { type Answer, answersMax, opened, type Plan, type SessionRequest, type SessionRun, type TurnBeside, withAnswer } from './session.context.ts'

/** @property begun how many turns, so that each has an actor of its own name @property stored the last number, as long as turns are under way that may not have seen it */
export type SessionBeside = SessionRun & { turns: readonly TurnBeside[]; begun: number; stored: number }

/** What a turn tells its session. */
export type Loaded = Pick<Plan, 'turnIndex' | 'version' | 'signature'> & { request: string }
export type Placed = { request: string; attempt: number }
export type Stored = { request: string; runsFrom?: number }
/** What it is told. @property keptFrom runs from this number on belong to turns that are under way, or are read by those who have asked */
export type Numbered = Pick<SessionRun, 'runs' | 'keptFrom'> & { turnIndex: number }

/** Answers are read from runs, so that no more end at once than answers are kept. */
export const besideMax = answersMax

export const openedBeside = (sessionId: string): SessionBeside => ({ ...opened(sessionId), turns: [], begun: 0, stored: -1 })

export const mayBegin = ({ queue, turns }: SessionBeside): boolean => queue.length > 0 && turns.length < besideMax

/** It may have ended before it was given a number. */
export const hasBegun = ({ turns, begun }: SessionBeside): boolean => turns.at(-1)?.actor !== actorOf(begun) || turns.at(-1)?.plan !== undefined

const actorOf = (begun: number): string => `turn-${begun}`

export const begunBeside = ({ queue, turns, begun }: SessionBeside, at: number): Partial<SessionBeside> => {
  const [first, ...rest] = queue
  if (!first) return {}
  const { id, wants, inputHash, inside } = first
  const request = { id, wants, ...(inputHash !== undefined && { inputHash }), ...(inside && { inside }) }
  return { queue: rest, turns: [...turns, { actor: actorOf(begun + 1), request, startedAt: at, attempt: 1 }], begun: begun + 1 }
}

/** What its actor begins with. */
export const phasesInput = ({ sessionId }: SessionBeside, request: SessionRequest, at: number): SessionRun => ({
  ...opened(sessionId),
  turn: { request, startedAt: at, attempt: 1 },
})

const changed = (turns: readonly TurnBeside[], id: string, change: Partial<TurnBeside>): readonly TurnBeside[] =>
  turns.map((one) => (one.request.id === id ? { ...one, ...change } : one))

/** After the row that it has loaded, and after all turns that are under way or were stored since. A command takes none. */
const numberOf = ({ turns, stored }: SessionBeside, { request, turnIndex }: Loaded): number => {
  const others = turns.filter((one) => one.request.id !== request && one.request.wants === 'turn')
  return Math.max(turnIndex, stored + 1, ...others.map(({ plan }) => (plan ? plan.turnIndex + 1 : 0)))
}

export const numbered = (run: SessionBeside, loaded: Loaded): Partial<SessionBeside> => {
  const { request, version, signature } = loaded
  const isTurn = run.turns.find((one) => one.request.id === request)?.request.wants === 'turn'
  const turnIndex = isTurn ? numberOf(run, loaded) : loaded.turnIndex
  return {
    turns: changed(run.turns, request, { plan: { turnIndex, version, signature } }),
    ...(isTurn && { runs: withTurn(run.runs, { turn: turnIndex, version, runs: 1 }) }),
  }
}

/** Of one that has its number. */
export const numberTold = ({ turns, answers, runs }: SessionBeside, request: string): Numbered => {
  const indexes = [...turns.flatMap(({ plan }) => plan?.turnIndex ?? []), ...answers.flatMap(({ turnIndex }) => turnIndex ?? [])]
  return {
    turnIndex: turns.find((one) => one.request.id === request)?.plan?.turnIndex ?? 0,
    keptFrom: Math.min(...indexes),
    ...(runs && { runs }),
  }
}

export const placedBeside = ({ turns, runs }: SessionBeside, { request, attempt }: Placed): Partial<SessionBeside> => {
  const { plan } = turns.find((one) => one.request.id === request) ?? {}
  return {
    turns: changed(turns, request, { attempt, isPlaced: true }),
    ...(runs && plan && attempt > 1 && { runs: retriedTurn(runs, plan.turnIndex, attempt) }),
  }
}

export const storedBeside = ({ turns, stored, runs }: SessionBeside, { request, runsFrom: from }: Stored): Partial<SessionBeside> => {
  const { plan } = turns.find((one) => one.request.id === request) ?? {}
  return {
    stored: Math.max(stored, plan?.turnIndex ?? -1),
    ...(runs && from !== undefined && from > runs.from && { runs: runsFrom(runs, from) }),
  }
}

export const answeredBeside = (run: SessionBeside, actor: string, answer: Answer | undefined): Partial<SessionBeside> => {
  const turns = run.turns.filter((one) => one.actor !== actor)
  return {
    turns,
    // Whoever loads from now on sees that row.
    ...(turns.length === 0 && { stored: -1 }),
    ...(answer && withAnswer(run, answer)),
  }
}

/** Of a turn that could not go on at all. */
export const brokenAnswer = ({ turns }: SessionBeside, actor: string, error: LadderErrorBody, at: number): Answer | undefined => {
  const turn = turns.find((one) => one.actor === actor)
  return turn && { ...turn.request, ...turn.plan, status: 'failed', error, startedAt: turn.startedAt, endedAt: at }
}
