/** An agent: who answers in a session, with what model, instructions and tools, and within which bounds. */
import type { Delivery } from './channel.ts'
import type { ModelLimits, ModelSettings } from './model.ts'
import type { Profile } from './profile.ts'
import type { Tool } from './tool.ts'

export type Agent = {
  readonly name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  readonly model?: string
  readonly instructions: string
  readonly tools: readonly Tool[]
  /** Which tools of micro services on the bus it may use besides: all, none, or those whose names fit a pattern. */
  readonly services: boolean | readonly string[]
  readonly settings: ModelSettings
  readonly limits: ModelLimits
  /** How its answers are delivered where they go to a channel. */
  readonly delivery?: Delivery
  readonly profile: Partial<Omit<Profile, 'agent' | 'model'>>
}

export const defaultModelLimits: ModelLimits = { idleTimeoutMs: 60_000, totalTimeoutMs: 600_000, outputCharsMax: 2_000_000 }
