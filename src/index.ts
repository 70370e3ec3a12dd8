/** What `import … from 'statecast'` offers. */
/// <reference types="node" preserve="true" />
import type { Transport } from './contracts/transport.ts'
import { systemEnvironment } from './runtime/index.ts'
import { openTransport as open, type TransportOptions } from './transport/index.ts'

export type { Replayed, TraceEntry } from './actors/index.ts'
export {
  type ActorDirectory,
  chart,
  directoryOf,
  type EffectInfo,
  effect,
  fromTask,
  machineSignature,
  type RemoteInput,
  remote,
  type TaskScope,
  toJson,
  toMermaid,
} from './actors/index.ts'
export type { Agent, Heartbeat } from './contracts/agent.ts'
export type { AskEvent, AskInput, AskOutput, AskReport } from './contracts/ask.ts'
export type { Channel, Delivery, SendKind, SendOptions as ChannelSendOptions } from './contracts/channel.ts'
export { constant, constantAt, constantWith } from './contracts/constant.ts'
export type { DeskAnswer, DeskInput, DeskRequest } from './contracts/desk.ts'
export type { Clock, Environment, FailPoints, Ids, Logger, Random } from './contracts/environment.ts'
export { type ErrorBody, type ErrorCode, errorCodes, isRuntimeError, RuntimeError } from './contracts/errors.ts'
export { parseExact, withDigitsAsText } from './contracts/exact-json.ts'
export type { AnyEvent, Commit, Input, Receipt } from './contracts/journal.ts'
export { type Unsendable, unsendableIn } from './contracts/json-kinds.rules.ts'
export type { Message, Usage } from './contracts/message.ts'
export type { Model, ModelDelta, ModelRequest, ModelResponse } from './contracts/model.ts'
export { type Placeholders, placeholdersIn } from './contracts/placeholders.ts'
export type { PublisherEvent, PublisherInput, PublisherOutput } from './contracts/publisher.ts'
export type { Origin, Payload, Route } from './contracts/reply.ts'
export type { SessionCommand, SessionOutput } from './contracts/session.ts'
export type { QueueMode, Toggles } from './contracts/settings.ts'
export { type Address, formatAddress, parseAddress, subjects } from './contracts/subjects.ts'
export type { Tool, ToolContext } from './contracts/tool.ts'
export type { Transport } from './contracts/transport.ts'
export type { Approval, TurnOutput } from './contracts/turn.ts'
export { askAgent, askAgentByStep } from './machines/index.ts'
export { scriptedModel } from './models/index.ts'
export type {
  Actor,
  ActorChild,
  ActorSnapshot,
  AgentDefinition,
  ChildSnapshot,
  CommandBy,
  Extension,
  ExtensionCommand,
  ExtensionParts,
  Metrics,
  Receive,
  Receiver,
  Run,
  RunEvent,
  SendOptions,
  Session,
  SessionSockets,
  SessionView,
  WaitOptions,
} from './runtime/index.ts'
export { agent, command, defineApp, now, random, uuid } from './runtime/index.ts'
export { createRuntime, type Health, type Machines, type Runtime, type RuntimeOptions } from './runtime.ts'
export { builtInTools, hashOf, type ToolDefinition, tool } from './tools/index.ts'

/** Opens a transport by its address, on the clock of this machine unless another environment is given. @see src/transport/open.ts */
export const openTransport = (url: string, { environment = systemEnvironment(), ...options }: Partial<TransportOptions> = {}): Promise<Transport> =>
  open(url, { environment, ...options })
