/** The model port: one call of one model, as the turn's machine sees it. */
import type { AnswerFormat, ToolChoice } from './answer-format.ts'
import type { ErrorBody } from './errors.ts'
import type { FileRef } from './file.ts'
import type { Message, Usage, UserMessage } from './message.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

/** What the model is told about a tool. `inputSchema` is JSON Schema. */
export type ToolDescription = { name: string; description: string; inputSchema: Record<string, unknown> }

export type ModelSettings = {
  temperature?: number
  maxOutputTokens?: number
  reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'
}

export type ModelLimits = {
  /** ms without any sign of life before the call fails with provider_timeout. */
  idleTimeoutMs: number
  /** ms for the whole call. */
  totalTimeoutMs: number
  /** Characters of text, reasoning and tool input together; an endless stream ends here with provider_malformed. */
  outputCharsMax: number
}

/** A file with what is in it; without that, `missing` says why, such as `is no longer there`. */
export type ModelFile = FileRef & { data?: Uint8Array; missing?: string }
/** A message as a model gets it. */
export type ModelMessage = Exclude<Message, UserMessage> | (Omit<UserMessage, 'files'> & { files?: ModelFile[] })

export type ModelRequest = {
  instructions: string
  messages: ModelMessage[]
  tools: ToolDescription[]
  /** Default: the model decides. */
  toolChoice?: ToolChoice
  /** Default: text. */
  format?: AnswerFormat
  settings: ModelSettings
  limits: ModelLimits
}

/** A piece of output in flight; hints only, the response is the truth. */
export type ModelDelta = { kind: 'text' | 'reasoning'; text: string }

/** A tool call with its input still unchecked: `input` is the JSON text that the model wrote. */
export type ModelToolCall = { callId: string; name: string; input: string }

/** Whether a provider takes back the name of a tool, with what it does not know in it replaced. */
export const isSendableName = (name: string): boolean => name !== '' && name.length <= 64 && !/\s/.test(name)

export type ModelResponse = {
  text: string
  reasoning: string
  calls: ModelToolCall[]
  usage: Usage
  finish: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'
  /** Provider and model that answered, as the provider says. */
  model: string
  /** What its provider wants back with it. */
  providerMetadata?: ProviderMetadata
  /** True when the call was stopped by its signal: what had come by then. */
  partial: boolean
}

/** USD per million tokens. Tokens of the cache cost as much as others where no price of their own is named. */
export type Price = { input: number; output: number; cacheRead?: number; cacheWrite?: number }

/** What is known of a model beside its name; what is left out is not known. */
export type ModelInfo = {
  contextTokens?: number
  /** Whether it can think before it answers. */
  reasoning?: boolean
  /** Whether it takes the thinking level `xhigh`. */
  xhigh?: boolean
  price?: Price
}

/** One of several credentials of a provider; what is secret in it never leaves the adapter. */
export type CredentialProfile = { id: string; type: 'oauth' | 'token' | 'key'; source?: CredentialSource }

/** Where credentials are looked for, in this order: the first that has any for a provider counts. */
export const credentialSources = ['config', 'environment', 'store'] as const
export type CredentialSource = (typeof credentialSources)[number]

export interface Model {
  /** `provider/model-id` */
  readonly ref: string
  /** Tokens that the model can read, where known. */
  readonly contextTokens?: number
  readonly info?: ModelInfo
  /** Files that it reads beside texts. Where it does not say, it is shown images, and nothing else. */
  readonly accepts?: { images?: boolean; pdf?: boolean; audio?: boolean; video?: boolean }
  /**
   * Streams one answer. When `signal` aborts, resolves at once with what has come so far and `partial: true`.
   * @throws RuntimeError provider_*, with `data.retryAfterMs` where the provider said so; never a half answer
   */
  call(request: ModelRequest, options: { signal: AbortSignal; onDelta: (delta: ModelDelta) => void }): Promise<ModelResponse>
}

/** Finds a model by reference, loading its provider only then. @throws RuntimeError provider_unknown_model, provider_auth */
export interface Models {
  /** @param profile id of the credential to use; without it, the first that a provider has */
  get(ref: string, profile?: string): Promise<Model>
  /** The credentials that can open this model, as they were configured; none for a model that needs none. */
  profiles?(ref: string): CredentialProfile[]
  /** The address that this model is called at, without a secret in it; undefined for a model of the app. */
  endpoint?(ref: string): string | undefined
  /** The model of agents that name none: a real provider when its key is set, else `scripted/offline`. */
  readonly defaultRef: string
  list(): { ref: string; available: boolean; why?: string }[]
}

/** Why another credential, or another model, may do better. */
export const failoverReasons = ['billing', 'rate_limit', 'auth', 'timeout', 'format', 'unavailable', 'unknown_model', 'context_window'] as const
export type FailoverReason = (typeof failoverReasons)[number]

/** How a failed call is treated, decided by the code alone. */
export const retryableModelError = (error: ErrorBody): boolean =>
  error.code === 'provider_rate_limit' ||
  error.code === 'provider_timeout' ||
  error.code === 'provider_unavailable' ||
  error.code === 'provider_malformed'
