/** What the parts of a runtime share. */

import type { Host } from '../actors/host.ts'
import type { Transcripts } from '../actors/transcript.ts'
import type { Agent } from '../contracts/agent.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Models } from '../contracts/model.ts'
import type { Tools } from '../contracts/tool.ts'
import type { Transport } from '../contracts/transport.ts'
import type { SendRule } from '../rules/inbound.ts'
import type { Channels } from './channel-table.ts'
import type { Directory } from './directory.ts'
import type { Outputs } from './outputs.ts'
import type { ToolNames } from './tools-elsewhere.ts'

export type Services = {
  environment: Environment
  transport: Transport
  /** The actors of this process. */
  host: Host
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
  agents: Map<string, { agent: Agent; tools: Tools }>
  /** By node, which of these tools it does not have; left out where there are no nodes. */
  lacking?: (wanted: ToolNames) => Promise<Map<string, ToolNames>>
  /** To be asked before anything new is begun. @throws RuntimeError closed, retryable, while draining */
  admit(): void
}
