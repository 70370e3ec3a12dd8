/** Skills: instructions for particular tasks, in folders with a `SKILL.md`, of which the model is shown a line each and reads what it needs. */
import { z } from 'zod'
import type { Profile } from './profile.ts'
import type { Tool } from './tool.ts'

/** As a folder is called, and as filters name it. */
export const skillName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const skillNameMax = 64

/** Names of skills that may be used; empty for none. */
export const SkillFilter = z.array(z.string().min(1).max(200)).max(200)

/** What a run may use of them: frozen with its message. */
export type RunSkills = Pick<Profile, 'agent' | 'skillFilter' | 'skillsVersion'>

/** Someone wrote `/<command> args`. `tool` where it is called with that, and no model asked. */
export const SkillCommand = z.strictObject({
  skill: z.string().max(200),
  command: z.string().max(32),
  args: z.string(),
  tool: z.string().max(64).optional(),
})
export type SkillCommand = z.infer<typeof SkillCommand>

/** A part of the system prompt, and what of it each skill takes. */
export type SkillSection = { name: string; text: string; items?: readonly { name: string; chars: number }[] }

/** What stands in the journal with the first answer of a run; `absent` are those that cannot be used, and why. */
export type SkillsUsed = { version: string; names?: string[]; absent?: { name: string; why: string }[] }

/** @property hasSkills whether the model may read some; without them it is not told of the tool for that */
export type SkillsPrompt = { sections: SkillSection[]; hasSkills: boolean; used?: SkillsUsed }

/** What processes of a run get besides. `secrets` are the values that nobody else may see. */
export type RunEnvironment = { env: Readonly<Record<string, string>>; secrets: readonly string[] }

/** `kind` is `workspace`, `managed`, `bundled`, `extra`, `mcp`, `lsp`, or what else tools say of their source. */
export type ListedSkill = {
  name: string
  description: string
  kind: string
  /** Which of that kind, such as a folder or a server. */
  source: string
  path?: string
  eligible: boolean
  /** Why it cannot be used. */
  why?: string
  /** How users call it, without the slash. */
  command?: string
  /** The model is not told of it. */
  hidden?: true
  /** JSON Schema of what a tool takes. */
  parameters?: Record<string, unknown>
}
/** A folder that is no skill, and what to mend. */
export type SkillProblem = { path: string; kind: string; problem: string; hint: string }
export type SkillList = { version: string | null; builtAt: number; builds: number; skills: ListedSkill[]; problems: SkillProblem[] }

/** How a named environment is on this node; `failed` ones are tried again. */
export type EnvironmentStatus = {
  name: string
  extension: string
  agents: string[]
  state: 'inactive' | 'activating' | 'active' | 'failed'
  /** What the extension says of it. */
  details?: unknown
  path?: string[]
  error?: string
}

/** The skills of a node, and the named environments of its agents. */
export interface Skills {
  /** Stands for the newest state of all folders; undefined where nothing is found. */
  readonly version: string | undefined
  /** What the model is told; undefined where there are neither skills nor environments. Never throws. */
  promptFor(run: RunSkills): Promise<SkillsPrompt> | undefined
  /** Variables for the processes that tools of a run start. Never throws. */
  environmentFor(run: RunSkills): Promise<RunEnvironment> | undefined
  /** The command with which a text begins. */
  commandIn(text: string, run: RunSkills): SkillCommand | undefined
  /** What users may call. */
  commands(run: RunSkills): { command: string; description: string }[]
  list(): SkillList
  environments(): Promise<EnvironmentStatus[]>
  /** `read_skill`, while there is something to read. */
  readonly source: { offered(): ReadonlyMap<string, Tool>; allows(name: string): boolean; readonly tool: Tool }
}
export const readSkillName = 'read_skill'
