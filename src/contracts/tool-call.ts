/** What the actor of a tool call and its effects are given, and what they answer: in the journal, too. */
import type { Profile } from './profile.ts'
import type { CrashPolicy, ToolCall } from './tool.ts'
import type { GateVerdict } from './tool-gate.ts'

type ToolPlace = { session: string; conversation?: string; runId: string; call: ToolCall; thread?: Record<string, unknown> } & Pick<
  Profile,
  'agent' | 'skillFilter' | 'skillsVersion'
>
export type ToolInput = ToolPlace & {
  inDoubt: Profile['inDoubt']
  approval?: Profile['approval']
  pauses?: true
  /** Tools for which a person of this session has agreed once and for all. */
  allowed?: string[]
  /** Whoever is above runs calls of tools that are delegated. */
  delegates?: true
  /** Nobody has asked for the turn, so that nobody is there who could agree to anything. */
  unattended?: true
}
export type GateInput = ToolPlace
export type GateOutput = { kind: 'gate'; runId: string; callId: string; name: string; verdict: GateVerdict }
export type ToolCallInput = ToolPlace & { attempt: number; onCrash: CrashPolicy }
export type ToolCallOutput = { kind: 'tool'; id: string; conversation?: string; callId: string; name: string; output: unknown } & Artifacts
/** What the call gave beside its answer. */
type Artifacts = { artifacts?: Record<string, unknown> }
