/** An agent: who answers in a session, with what model, instructions and tools, and within which bounds. */

import type { BenchOptions } from './bench.ts'
import type { HeartbeatVisibility } from './channel.ts'
import type { Model, ModelLimits, ModelSettings } from './model.ts'
import type { Profile } from './profile.ts'
import type { PromptOptions } from './prompt.ts'
import type { Route } from './reply.ts'
import type { Tool, Tools } from './tool.ts'
import type { BeforeTool } from './tool-gate.ts'

/** Turns that nobody asked for: the agent looks by itself whether there is something to say. */
export type Heartbeat = {
  /** ms between two; default 1,800,000. */
  everyMs?: number
  /** Key of the session in which it is asked; default `main`. */
  session?: string
  /** A lighter model than the one that people talk to. */
  model?: string
  prompt?: string
  /** Not outside of these hours of the day, as `hh:mm`. */
  activeHours?: { start: string; end: string; timeZone?: string }
  /** A file in the workspace; while it names nothing to do, nobody is asked. */
  checklist?: string
  /** Where an alert goes: where the last message came from, nowhere, or to a place. Default `last`. */
  target?: 'last' | 'none' | Route
  visibility?: HeartbeatVisibility
}

export type ModelChoices = {
  /** References; the model of the agent may always be chosen. */
  allowed?: readonly string[]
  /** Short names for references. */
  aliases?: Readonly<Record<string, string>>
}

export type Agent = {
  readonly name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  readonly model?: string
  readonly instructions: string
  /** What its prompt has beside them; default: what the runtime says, else nothing. */
  readonly prompt?: PromptOptions
  readonly tools: readonly Tool[]
  /** Tools of ours that it has besides: files, a shell. Default: none. */
  readonly bench?: BenchOptions
  /** Which tools of micro services on the bus it may use besides: all, none, or those whose names fit a pattern. */
  readonly services: boolean | readonly string[]
  /** Asked before each tool call, with those of extensions. */
  readonly beforeTool?: readonly BeforeTool[]
  /** The environment of packages that its tools run in, as an extension brings it. */
  readonly environment?: string
  /** Which tools of MCP servers it may use besides: all, none, or `github` and `github/search_*`. */
  readonly mcp?: boolean | readonly string[]
  /** Stands between the agent and each model that it asks, on the node where it is asked. */
  readonly wrapModel?: (model: Model) => Model
  readonly settings: ModelSettings
  readonly limits: ModelLimits
  /** Which models may answer instead of its own; default: any that there is. */
  readonly choice?: ModelChoices
  readonly profile: Partial<Omit<Profile, 'agent' | 'model'>>
}

export const defaultModelLimits: ModelLimits = { idleTimeoutMs: 60_000, totalTimeoutMs: 600_000, outputCharsMax: 2_000_000 }

/** The agents of a node by name, each with its tools. */
export type AgentTable = Map<string, { agent: Agent; tools: Tools }>
