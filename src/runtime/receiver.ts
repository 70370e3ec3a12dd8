/** Who receives a message of a session, and how long it took to read. */
import type { Agent } from '../contracts/agent.ts'
import type { ContextReport } from '../contracts/prompt.ts'
import type { SessionEvent, SessionRecord } from '../contracts/session.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Tools } from '../contracts/tool.ts'
import type { TracedRun, Tracing } from '../contracts/tracing.ts'
import type { SharedParts } from './parts.ts'
import type { Receiver } from './receive.ts'

type Receiving = { key: string; address: Address; record(): Promise<SessionRecord | undefined>; promptContext(): Promise<ContextReport> }

export const receiverOf = ({ environment, transcripts, agents, models }: SharedParts, agent: Agent, session: Receiving): Receiver => ({
  agent,
  models,
  tools: (agents.get(agent.name) as { tools: Tools }).tools,
  key: session.key,
  now: environment.clock.now(),
  history: () => transcripts.read(session.address),
  context: () => session.promptContext(),
  wantedModel: async () => (await session.record())?.toggles.model,
})

type Event = SessionEvent | Promise<SessionEvent>

/** Some of what a message asks for has to be looked up. */
export const tellReading = (tracing: Tracing | undefined, run: TracedRun, read: () => Event): Event => {
  if (!tracing) return read()
  const start = tracing.now()
  const tell = (outcome: 'ok' | 'error'): void => tracing.span(run, { name: 'directives', start, end: tracing.now(), outcome })
  const event = read()
  if (!(event instanceof Promise)) tell('ok')
  else
    event.then(
      () => tell('ok'),
      () => tell('error'),
    )
  return event
}
