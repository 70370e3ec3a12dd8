/** Models by reference: `provider/model-id`, `scripted/offline`, `scripted/FILE`, and whatever an author brings along. */

import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Environment } from '../contracts/environment.ts'
import type { RuntimeError } from '../contracts/errors.ts'
import type { Model, Models } from '../contracts/model.ts'
import { checked } from './checked.ts'
import { instrument } from './instrument.ts'
import { languageModel } from './language-model.ts'
import { offlineModel, offlineRef } from './offline.ts'
import type { LanguageModel } from './older-models.ts'
import { providerError } from './provider-error.ts'
import { providers } from './providers.ts'
import { readScript } from './script.ts'
import { type ScriptedSource, scriptedModel } from './scripted.ts'
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
}

/** Opened models kept at hand; references come from outside, so there could be any number. */
const openedMax = 256

export const createModels = ({ environment, env = process.env, folder = '.', custom = {}, offlineDelayMs }: ModelsOptions): Models => {
  const { clock, failPoints } = environment
  const opened = new Map<string, Promise<Model>>()

  const open = async (ref: string): Promise<Model> => {
    const own = Object.hasOwn(custom, ref) ? custom[ref] : undefined
    if (own !== undefined) return openCustom(own, ref)
    if (ref === offlineRef) return offlineModel({ clock, ...(offlineDelayMs === undefined ? {} : { deltaDelayMs: offlineDelayMs }) })
    const slash = ref.indexOf('/')
    const [name, modelId] = [ref.slice(0, Math.max(0, slash)), ref.slice(slash + 1)]
    if (name === 'scripted' && modelId !== '') return scriptedModel(await readScript(await fileInside(folder, modelId, ref)), { ref, clock })
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined
    if (provider === undefined || modelId === '') throw unknownModel(ref, Object.keys(custom))
    const obstacle = provider.unavailable(env)
    if (obstacle !== undefined) throw obstacle
    const { model, ...options } = await provider.open(modelId, env)
    return languageModel(model, { ref, clock, ...options })
  }

  const openCustom = (own: CustomModel, ref: string): Model => {
    if (typeof own === 'function' || isScript(own)) return scriptedModel(own, { ref, clock })
    // JavaScript may register anything.
    if (typeof own === 'object' && own !== null && 'doStream' in own) return languageModel(own, { ref, clock })
    return checked(own, { ref, clock })
  }

  return {
    defaultRef: defaultRefOf(env),
    get: (ref) => {
      const known = opened.get(ref)
      if (known !== undefined) return known
      const opening = open(ref).then((model) => instrument(model, failPoints))
      if (opened.size >= openedMax) opened.delete(opened.keys().next().value ?? '')
      opened.set(ref, opening)
      // What failed may work later: a key was set, a package installed, a file written.
      opening.catch(() => opened.get(ref) === opening && opened.delete(ref))
      return opening
    },
    list: () => [
      ...Object.keys(custom).map((ref) => ({ ref, available: true })),
      { ref: offlineRef, available: true },
      ...Object.entries(providers).map(([name, provider]) => {
        const obstacle = provider.unavailable(env)
        const ref = `${name}/${provider.defaultModel(env)}`
        return obstacle === undefined ? { ref, available: true } : { ref, available: false, why: `${obstacle.message}: ${obstacle.hint}` }
      }),
    ],
  }
}

// Array.isArray does not narrow a readonly array.
const isScript = (own: CustomModel): own is Extract<ScriptedSource, readonly unknown[]> => Array.isArray(own)

const defaultRefOf = (env: Variables): string => {
  const refOf = (name: string): string => `${name}/${providers[name]?.defaultModel(env) ?? ''}`
  const chosen = setting(env, 'STATECAST_MODEL')
  if (chosen !== undefined) return chosen
  if (setting(env, 'ANTHROPIC_API_KEY')) return refOf('anthropic')
  if (setting(env, 'OPENAI_BASE_URL')) return refOf('openai-compatible')
  return setting(env, 'OPENAI_API_KEY') ? refOf('openai') : offlineRef
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
    hint: `use ${[offlineRef, 'scripted/FILE', ...Object.keys(providers).map((name) => `${name}/<model>`), ...custom.slice(0, 20)].join(', ')}`,
  })
