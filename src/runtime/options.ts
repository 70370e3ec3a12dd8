/** What `createRuntime` and an app file take. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { HostLimits } from '../actors/index.ts'
import type { Agent } from '../contracts/agent.ts'
import type { Channel, SendRule } from '../contracts/channel.ts'
import type { Configuration } from '../contracts/configuration.ts'
import type { Environment } from '../contracts/environment.ts'
import type { CredentialSource } from '../contracts/model.ts'
import type { Role } from '../contracts/placement.ts'
import type { PromptOptions } from '../contracts/prompt.ts'
import type { ToolPolicy } from '../contracts/tool-policy.ts'
import type { Transport } from '../contracts/transport.ts'
import type { Credentials, CustomModel } from '../models/index.ts'
import type { McpOptions, SkillOptions } from '../tools/index.ts'
import type { CheckDeterminism } from './determinism.ts'
import type { Extension } from './extension.ts'
import type { UploadLimits } from './files/index.ts'
import type { Machines } from './interface.ts'
import type { RedactionOptions } from './redaction/redactor.ts'
import type { Retention } from './retention.ts'

export type RuntimeOptions<Registered extends Machines = Machines> = {
  /** Who answers; the first one is the default. Without any, an agent `main` with those tools of ours that only read. */
  agents?: readonly Agent[]
  /** What `statecast config` shows and lays its changes over, see docs/reference/configuration.md. */
  config?: Configuration
  /** Where credentials are looked for, in this order; default: `config` (the option `credentials`), `environment`, `store`. */
  credentialOrder?: readonly CredentialSource[]
  /** A JSON file with credentials by provider that only its owner may read. Default: `STATECAST_CREDENTIALS`, else `credentials.json` in the data folder. */
  credentialStore?: string
  /** Systems on top of sessions and actors; default: `chat()` of `statecast/chat`, with the two options below. `[]` is a runtime without any. A text is the path of a module, whose default export is one. */
  extensions?: readonly (Extension | string)[]
  /** Short for `extensions: [chat({ channels })]`: where messages come from and answers go to, besides our own `web` and `stdio`. */
  channels?: readonly Channel[]
  /** Models that answer where the one of an agent fails that lists no `fallbacks` of its own, in this order. */
  fallbacks?: readonly string[]
  /** Short for `extensions: [chat({ sendPolicy })]`: where answers may go; a rule that denies wins over one that allows. Default: everywhere. */
  sendPolicy?: readonly SendRule[]
  /** Which tools agents may use, and where; what an agent says itself comes on top. Default: all that it has. See docs/guides/tools.md. */
  toolPolicy?: ToolPolicy
  /** How many turns run at once on this node, by lane; agents name theirs. Default: no limit. */
  lanes?: Record<string, number>
  /** XState machines of your own, made durable under their key; with options as `{ machine, … }`. */
  machines?: Registered
  /** Credentials by provider, where there are several: one that fails rests while another one is used. Default: the variables of the environment. */
  credentials?: Credentials
  /** Models under references of your own: AI SDK models, scripts, or anything that fits the port. */
  models?: Record<string, CustomModel>
  /** `embedded:<folder>`, `memory:`, `nats://host:port` (see docs/reference/nats.md), or an open transport, which then stays yours to close. Default `STATECAST_URL`, else `embedded:./.statecast`. */
  transport?: string | Transport
  /** How to connect to NATS, beyond what its address says: an authenticator, certificates, an inbox prefix. */
  nats?: ConnectionOptions
  /** Copies of everything on that many servers of a NATS cluster, 1 to 5; counts where the streams are made. Default: 3 on a cluster of three or more, else 1. */
  replicas?: number
  /** What `statecast export --redact` keeps and takes out beyond what it does by itself; see docs/guides/traces.md. */
  redaction?: RedactionOptions
  /** What is kept; default: everything. */
  retention?: Retention
  /** How many bytes of a conversation `chat.history` gives at once (default 6 MiB); how many messages, `session.historyMax` of the configuration says. */
  history?: { bytesMax?: number }
  /** How many bytes of uploads are kept that no message names yet: of one token (default 100,000,000), and in all (default 1,000,000,000). */
  uploads?: UploadLimits
  /** What to do with actors whose journal was written by a machine of another structure; default `refuse`. */
  onDrift?: 'refuse' | 'force'
  /**
   * Applies inputs of your machines twice, to find functions that read a clock or chance before a crash does: a `sample` is looked at and logged, `always`
   * refuses such an input with `not_deterministic`. Default: `sample`, and `off` where `NODE_ENV` is `production`. Costs: docs/guides/app.md.
   */
  checkDeterminism?: CheckDeterminism
  /** What the system prompts of agents have that say nothing of it themselves: `{ files: ['AGENTS.md'] }`. Default: nothing but their instructions. */
  prompt?: PromptOptions
  /** Folder that the tools for files may read, and for agents with `bench: { files: 'rw' }` write. Default: the working directory. */
  workspace?: string
  /** Skills beside those in `<workspace>/skills` and in `skills` of the data folder, and settings of skills; false for none. See docs/guides/skills.md. */
  skills?: SkillOptions | false
  environment?: Partial<Environment>
  limits?: Partial<HostLimits>
  /** First token of all subjects. */
  prefix?: string
  /** Kept beside the lock of an embedded folder, for a process that finds it taken. */
  owner?: Record<string, string>
  /** False takes up neither work that was cut off nor stored messages: to look at a folder without setting anything going. Default true. */
  resume?: boolean
  /** Servers of the Model Context Protocol, whose tools agents may use with `mcp`; see docs/guides/mcp.md. */
  mcp?: McpOptions
  /** What this node does among those that share a NATS; default: everything. */
  roles?: readonly Role[]
  /** Offers every agent to clients of the Synadia Agent Protocol, see docs/reference/agent-protocol.md. Default: none. */
  agentProtocol?: AgentProtocolOptions
  /**
   * Where models and tools are called: `beside` the session, on its own node if that has the role, or `distributed` over all nodes that have it.
   * Default `beside`.
   */
  placement?: 'beside' | 'distributed'
}

export type AgentProtocolOptions = {
  /** Whose agents these are: a token of their subjects, 1 to 63 letters, digits, `_` or `-`. */
  owner: string
  /** Conversations that are announced, and then the only ones. Without it `main` is, and any other name begins one of its own. */
  names?: readonly string[]
}
