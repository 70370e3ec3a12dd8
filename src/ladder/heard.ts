/** What is heard of a run, of all that its actors say. */
import type { LadderEvent } from './envelope.ts'
import { isRunOf } from './run.rules.ts'

/** @property place where the event stands in the journal, if it does @property end what was said until now is still heard @property stop nothing more is */
export type RunFeed = { events: AsyncGenerator<{ event: LadderEvent; place?: string }>; end(): void; stop(): void }

type OutEvent = { type: string; path: string; seq?: number; part?: number; birth?: string } & Record<string, unknown>

/** Words of the rungs, and deltas of agents under their own name; what else actors say is for other ears. */
export const heardOf = (told: { type: string } & Record<string, unknown>, rootRunId: string): LadderEvent | undefined => {
  if (ladderWord.test(told.type)) return told as LadderEvent
  if (told.type !== 'delta') return undefined
  const { runId, kind, text } = told as unknown as { runId: string; kind: string; text: string }
  return { type: 'agent.trip.streaming', runId: runId.slice(0, runId.lastIndexOf(':')), rootRunId, kind, delta: text }
}
const ladderWord = /^(?:agent|workflow|supervisor|orchestrator|planner|batch)\./

/** The piece of work whose run has said it, where it is text of an answer. */
export const speakerOf = ({ type, kind, runId }: LadderEvent, within: string, works: readonly string[]): string | undefined =>
  type === 'agent.trip.streaming' && kind === 'text' ? works.find((work) => isRunOf(runId, within, work)) : undefined

/** @param meant what an event means besides */
export async function* heardIn(events: AsyncIterable<OutEvent>, runId: string, meant: (event: LadderEvent) => LadderEvent[]): RunFeed['events'] {
  for await (const { seq, part, birth, path: _, ...told } of events) {
    const event = heardOf(told, runId)
    if (!event) continue
    const at = seq === undefined ? {} : { place: [seq, part ?? 0, ...(birth === undefined ? [] : [birth])].join('.') }
    for (const one of [event, ...meant(event)]) yield { event: one, ...at }
  }
}
