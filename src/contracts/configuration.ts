/** The configuration of a runtime: its keys, their defaults, and what stands above what. See docs/reference/configuration.md. */
import { z } from 'zod'
import { SandboxLimits, sandboxLimitDefaults, sandboxModes } from './bench.ts'
import { ModelReference } from './model-ref.ts'
import { ThinkingLevel } from './settings.ts'

const Name = z.string().min(1).max(200)
const AgentId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of an agent: letters, digits, _ or -')
const Names = z.array(Name).max(200)
const timeoutMs = z.number().int().min(1).max(86_400_000)
const heartbeat = z.strictObject({ model: ModelReference }).partial()

/** How direct messages of people become conversations. */
export const SessionScope = z.enum(['main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer'])
export type SessionScope = z.infer<typeof SessionScope>

const AgentConfig = z.strictObject({
  id: AgentId,
  model: ModelReference.optional(),
  thinkingDefault: ThinkingLevel.optional(),
  heartbeat: heartbeat.optional(),
  timeoutMs: timeoutMs.optional(),
  skills: Names.optional(),
})

const ChannelConfig = z
  .strictObject({
    /** For all of the channel, or by conversation, where `*` is any. */
    modelOverride: z.union([ModelReference, z.record(Name, ModelReference)], {
      error: 'must be a model reference, or model references by conversation',
    }),
    skillFilter: Names,
  })
  .partial()

/** What of it is left out holds as the app, or the table of defaults, says. */
export const Configuration = z
  .strictObject({
    agents: z
      .strictObject({
        defaults: z
          .strictObject({
            model: ModelReference,
            thinkingDefault: ThinkingLevel,
            timeoutMs,
            heartbeat,
            sandbox: z.strictObject({ mode: z.enum(sandboxModes), limits: SandboxLimits }).partial(),
          })
          .partial(),
        list: z
          .array(AgentConfig)
          .max(200)
          .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'names an agent twice'),
      })
      .partial(),
    channels: z.record(Name, ChannelConfig),
    models: z
      .strictObject({
        allowed: z.array(ModelReference).max(200),
        aliases: z.record(Name, ModelReference),
        defaultProvider: z.string().regex(/^[^/\s]{1,100}$/, 'must be the name of a provider, without a slash'),
      })
      .partial(),
    session: z
      .strictObject({
        store: z.string().min(1).max(2000),
        scope: SessionScope,
        identityLinks: z.record(Name, Names),
        historyMax: z.number().int().min(1).max(1000),
      })
      .partial(),
    typing: z.strictObject({ intervalMs: z.number().int().min(0).max(600_000) }).partial(),
    gateway: z
      .strictObject({
        bufferedBytesMax: z
          .number()
          .int()
          .min(16 * 1024)
          .max(16 * 1024 * 1024),
        dropIfSlow: z.strictObject({ delta: z.boolean(), tick: z.boolean(), health: z.boolean(), state: z.boolean() }).partial(),
      })
      .partial(),
  })
  .partial()
export type Configuration = z.infer<typeof Configuration>

/** Holds where neither the app nor anybody since has said something else. */
export const configurationDefaults = {
  agents: { defaults: { timeoutMs: 600_000, sandbox: { mode: 'auto', limits: sandboxLimitDefaults } } },
  session: { scope: 'main', historyMax: 200 },
  typing: { intervalMs: 6_000 },
  gateway: { bufferedBytesMax: 1.5 * 1024 * 1024, dropIfSlow: { delta: true, tick: true, health: true, state: true } },
} as const satisfies Configuration

/** With its defaults: what is there is always there. */
export type FullConfiguration = Configuration & {
  session: { scope: SessionScope; historyMax: number }
  typing: { intervalMs: number }
  gateway: { bufferedBytesMax: number; dropIfSlow: { delta: boolean; tick: boolean; health: boolean; state: boolean } }
}

/** The configuration as it holds now. `hash` is that of what is stored, not of what it stands on. */
export type ConfigurationView = { value: FullConfiguration; hash: string }
