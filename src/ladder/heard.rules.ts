/** What is heard of a run: words of the rungs, and deltas of agents under their own name; what else actors say is for other ears. Pure. */
import type { LadderEvent } from './envelope.ts'

export const heardOf = (told: { type: string } & Record<string, unknown>, rootRunId: string): LadderEvent | undefined => {
  if (ladderWord.test(told.type)) return told as LadderEvent
  if (told.type !== 'delta') return undefined
  const { runId, kind, text } = told as unknown as { runId: string; kind: string; text: string }
  return { type: 'agent.trip.streaming', runId: runId.slice(0, runId.lastIndexOf(':')), rootRunId, kind, delta: text }
}
const ladderWord = /^(?:agent|workflow|supervisor|orchestrator|planner)\./
