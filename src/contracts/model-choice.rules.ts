/** Which model answers, and who said so. Pure. */
import { type Configuration, configurationDefaults } from './configuration.ts'
import { definedOf } from './defined.ts'
import type { ModelSource } from './profile.ts'
import type { Origin } from './reply.ts'

/** Other names of providers, as people write them. */
const providerAliases: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  'open-ai': 'openai',
  'openai-compat': 'openai-compatible',
  openai_compatible: 'openai-compatible',
  'z.ai': 'zai',
}

type ModelNames = {
  /** References that there are: one of them is meant by nothing but itself. */
  known: readonly string[]
  aliases: Readonly<Record<string, string>>
  /** Of a name without a provider. */
  defaultProvider: string
}

/**
 * The reference that somebody means: split at the first slash, its provider in lower case and by its own name.
 * @returns `warning` where the provider had to be guessed
 */
export const modelNamed = (words: string, { known, aliases, defaultProvider }: ModelNames): { ref: string; warning?: string } => {
  const asked = words.trim()
  if (known.includes(asked)) return { ref: asked }
  const alias = Object.entries(aliases).find(([name]) => name.toLowerCase() === asked.toLowerCase())
  if (alias) return { ref: alias[1] }
  const slash = asked.indexOf('/')
  if (slash < 1) {
    const ref = `${defaultProvider}/${asked}`
    return { ref, warning: `'${asked}' names no provider: taken as ${ref}; write provider/model-id` }
  }
  const provider = asked.slice(0, slash).toLowerCase()
  return { ref: `${Object.hasOwn(providerAliases, provider) ? providerAliases[provider] : provider}${asked.slice(slash)}` }
}

const settingsOf = (config: Configuration, agent: string) => config.agents?.list?.find(({ id }) => id === agent)

type Asked = {
  config: Configuration
  agent: { name: string; model?: string | undefined }
  /** Where neither the agent nor the configuration names one. */
  defaultRef: string
  origin?: Origin | undefined
  /** That of the session whose thread this one is. */
  inherited?: string | undefined
}

/** The model of a channel for one conversation: a thread by its own name or that of what it is in, else `*`. */
const ofChannel = ({ channels = {} }: Configuration, { channel, to, thread }: Origin): string | undefined => {
  const override = Object.hasOwn(channels, channel) ? channels[channel]?.modelOverride : undefined
  if (typeof override !== 'object') return override
  const name = [thread, to, '*'].find((one) => one !== undefined && Object.hasOwn(override, one))
  return name === undefined ? undefined : override[name]
}

/** The model below what message and session want for themselves: that of a parent, of the channel, of the agent, of all. */
export const modelBelow = ({ config, agent, defaultRef, origin, inherited }: Asked): { model: string; modelSource: ModelSource } => {
  const { defaults } = config.agents ?? {}
  const layers: [ModelSource, string | undefined][] = [
    ['parent', inherited],
    ['channel', origin && ofChannel(config, origin)],
    ['agent', settingsOf(config, agent.name)?.model ?? agent.model],
    ['default', defaults?.model],
  ]
  const [modelSource, model] = layers.find(([, ref]) => ref !== undefined) ?? ['default', defaultRef]
  return { model: model ?? defaultRef, modelSource }
}

/** The model of heartbeats where the configuration has one. */
export const heartbeatModel = (config: Configuration, agent: string): string | undefined =>
  settingsOf(config, agent)?.heartbeat?.model ?? config.agents?.defaults?.heartbeat?.model

const usualTimeoutMs = configurationDefaults.agents.defaults.timeoutMs

/** Settings of a turn besides its model: those of the agent, then those of the author, then those of all. */
export const turnDefaults = (config: Configuration, agent: string, origin: Origin | undefined) => {
  const { defaults } = config.agents ?? {}
  const own = settingsOf(config, agent)
  const channel = origin && Object.hasOwn(config.channels ?? {}, origin.channel) ? config.channels?.[origin.channel] : undefined
  return {
    // What would be so anyway need not stand in every journal.
    below: definedOf({ thinking: defaults?.thinkingDefault, runTimeoutMs: defaults?.timeoutMs === usualTimeoutMs ? undefined : defaults?.timeoutMs }),
    above: definedOf({ thinking: own?.thinkingDefault, runTimeoutMs: own?.timeoutMs }),
    // Each narrows what the author allows.
    skillFilters: [own?.skills, channel?.skillFilter],
  }
}
