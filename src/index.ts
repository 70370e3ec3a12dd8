/** What `import … from 'statecast'` offers. */
import type { Transport } from './contracts/transport.ts'
import { systemEnvironment } from './environment.ts'
import { openTransport as open, type TransportOptions } from './transport/open.ts'

export { type EffectInfo, effect, fromTask, type TaskScope } from './actors/effect.ts'
export type { Replayed, TraceEntry } from './actors/replay.ts'
export type { Agent } from './contracts/agent.ts'
export type { Clock, Environment, FailPoints, Ids, Logger, Random } from './contracts/environment.ts'
export { type ErrorBody, type ErrorCode, errorCodes, isRuntimeError, RuntimeError } from './contracts/errors.ts'
export type { AnyEvent, Commit, Input, Receipt } from './contracts/journal.ts'
export type { Message, Usage } from './contracts/message.ts'
export type { Model, ModelDelta, ModelRequest, ModelResponse } from './contracts/model.ts'
export type { Approval, QueueMode, SessionCommand, SessionOutput, TurnOutput } from './contracts/session.ts'
export { type Address, formatAddress, parseAddress, subjects } from './contracts/subjects.ts'
export type { Tool, ToolContext } from './contracts/tool.ts'
export type { Transport } from './contracts/transport.ts'
export { chart, toJson } from './machines/chart.ts'
export { machines } from './machines/index.ts'
export { toMermaid } from './machines/mermaid.ts'
export { machineSignature } from './machines/signature.ts'
export { scriptedModel } from './models/scripted.ts'
export { Actor, type ActorSnapshot } from './runtime/actor.ts'
export { type AgentDefinition, agent } from './runtime/agent.ts'
export { defineApp } from './runtime/app.ts'
export { Run, type RunEvent } from './runtime/run.ts'
export { type SendOptions, Session, type SessionView } from './runtime/session.ts'
export { createRuntime, type Health, type Runtime, type RuntimeOptions } from './runtime.ts'
export { builtInTools } from './tools/built-in/built-in.ts'
export { type ToolDefinition, tool } from './tools/tool.ts'

/** Opens a transport by its address, on the clock of this machine unless another environment is given. @see src/transport/open.ts */
export const openTransport = (url: string, { environment = systemEnvironment(), ...options }: Partial<TransportOptions> = {}): Promise<Transport> =>
  open(url, { environment, ...options })
