/** The providers that a reference can name. Their packages are optional and loaded when a model of theirs is first used. */

import { definedOf } from '../contracts/defined.ts'
import type { RuntimeError } from '../contracts/errors.ts'
import type { Hints } from './classify.ts'
import type { Credential } from './credentials.ts'
import { providerFetch } from './fetch.ts'
import { providerError } from './provider-error.ts'
import { rawFieldsExtractor } from './raw-fields.ts'
import type { LanguageModel } from './sdk-model.ts'
import { addressProblem, baseUrl, isLoopback, keyProblem, serverHints, setting, type Variables, withVersion } from './server.ts'

type Opened = { model: LanguageModel; contextTokens?: number; secrets: string[]; hints: Hints }

type Provider = {
  /** The variable that holds its key. */
  keyVariable: string
  defaultModel(env: Variables): string
  /** Why it cannot be used as things are, with what to do; undefined when it can. A credential stands for the variable with the key. */
  unavailable(env: Variables, credential?: Credential): RuntimeError | undefined
  /** The address of its server. */
  endpoint(env: Variables): string | undefined
  open(modelId: string, env: Variables, credential?: Credential): Promise<Opened>
}

// Anthropic's own tools take the address without a version, the AI SDK with it.
const anthropicUrl = (env: Variables): string => withVersion(baseUrl(env, 'ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com/v1')
const openaiUrl = (env: Variables): string => baseUrl(env, 'OPENAI_BASE_URL') ?? 'https://api.openai.com/v1'

const anthropicVariables = { url: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_API_KEY', model: 'ANTHROPIC_MODEL' }
const openaiVariables = { url: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', model: 'OPENAI_MODEL' }

export const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: (env) => setting(env, 'ANTHROPIC_MODEL') ?? 'claude-sonnet-5-5',
    unavailable: (env, credential) =>
      addressProblem(env, 'ANTHROPIC_BASE_URL') ?? (credential ? undefined : keyObstacle(env, 'Anthropic', 'ANTHROPIC_API_KEY')),
    endpoint: anthropicUrl,
    open: async (modelId, env, credential) => {
      const { createAnthropic } = await loadSdk('@ai-sdk/anthropic', 'ANTHROPIC_BASE_URL', () => import('@ai-sdk/anthropic'))
      const secret = credential?.value ?? setting(env, 'ANTHROPIC_API_KEY') ?? ''
      const named = baseUrl(env, 'ANTHROPIC_BASE_URL')
      const url = anthropicUrl(env)
      const hints = serverHints({ url, variables: naming(anthropicVariables, credential), isNamed: named !== undefined, hasKey: true })
      // A key has a header of its own, and both together are refused.
      const access = credential === undefined || credential.type === 'key' ? { apiKey: secret } : { authToken: secret }
      return {
        model: createAnthropic({ ...access, baseURL: url, fetch: providerFetch('ANTHROPIC_BASE_URL', env) })(modelId),
        contextTokens: 200_000,
        secrets: [secret],
        hints,
      }
    },
  },
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: (env) => setting(env, 'OPENAI_MODEL') ?? 'gpt-5.6',
    unavailable: (env, credential) =>
      addressProblem(env, 'OPENAI_BASE_URL') ?? (credential ? undefined : keyObstacle(env, 'OpenAI', 'OPENAI_API_KEY')),
    endpoint: openaiUrl,
    open: async (modelId, env, credential) => {
      const { createOpenAI } = await loadSdk('@ai-sdk/openai', 'OPENAI_BASE_URL', () => import('@ai-sdk/openai'))
      const apiKey = credential?.value ?? setting(env, 'OPENAI_API_KEY') ?? ''
      const named = baseUrl(env, 'OPENAI_BASE_URL')
      const url = openaiUrl(env)
      const hints = serverHints({ url, variables: naming(openaiVariables, credential), isNamed: named !== undefined, hasKey: true })
      // Chat completions rather than responses: they keep nothing at the provider, and our journal is the only history.
      return { model: createOpenAI({ apiKey, baseURL: url, fetch: providerFetch('OPENAI_BASE_URL', env) }).chat(modelId), secrets: [apiKey], hints }
    },
  },
  'openai-compatible': {
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: (env) => setting(env, 'OPENAI_MODEL') ?? 'default',
    unavailable: (env, credential) => {
      const problem = addressProblem(env, 'OPENAI_BASE_URL')
      if (problem !== undefined) return problem
      const url = baseUrl(env, 'OPENAI_BASE_URL')
      if (url === undefined)
        return providerError('provider_unknown_model', 'no server is named for openai-compatible models', {
          hint: 'set OPENAI_BASE_URL, for example http://127.0.0.1:11434/v1',
        })
      if (credential !== undefined) return undefined
      return isLoopback(url) ? keyProblem(env, 'OPENAI_API_KEY') : keyObstacle(env, 'the server at OPENAI_BASE_URL', 'OPENAI_API_KEY')
    },
    endpoint: (env) => baseUrl(env, 'OPENAI_BASE_URL'),
    open: async (modelId, env, credential) => {
      const { createOpenAICompatible } = await loadPackage('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible'))
      const apiKey = credential?.value ?? setting(env, 'OPENAI_API_KEY')
      const url = baseUrl(env, 'OPENAI_BASE_URL') ?? ''
      const provider = createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: url,
        includeUsage: true,
        fetch: providerFetch('OPENAI_BASE_URL', env),
        metadataExtractor: rawFieldsExtractor,
        supportsStructuredOutputs: true,
        ...definedOf({ apiKey: apiKey || undefined }),
      })
      const hints = serverHints({ url, variables: naming(openaiVariables, credential), isNamed: true, hasKey: apiKey !== undefined })
      return { model: provider(modelId), secrets: apiKey ? [apiKey] : [], hints }
    },
  },
}

/** A hint names what a person has to change: the variable, or the credential. */
const naming = <Names extends { key: string }>(variables: Names, credential: Credential | undefined): Names =>
  credential === undefined ? variables : { ...variables, key: `the credential "${credential.id}"` }

/** While it is loaded, such a package makes a provider by its variable, and throws when that is set to nothing. */
const loadSdk = <Module>(name: string, variable: string, load: () => Promise<Module>): Promise<Module> => {
  if (setting(process.env, variable) === undefined) delete process.env[variable]
  return loadPackage(name, load)
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

const keyObstacle = (env: Variables, whose: string, variable: string): RuntimeError | undefined =>
  setting(env, variable) === undefined
    ? providerError('provider_auth', `there is no API key for ${whose}`, { hint: `set ${variable}` })
    : keyProblem(env, variable)
