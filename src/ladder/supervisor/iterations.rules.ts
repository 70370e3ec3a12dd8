/** Iterations as reports and stores tell them: with what follows from all that a run remembers. Pure. */
import type { LadderUsage } from '../envelope.ts'
import { entriesOf } from '../kept.rules.ts'
import { together } from '../usage.rules.ts'
import type { Decision, IterationRecord, SupervisorRun } from './supervisor.context.ts'

/** @property usage of all that ran in it: who chose, the branches, and who evaluated. `duration` of the decision: ms until the branches began. */
export type Iteration = Omit<IterationRecord, 'decision'> & { decision: Decision & { duration: number }; usage: LadderUsage }

export const iterationsOf = ({ iterations, nested }: Pick<SupervisorRun, 'iterations' | 'nested'>): readonly Iteration[] => {
  const used = new Map(entriesOf(nested).flatMap(([, reports]) => reports.map(({ runId, usage }) => [runId, usage] as const)))
  return iterations.map((record) => {
    const { decision, branches, runs = [], startedAt } = record
    const all = Object.values(branches)
    const ran = [...runs, ...all.flatMap((branch) => branch.runs ?? [])]
    const begun = Math.min(...all.map((branch) => branch.startedAt))
    return {
      ...record,
      decision: { ...decision, duration: Number.isFinite(begun) ? begun - startedAt : 0 },
      usage: together(...ran.flatMap((runId) => used.get(runId) ?? [])),
    }
  })
}
