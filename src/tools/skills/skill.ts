/** What is known of a skill once its folder has been read. */

/** Who wins where two have one name: the first. */
export type SkillKind = 'workspace' | 'managed' | 'bundled' | 'extra'

export type Requirements = {
  /** Skips what follows, `os` aside. */
  always?: boolean | undefined
  /** `linux`, `darwin`, `win32`. */
  os?: readonly string[] | undefined
  bins?: readonly string[] | undefined
  anyBins?: readonly string[] | undefined
  env?: readonly string[] | undefined
  config?: readonly string[] | undefined
}

/** What its SKILL.md says. */
export type SkillManual = {
  name: string
  description: string
  requires: Requirements
  /** The variable that its key goes to. */
  primaryEnv?: string | undefined
  modelInvocable: boolean
  userInvocable: boolean
  /** A tool that its command calls, without the model. */
  commandTool?: string | undefined
}

export type FoundSkill = SkillManual & {
  kind: SkillKind
  /** Its folder, absolute, links resolved. */
  folder: string
  /** What the model is told of where it is: the same on every machine. */
  location: string
  /** Of its SKILL.md. */
  hash: string
}

export type Skill = FoundSkill & { eligible: boolean; why?: string; command?: string }
