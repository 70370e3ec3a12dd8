/** Who receives a message of a session, and when it has been read. */
import type { Agent } from '../contracts/agent.ts'
import type { ContextReport } from '../contracts/prompt.ts'
import type { SessionEvent, SessionRecord } from '../contracts/session.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Tools } from '../contracts/tool.ts'
import type { SharedParts } from './parts.ts'
import type { Receiver } from './receive.ts'

type Receiving = { key: string; address: Address; record(): Promise<SessionRecord | undefined>; promptContext(): Promise<ContextReport> }

export const receiverOf = (
  { environment, transcripts, agents, models, skills, config }: SharedParts,
  agent: Agent,
  session: Receiving,
): Receiver => ({
  agent,
  models,
  skills,
  config: config.view,
  tools: (agents.get(agent.name) as { tools: Tools }).tools,
  key: session.key,
  now: environment.clock.now(),
  history: () => transcripts.read(session.address),
  context: () => session.promptContext(),
  wantedModel: async () => (await session.record())?.toggles.model,
})

/** Some of what a message asks for has to be looked up. */
export const whenRead = (event: SessionEvent | Promise<SessionEvent>, lap: (name: string) => void): void => {
  if (event instanceof Promise)
    event.then(
      () => lap('directives'),
      () => undefined,
    )
  else lap('directives')
}
