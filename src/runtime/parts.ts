/** What the storeys inside share of a runtime. `createRuntime()` hands it to them; nothing that users hold leads to it. */

import type { Directory, Host } from '../actors/index.ts'
import type { ToolNames } from '../cluster/index.ts'
import type { AgentTable } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Models } from '../contracts/model.ts'
import type { Skills } from '../contracts/skill.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import type { Transcripts } from '../machines/index.ts'
import type { McpServers } from '../tools/index.ts'
import type { ConfigurationStore } from './configuration.ts'
import type { TokenDocument } from './documents.ts'
import type { EventHub } from './event-hub.ts'
import type { FileStore } from './files/index.ts'
import type { Reception } from './receive.ts'
import type { Redaction } from './redaction/redacted-trace.ts'
import type { RunTraces } from './run-traces.ts'
import type { StaleOverrides } from './stale-overrides.ts'

/** What is there before any actor is. */
export type SharedParts = {
  environment: Environment
  /** What runs of this node did when. */
  traces: RunTraces
  transport: Transport
  subjects: Subjects
  /** All actors, wherever they are. */
  directory: Directory
  outputs: EventHub
  transcripts: Transcripts
  models: Models
  agents: AgentTable
  /** What is configured now, and the tokens that open doors besides the node's own. */
  config: ConfigurationStore
  tokens: TokenDocument
  overrides: StaleOverrides
  skills: Skills
  mcp: McpServers
  /** What people send with their messages. */
  files: FileStore
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
  redaction: Redaction
  /** How much of a conversation is given at once, where that is not as usual. */
  history?: { bytesMax?: number }
  /** The actors of this process. */
  host: Host
}
