/** What of a run of a supervisor its store is told. Pure. */
import type { Taken } from '../stores/mirror.ts'
import { mergeActor } from './supervisor.chart.rules.ts'
import { advised, type BranchEnd, type Chosen, type Merged, merged, type SupervisorRun } from './supervisor.context.ts'

/** `next` names who is next: null where nobody is chosen yet, nobody where it is over. */
export const afterWork = (run: SupervisorRun, work: string, end: Chosen | BranchEnd | Merged, at: number): Taken | undefined => {
  if (work !== mergeActor || end.ended !== 'completed') return undefined
  const settled = end as Extract<Merged, { ended: 'completed' }>
  const { state, iterations, directive } = { ...run, ...merged(advised(run, work, settled.called), settled, at) }
  return { next: settled.verdict?.satisfied === true ? [] : (directive?.next ?? null), state, iterations }
}

export const atEnd = ({ error, directive, state, iterations }: SupervisorRun): Taken => ({
  next: error ? (directive?.next ?? null) : [],
  state,
  iterations,
})
