/** Models by reference: `provider/model-id`, `scripted/offline`, `scripted/FILE`, and whatever an author brings along. */

import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { definedOf } from '../contracts/defined.ts'
import type { Environment } from '../contracts/environment.ts'
import type { RuntimeError } from '../contracts/errors.ts'
import { type CredentialProfile, type CredentialSource, credentialSources, type Model, type Models } from '../contracts/model.ts'
import { modelIdOf, providerOf } from '../contracts/model-ref.ts'
import { checked } from './checked.ts'
import { order } from './cooldown.rules.ts'
import { type Credentials, checkCredentials, chosen, configuredFor, defaultProfile } from './credentials.ts'
import { instrument } from './instrument.ts'
import { languageModel } from './language-model.ts'
import { offlineModel, offlineRef } from './offline/offline.ts'
import { providerError } from './provider-error.ts'
import { providers } from './providers.ts'
import { readScript } from './script.ts'
import { type ScriptedSource, scriptedModel } from './scripted.ts'
import type { LanguageModel } from './sdk-model.ts'
import { setting, type Variables } from './server.ts'

/** What an author may register under a reference: a model of ours, of an AI SDK provider, or a script. */
export type CustomModel = Model | LanguageModel | ScriptedSource

export type ModelsOptions = {
  environment: Pick<Environment, 'clock' | 'random' | 'failPoints' | 'log'>
  /** Default: the variables of this process. */
  env?: Variables
  /** Where `scripted/FILE` looks for its file. Default: the current folder. */
  folder?: string
  /** By full reference; wins over a provider of that name. */
  custom?: Readonly<Record<string, CustomModel>>
  /** ms between two words of `scripted/offline`; default 5. */
  offlineDelayMs?: number
  /** By provider: those that the app names. */
  credentials?: Credentials
  /** By provider: those of the credential store. */
  store?: Credentials
  /** Where they are looked for: the first that has any for a provider counts, and no other. */
  order?: readonly CredentialSource[]
}

/** Opened models kept at hand; references come from outside, so there could be any number. */
const openedMax = 256

