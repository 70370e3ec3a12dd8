/** The works of a turn without its statecharts, so that the types of a runtime do not spell those out. */

import type { PlaceableEffect } from '../../actors/index.ts'
import type { Agent } from '../../contracts/agent.ts'
import type { SandboxOptions } from '../../contracts/bench.ts'
import type { SideInput, SideOutput } from '../../contracts/beside.ts'
import type { Clock, Environment, Logger } from '../../contracts/environment.ts'
import type { FindReferences } from '../../contracts/find-references.ts'
import type { TurnHooks } from '../../contracts/hooks.ts'
import type { Message } from '../../contracts/message.ts'
import type { Models } from '../../contracts/model.ts'
import type { ModelCallInput, ModelCallOutput } from '../../contracts/model-call.ts'
import type { PromptFile } from '../../contracts/prompt.ts'
import type { Skills } from '../../contracts/skill.ts'
import type { Tools } from '../../contracts/tool.ts'
import type { GateInput, GateOutput, ToolCallInput, ToolCallOutput } from '../../contracts/tool-call.ts'
import type { SummaryInput, SummaryOutput } from '../../contracts/turn.ts'
import type { LookUpInput, LookUpOutput, SpokenInput, Understanding } from '../../contracts/understanding.ts'
import type { Cooldowns } from '../provider/choose-credential.ts'
import type { Transcripts } from '../transcript/transcript.ts'
import type { Lanes } from './lane.effects.ts'

/** What a turn has done, by the names of its effects. Each may be done by any node, and says so that it can be repeated. */
export type TurnEffects = {
  callModel: PlaceableEffect<ModelCallOutput, ModelCallInput>
  summarise: PlaceableEffect<SummaryOutput, SummaryInput>
  /** Beside its turns. */
  askAside: PlaceableEffect<SideOutput, SideInput>
  checkTool: PlaceableEffect<GateOutput, GateInput>
  execute: PlaceableEffect<ToolCallOutput, ToolCallInput>
  lookUp: PlaceableEffect<LookUpOutput, LookUpInput>
  say: PlaceableEffect<null, SpokenInput>
}

/** Contents of files that messages name. */
type TurnFiles = { content(id: string): Promise<Uint8Array | undefined> }

/** What they need for that. */
export type TurnServices = {
  environment: Environment
  models: Models
  /** The agent of a profile with its tools. @throws RuntimeError not_found */
  agent(name: string): { agent: Agent; tools: Tools }
  transcripts: Transcripts
  cooldowns: Cooldowns
  /** Left out where there are none, and nothing that tools run in. */
  skills?: Pick<Skills, 'promptFor' | 'environmentFor'>
  /** Where commands run, and within which limits, of agents that set neither: as configured now. */
  sandbox?(): Pick<SandboxOptions, 'mode' | 'limits'> | undefined
  /** A file for the prompt. @param path relative to the workspace */
  promptFile?(path: string): Promise<PromptFile>
  /** What extensions change, where there are any that do. */
  hooks?: TurnHooks
  files: TurnFiles
  /** Who looks up what is in messages, where somebody does. */
  understanding?: Understanding
  /** What the directives of an answer refer to, where an extension reads directives. */
  references?: FindReferences
}

/** What a turn needs on the node of its session, wherever its works are done. */
export type LocalServices = {
  lanes: Lanes
  clock: Clock
  log: Logger
  /** What a thread of another session begins with: its conversation, whose files are the thread's from then on too. */
  fork(parent: string, session: string): Promise<Message[]>
}
