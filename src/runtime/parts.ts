/** What the storeys inside share of a runtime. `createRuntime()` hands it to them; nothing that users hold leads to it. */

import type { Host } from '../actors/index.ts'
import type { Channels } from '../chat/channels/channel-table.ts'
import type { SendRule } from '../chat/inbound/dedupe.rules.ts'
import type { Directory, ToolNames } from '../cluster/index.ts'
import type { AgentTable } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Models } from '../contracts/model.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import type { Transcripts } from '../machines/index.ts'
import type { Outputs } from './event-hub.ts'

/** What is there before any actor is. */
export type SharedParts = {
  environment: Environment
  transport: Transport
  subjects: Subjects
  /** All actors, wherever they are. */
  directory: Directory
  outputs: Outputs
  transcripts: Transcripts
  models: Models
  channels: Channels
  /** Messages whose orders are being looked into, by session: those behind them wait. */
  intake: Map<string, Promise<unknown>>
  /** Where answers may go; see `sendPolicy` of the runtime. */
  sendRules: readonly SendRule[]
  agents: AgentTable
  /** By node, which of these tools it does not have; left out where there are no nodes. */
  lacking?: (wanted: ToolNames) => Promise<Map<string, ToolNames>>
  /** To be asked before anything new is begun. @throws RuntimeError closed, retryable, while draining */
  admit(): void
}

/** What handles on actors work with. */
export type Parts = SharedParts & {
  /** The actors of this process. */
  host: Host
}
