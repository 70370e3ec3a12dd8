/** Who receives a message of a session. */
import type { Agent } from '../contracts/agent.ts'
import type { ContextReport } from '../contracts/prompt.ts'
import type { SessionRecord } from '../contracts/session.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Tools } from '../contracts/tool.ts'
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
