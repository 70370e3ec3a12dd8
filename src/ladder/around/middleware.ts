/** Code around the runs of a workflow or a supervisor, as its author writes it: that of agents, without what only these have inside. */
import { type AnyMiddleware, type AroundRun, checkedMiddleware } from '../agent/middleware.ts'
import type { Layer } from '../agent/onion.ts'
import { LadderError } from '../errors.ts'

/** What it is given. One of `workflow` and `supervisor` is the name of what runs. */
export type AroundExecution<State = Record<string, unknown>> = Omit<AroundRun<State>, 'agent'> & {
  readonly workflow?: string
  readonly supervisor?: string
}
export type RunMiddleware<State extends object = Record<string, unknown>> = {
  /** No two of one executable have the same. */
  name: string
  /** What each run begins with. Default: an empty object. */
  state?: State
  /** Around the run: `result` is its data. `before` may say `{ input }`, which it is given instead. */
  execute: Layer<AroundExecution<State>, unknown, { input?: unknown }>
}
// biome-ignore lint/suspicious/noExplicitAny: one of any state
export type AnyRunMiddleware = RunMiddleware<any>

/** @throws LadderError LADDER_CONFIG naming what is wrong with one */
export const checkedRunMiddleware = (name: string, given: readonly AnyRunMiddleware[] | undefined): readonly AnyMiddleware[] => {
  const all = checkedMiddleware(name, given)
  const strange = all.find((one) => one.trip !== undefined || one.tool !== undefined || one.execute === undefined)
  if (strange)
    throw new LadderError('LADDER_CONFIG', `the middleware '${strange.name}' of '${name}' stands around no run`, {
      hint: 'write execute: { before, after, onError }; trip and tool are for agents',
      context: { executable: name },
    })
  return all
}