/** @throws RuntimeError bad_request for credentials that are none */
export const createModels = ({
  environment,
  env = process.env,
  folder = '.',
  custom = {},
  offlineDelayMs,
  credentials: configured = {},
  store = {},
  order: sources = credentialSources,
}: ModelsOptions): Models => {
  const { clock, failPoints } = environment
  const lists: Partial<Record<CredentialSource, Credentials>> = { config: checkCredentials(configured), store }
  const hasOwn = (source: CredentialSource, name: string): boolean => {
    const variable = Object.hasOwn(providers, name) ? providers[name]?.keyVariable : undefined
    return source === 'environment'
      ? variable !== undefined && setting(env, variable) !== undefined
      : configuredFor(lists[source] ?? {}, name).length > 0
  }
  const sourceOf = (name: string): CredentialSource | undefined => sources.find((source) => hasOwn(source, name))
  /** Of the source that counts; none where that is the variable of the provider. */
  const listFor = (name: string): Credentials => lists[sourceOf(name) ?? 'environment'] ?? {}
  const opened = new Map<string, Promise<Model>>()

  const profilesOf = (ref: string): CredentialProfile[] => {
    const name = providerOf(ref)
    const from = definedOf({ source: sourceOf(name) })
    const own = configuredFor(listFor(name), name).map(({ id, type }) => ({ id, type, ...from }))
    const hasVariable = !Object.hasOwn(custom, ref) && Object.hasOwn(providers, name)
    return own.length === 0 && hasVariable ? [{ ...defaultProfile, ...from }] : own
  }

  const open = async (ref: string, profile: string | undefined): Promise<Model> => {
    const name = providerOf(ref)
    const credential = profile === undefined ? undefined : chosen(listFor(name), name, profile)
    const own = Object.hasOwn(custom, ref) ? custom[ref] : undefined
    if (own !== undefined) return openCustom(own, ref)
    if (ref === offlineRef) return offlineModel({ clock, ...definedOf({ deltaDelayMs: offlineDelayMs }) })
    const modelId = modelIdOf(ref)
    if (name === 'scripted' && modelId !== '') return scriptedModel(await readScript(await fileInside(folder, modelId, ref)), { ref, clock })
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined
    if (provider === undefined || modelId === '') throw unknownModel(ref, Object.keys(custom))
    const obstacle = provider.unavailable(env, credential)
    if (obstacle !== undefined) throw obstacle
    const { model, ...options } = await provider.open(modelId, env, credential)
    return languageModel(model, { ref, clock, ...options })
  }

  const openCustom = (own: CustomModel, ref: string): Model => {
    if (typeof own === 'function' || isScript(own)) return scriptedModel(own, { ref, clock })
    // JavaScript may register anything.
    if (typeof own === 'object' && own !== null && 'doStream' in own) return languageModel(own, { ref, clock })
    return checked(own, { ref, clock })
  }

  return {
    defaultRef: defaultRefOf(env, (name) => sourceOf(name) !== undefined),
    profiles: profilesOf,
    endpoint: (ref) => {
      const name = providerOf(ref)
      const url = Object.hasOwn(custom, ref) || !Object.hasOwn(providers, name) ? undefined : providers[name]?.endpoint(env)
      return url === undefined ? undefined : addressOf(url)
    },
    get: (ref, wanted) => {
      const profile = wanted ?? order(profilesOf(ref), {}, 0)[0]?.id
      const key = JSON.stringify([ref, profile])
      const known = opened.get(key)
      if (known !== undefined) return known
      const opening = open(ref, profile).then((model) => instrument(model, failPoints))
      if (opened.size >= openedMax) opened.delete(opened.keys().next().value ?? '')
      opened.set(key, opening)
      // A reference that failed may work later: when a key is set, a package installed, a file written.
      opening.catch(() => opened.get(key) === opening && opened.delete(key))
      return opening
    },
    list: () => [
      ...Object.keys(custom).map((ref) => ({ ref, available: true })),
      { ref: offlineRef, available: true },
      ...Object.entries(providers).map(([name, provider]) => {
        const obstacle = provider.unavailable(env, order(configuredFor(listFor(name), name), {}, 0)[0])
        const ref = `${name}/${provider.defaultModel(env)}`
        return obstacle === undefined ? { ref, available: true } : { ref, available: false, why: `${obstacle.message}: ${obstacle.hint}` }
      }),
    ],
  }
}

/** Without what may be a secret in it. */
const addressOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

// Array.isArray does not narrow a readonly array.
const isScript = (own: CustomModel): own is Extract<ScriptedSource, readonly unknown[]> => Array.isArray(own)

const defaultRefOf = (env: Variables, hasKey: (provider: string) => boolean): string => {
  const refOf = (name: string): string => `${name}/${providers[name]?.defaultModel(env) ?? ''}`
  const chosen = setting(env, 'STATECAST_MODEL')
  if (chosen !== undefined) return chosen
  if (hasKey('anthropic')) return refOf('anthropic')
  if (setting(env, 'OPENAI_BASE_URL')) return refOf('openai-compatible')
  return hasKey('openai') ? refOf('openai') : offlineRef
}

/** A reference may come from a client, so a script is only looked for inside the folder. @throws RuntimeError provider_unknown_model */
const fileInside = async (folder: string, file: string, ref: string): Promise<string> => {
  const root = await realpath(folder).catch(() => resolve(folder))
  const found = await realpath(resolve(root, file)).catch(() => undefined)
  const inside = found === undefined ? '..' : relative(root, found)
  if (found === undefined || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw providerError('provider_unknown_model', `there is no script for "${ref.slice(0, 200)}" in the workspace`, {
      hint: `scripted/FILE names a JSON or YAML file inside ${root}; ${offlineRef} needs none`,
    })
  return found
}

const unknownModel = (ref: string, custom: string[]): RuntimeError =>
  providerError('provider_unknown_model', `no model goes by "${ref.slice(0, 200)}"`, {
    hint: `use ${[offlineRef, 'scripted/FILE', ...Object.keys(providers).map((name) => `${name}/<model>`), ...custom.slice(0, 20)].join(', ')}; or give it by this name to createRuntime({ models })`,
  })
