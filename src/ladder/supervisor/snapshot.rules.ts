/** What of a run of a supervisor its store is told. Pure. */
import type { Taken } from '../stores/mirror.ts'
import { iterationsOf } from './iterations.rules.ts'
import { mergeActor } from './supervisor.chart.rules.ts'
import { advised, type BranchEnd, type Chosen, type Merged, merged, type SupervisorRun } from './supervisor.context.ts'

/** `next` names who is next: null where nobody is chosen yet, nobody where it is over. */
export const afterWork = (run: SupervisorRun, work: string, end: Chosen | BranchEnd | Merged, at: number): Taken | undefined => {
  if (work !== mergeActor || end.ended !== 'completed') return undefined
  const settled = end as Extract<Merged, { ended: 'completed' }>
  const seen = advised(run, work, settled.called)
  const after = { ...seen, ...merged(seen, settled, at) }
  return { next: settled.verdict?.satisfied === true ? [] : (after.directive?.next ?? null), state: after.state, iterations: iterationsOf(after) }
}

export const atEnd = (run: SupervisorRun): Taken => ({
  next: run.error ? (run.directive?.next ?? null) : [],
  state: run.state,
  iterations: iterationsOf(run),
})
