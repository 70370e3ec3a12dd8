/** The providers that a reference can name. Their packages are optional and loaded when a model of theirs is first used. */
import { isIP } from 'node:net'
import { RuntimeError } from '../contracts/errors.ts'
import type { LanguageModel } from './older-models.ts'
import { providerError } from './provider-error.ts'

/** Variables such as ANTHROPIC_API_KEY; what is set to nothing counts as not set. */
export type Variables = Readonly<Record<string, string | undefined>>

export type Opened = { model: LanguageModel; contextTokens?: number; secrets: string[] }

type Provider = {
  defaultModel(env: Variables): string
  /** Why it cannot be used as things are, with what to do; undefined when it can. */
  unavailable(env: Variables): { code: 'provider_auth' | 'provider_unknown_model'; message: string; hint: string } | undefined
  open(modelId: string, env: Variables): Promise<Opened>
}

export const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    defaultModel: (env) => env.ANTHROPIC_MODEL || 'claude-sonnet-5-5',
    unavailable: (env) => (env.ANTHROPIC_API_KEY ? undefined : missingKey('Anthropic', 'ANTHROPIC_API_KEY')),
    open: async (modelId, env) => {
      const { createAnthropic } = await loadPackage('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'))
      const apiKey = env.ANTHROPIC_API_KEY ?? ''
      const baseURL = withVersion(baseUrl('ANTHROPIC_BASE_URL', env) ?? 'https://api.anthropic.com/v1')
      return { model: createAnthropic({ apiKey, baseURL })(modelId), contextTokens: 200_000, secrets: [apiKey] }
    },
  },
  openai: {
    defaultModel: (env) => env.OPENAI_MODEL || 'gpt-5.6',
    unavailable: (env) => (env.OPENAI_API_KEY ? undefined : missingKey('OpenAI', 'OPENAI_API_KEY')),
    open: async (modelId, env) => {
      const { createOpenAI } = await loadPackage('@ai-sdk/openai', () => import('@ai-sdk/openai'))
      const apiKey = env.OPENAI_API_KEY ?? ''
      const baseURL = baseUrl('OPENAI_BASE_URL', env) ?? 'https://api.openai.com/v1'
      // Chat completions rather than responses: they keep nothing at the provider, and our journal is the only history.
      return { model: createOpenAI({ apiKey, baseURL }).chat(modelId), secrets: [apiKey] }
    },
  },
  'openai-compatible': {
    defaultModel: (env) => env.OPENAI_MODEL || 'default',
    unavailable: (env) => {
      const url = env.OPENAI_BASE_URL
      if (!url)
        return {
          code: 'provider_unknown_model',
          message: 'no server is named for openai-compatible models',
          hint: 'set OPENAI_BASE_URL, for example http://127.0.0.1:11434/v1',
        }
      return env.OPENAI_API_KEY || isLoopback(url) ? undefined : missingKey('the server at OPENAI_BASE_URL', 'OPENAI_API_KEY')
    },
    open: async (modelId, env) => {
      const { createOpenAICompatible } = await loadPackage('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible'))
      const apiKey = env.OPENAI_API_KEY
      const baseURL = baseUrl('OPENAI_BASE_URL', env) ?? ''
      const provider = createOpenAICompatible({ name: 'openai-compatible', baseURL, includeUsage: true, ...(apiKey ? { apiKey } : {}) })
      return { model: provider(modelId), secrets: apiKey ? [apiKey] : [] }
    },
  },
}

/** @throws RuntimeError provider_unknown_model when the package is not installed */
export const loadPackage = async <Module>(name: string, load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    throw providerError('provider_unknown_model', `the package ${name} is not installed`, { cause, hint: `npm install ${name}` })
  }
}

// A package that is there but lacks one of its own dependencies is another problem, and its message says so.
const isMissing = (thrown: unknown, name: string): boolean =>
  thrown instanceof Error &&
  'code' in thrown &&
  (thrown.code === 'ERR_MODULE_NOT_FOUND' || thrown.code === 'MODULE_NOT_FOUND') &&
  thrown.message.includes(`'${name}'`)

const missingKey = (whose: string, variable: string) => ({
  code: 'provider_auth' as const,
  message: `there is no API key for ${whose}`,
  hint: `set ${variable}`,
})

const baseUrl = (variable: string, env: Variables): string | undefined => {
  const text = env[variable]
  if (!text) return undefined
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, '')
  throw new RuntimeError('bad_request', `${variable} is not an http address`, { field: variable, hint: 'for example http://127.0.0.1:11434/v1' })
}

/** Anthropic's own tools take the address without a version, the AI SDK with it. */
const withVersion = (url: string): string => (new URL(url).pathname === '/' ? `${url}/v1` : url)

const isLoopback = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
