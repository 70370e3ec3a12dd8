/** What the storeys inside share of a runtime. `createRuntime()` hands it to them; nothing that users hold leads to it. */

import type { Directory, Host } from '../actors/index.ts'
import type { ToolNames } from '../cluster/index.ts'
import type { AgentTable } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Models } from '../contracts/model.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import type { Transcripts } from '../machines/index.ts'
import type { EventHub } from './event-hub.ts'
import type { Reception } from './receive.ts'

/** What is there before any actor is. */
export type SharedParts = {
  environment: Environment
  transport: Transport
  subjects: Subjects
  /** All actors, wherever they are. */
  directory: Directory
  outputs: EventHub
  transcripts: Transcripts
  models: Models
  agents: AgentTable
  /** By node, which of these tools it does not have; left out where there are no nodes. */
  lacking?: (wanted: ToolNames) => Promise<Map<string, ToolNames>>
  /** To be asked before anything new is begun. @throws RuntimeError closed, retryable, while draining */
  admit(): void
}

/** What the handle of a session works with. */
export type SessionParts = SharedParts &
  Reception & {
    /** Messages that something is being looked up for, by session: those behind them wait. */
    receiving: Map<string, Promise<unknown>>
  }

/** What handles on actors work with. */
export type Parts = SessionParts & {
  /** How much of a conversation is given at once, where that is not as usual. */
  history?: { messages?: number; bytesMax?: number }
  /** The actors of this process. */
  host: Host
}
