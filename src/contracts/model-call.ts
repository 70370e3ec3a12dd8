/** One call of a model, between the loop and the effect that makes it. */
import type { OutgoingChange } from './hooks.ts'
import type { Usage } from './message.ts'
import type { CredentialSource, ModelResponse } from './model.ts'
import type { Placeholders } from './placeholders.ts'
import type { ModelSource, Profile } from './profile.ts'
import type { PromptHashes, PromptReport } from './prompt.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import type { References } from './references.ts'
import type { ThinkingLevel } from './settings.ts'
import type { SkillCommand, SkillsUsed } from './skill.ts'
import type { ToolCall } from './tool.ts'

/** What the model effect is asked for, and what it answers. The answer stands in the journal and is the transcript's text. */
export type ModelCallInput = {
  session: string
  /** Which of the conversations inside its actor this is, where that is no session. */
  conversation?: string
  runId: string
  profile: Profile
  model: string
  thinking?: ThinkingLevel
  /** Added to the instructions of the agent. */
  intro?: string
  placeholders?: Placeholders
  /** Nobody reads the answer: the prompt has its least form. */
  minimal?: true
  /** How often the conversation has been shortened. */
  compactions?: number
  /** What stood before the conversation at the call before. */
  prefix?: PromptHashes
  /** What extensions have added at the first call of this turn. */
  told?: string
  /** Credentials of its provider that have failed in this turn, and the one that the session has used before. */
  tried?: string[]
  pinned?: string
  /** Tokens of the conversation at the call before, and when that was, in ms since the epoch. */
  tokens?: number
  lastCallAt?: number
  /** Answered by its tool, without the model. */
  command?: SkillCommand
  /** Whether long results of tools are to be cut, since everything together was too long. */
  shorten?: true
  upTo: number
  call: number
}
export type ModelCallOutput = {
  kind: 'model'
  id: string
  conversation?: string
  text: string
  reasoning: string
  calls: ToolCall[]
  usage: Usage
  model: string
  partial: boolean
  /** What its provider wants back with it. */
  providerMetadata?: ProviderMetadata
  /** What the directives in its text refer to, where it may hold some. */
  references?: References
  /** Journals written before this field have none. */
  finish?: ModelResponse['finish']
  /** ms since the epoch when it was asked, and ms until it had answered. */
  at?: number
  durationMs?: number
  /** What it was shown had calls without results, or the like, that were mended first. */
  repaired?: true
  /** Tokens that the model can read, where known. */
  contextTokens?: number
  /** What the call cost in USD, where the price is known. */
  costUsd?: number
  /** The credential that was used, where there are several; `flat` if it is not paid by the token. */
  credential?: string
  flat?: true
  /** Which model was asked, who said so, and where its credential came from; never the credential. */
  chosen?: { model: string; source?: ModelSource; credential?: CredentialSource }
  /** The skills that it was told of; names with the first call of a run. */
  skills?: SkillsUsed
  /** What stood before the conversation, where that is not as it was. */
  prompt?: PromptReport
  /** What extensions have added to its instructions. */
  told?: string
  /** Which extensions have changed what it said, or kept it from being sent, in that order. */
  outgoing?: OutgoingChange[]
}
