/** What `createRuntime` and an app file take. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { HostLimits } from '../actors/index.ts'
import type { Agent } from '../contracts/agent.ts'
import type { Channel, SendRule } from '../contracts/channel.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Role } from '../contracts/placement.ts'
import type { Transport } from '../contracts/transport.ts'
import type { Credentials, CustomModel } from '../models/index.ts'
import type { CheckDeterminism } from './determinism.ts'
import type { Extension } from './extension.ts'
import type { Machines } from './interface.ts'
import type { Retention } from './retention.ts'

export type RuntimeOptions<Registered extends Machines = Machines> = {
  /** Who answers; the first one is the default. Without any, an agent `main` with the built-in tools. */
  agents?: readonly Agent[]
  /** Systems on top of sessions and actors; default: `chat()` of `statecast/chat`, with the two options below. `[]` is a runtime without any. */
  extensions?: readonly Extension[]
  /** Short for `extensions: [chat({ channels })]`: where messages come from and answers go to, besides our own `web` and `stdio`. */
  channels?: readonly Channel[]
  /** Models that answer where the one of an agent fails that lists no `fallbacks` of its own, in this order. */
  fallbacks?: readonly string[]
  /** Short for `extensions: [chat({ sendPolicy })]`: where answers may go; a rule that denies wins over one that allows. Default: everywhere. */
  sendPolicy?: readonly SendRule[]
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
  /** What is kept; default: everything. */
  retention?: Retention
  /** How much of a conversation `chat.history` gives at once: messages where nobody says how many (default 200), and bytes (default 6 MiB). */
  history?: { messages?: number; bytesMax?: number }
  /** What to do with actors whose journal was written by a machine of another structure; default `refuse`. */
  onDrift?: 'refuse' | 'force'
  /**
   * Applies inputs of your machines twice, to find functions that read a clock or chance before a crash does: a `sample` is looked at and logged, `always`
   * refuses such an input with `not_deterministic`. Default: `sample`, and `off` where `NODE_ENV` is `production`. Costs: docs/guides/app.md.
   */
  checkDeterminism?: CheckDeterminism
  /** Folder that the built-in file tools may read. Default: the working directory. */
  workspace?: string
  environment?: Partial<Environment>
  limits?: Partial<HostLimits>
  /** First token of all subjects. */
  prefix?: string
  /** Kept beside the lock of an embedded folder, for a process that finds it taken. */
  owner?: Record<string, string>
  /** False takes up neither work that was cut off nor stored messages: to look at a folder without setting anything going. Default true. */
  resume?: boolean
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
