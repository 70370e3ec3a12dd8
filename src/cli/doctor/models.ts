/** The models that an app talks to: whether each answers, tried with one tiny request. */

import { definedOf } from '../../contracts/defined.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { CredentialSource, Model } from '../../contracts/model.ts'
import { credentialFile } from '../../credential-file.ts'
import { type CustomModel, createModels, readCredentialStore } from '../../models/index.ts'
import { systemEnvironment } from '../../runtime/index.ts'
import type { RuntimeOptions } from '../../runtime.ts'
import { commandVariables } from '../connect.ts'
import { commandLogger } from '../runtime-environment.ts'
import { resolvePath, surroundings } from '../surroundings.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

/** For connecting and answering together; a person waits for it. */
const patienceMs = 5000
const triedMax = 8

export async function* models(app: RuntimeOptions, { offline = false }: { offline?: boolean }): AsyncGenerator<Finding> {
  const env = commandVariables()
  const set = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'STATECAST_MODEL', 'STATECAST_TOKEN'].filter((name) => env[name])
  yield ok('keys', set.length > 0 ? `set: ${set.join(', ')}` : 'none set; the offline stand-in answers')
  for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']) yield* baseUrl(name, env[name]?.trim())
  const { defaultRef, get, profiles } = createModels({
    environment: systemEnvironment({ log: commandLogger() }),
    env,
    ...definedOf({ folder: resolvePath(app.workspace ?? '.'), custom: app.models, credentials: app.credentials, order: app.credentialOrder }),
    store: readCredentialStore(credentialFile(app, env, surroundings().cwd()), surroundings().cwd()),
  })
  yield ok('model', `${defaultRef} by default`)
  const refs = [...new Set([...(app.agents ?? []).map(({ model }) => model ?? defaultRef), ...(app.agents?.length ? [] : [defaultRef])])]
  for (const ref of refs.slice(0, triedMax)) {
    const [credential] = profiles?.(ref) ?? []
    if (credential?.source) yield ok('credential', `${ref}: ${credential.id}, from ${fromWhere[credential.source]}`)
    const why = offline ? 'not tried (--offline)' : isLocal(ref, app.models) ? 'answers in this process; not tried' : undefined
    yield why === undefined ? await tried(ref, get) : ok('model', `${ref}: ${why}`)
  }
}

const fromWhere: Record<CredentialSource, string> = { config: 'the app (credentials)', environment: 'the environment', store: 'the credential store' }

/** A script or a function of the author: there is no connection to try, and a call may count as one of its answers. */
const isLocal = (ref: string, custom: Record<string, CustomModel> = {}): boolean =>
  ref.startsWith('scripted/') || (Object.hasOwn(custom, ref) && !('doStream' in (custom[ref] as object)))

const tried = async (ref: string, get: (ref: string) => Promise<Model>): Promise<Finding> => {
  const begun = performance.now()
  const ms = () => Math.round(performance.now() - begun)
  let first: number | undefined
  try {
    const model = await get(ref)
    const response = await model.call(
      {
        instructions: 'Answer with one word.',
        messages: [{ role: 'user', id: 'doctor', text: 'Say ok.' }],
        tools: [],
        settings: { maxOutputTokens: 16 },
        limits: { idleTimeoutMs: patienceMs, totalTimeoutMs: patienceMs, outputCharsMax: 10_000 },
      },
      {
        signal: AbortSignal.timeout(patienceMs + 1000),
        onDelta: () => {
          first ??= ms()
        },
      },
    )
    return ok(
      'model',
      `${ref} answered a tiny request in ${ms()} ms${first === undefined ? '' : ` (first word after ${first} ms)`}, as ${response.model}`,
    )
  } catch (error) {
    return failure(ref, errorBody(error), ms())
  }
}

const failure = (ref: string, { code, message, hint }: ErrorBody, ms: number): Finding => {
  const text = `${ref} did not answer a tiny request: ${message} [${code}], after ${ms} ms`
  if (code === 'provider_timeout') return warn('model', text, 'it may be slow, or a local server may still be loading the model: try again')
  if (code === 'provider_rate_limit') return warn('model', text, hint ?? 'wait a little')
  return bad('model', text, hint ?? remedies[code] ?? 'see whether the provider works, or choose another model with STATECAST_MODEL')
}

const remedies: Partial<Record<ErrorBody['code'], string>> = {
  provider_auth: 'look at the key',
  provider_billing: 'look at the account at the provider',
  provider_unavailable: 'look at the network, and at the address if it is one of your own; --offline skips this',
  provider_unknown_model: 'name another model: ANTHROPIC_MODEL, OPENAI_MODEL or STATECAST_MODEL',
  provider_rejected: 'name another model: ANTHROPIC_MODEL, OPENAI_MODEL or STATECAST_MODEL',
  provider_malformed: 'is the address that of a server with this API? It usually ends with /v1',
}

/** What people get wrong about addresses, before anything is asked. No user or password of one is repeated. */
function* baseUrl(name: string, text: string | undefined): Generator<Finding> {
  if (!text) return
  if (!URL.canParse(text) || !/^https?:/.test(text)) {
    yield bad(name, 'is not an http address', 'for example http://127.0.0.1:11434/v1')
    return
  }
  const url = new URL(text)
  const shown = `${url.origin}${url.pathname}`
  const endpoint = /\/(chat\/completions|completions|responses|messages|models)\/*$/.exec(url.pathname)
  if (endpoint) yield bad(name, `${shown} names one endpoint of a server`, `write ${url.origin}${url.pathname.slice(0, endpoint.index)}`)
  else if (url.search || url.hash) yield bad(name, `${shown} is followed by '?' or '#', which ends up in the middle of addresses`, `write ${shown}`)
  else if (name === 'OPENAI_BASE_URL' && !/\/v\d\w*\/*$/.test(url.pathname))
    yield warn(
      name,
      `${shown} does not end with a version, as most servers want it`,
      `if it answers with 404, write ${shown.replace(/(?<!\/)\/+$/, '')}/v1`,
    )
  else yield ok(name, shown)
  if (url.username || url.password)
    yield bad(name, 'holds a user or password, which ends up in logs', 'leave them out; the key has a variable of its own')
  if (url.protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(url.hostname) && commandVariables().OPENAI_API_KEY)
    yield warn(name, `${url.origin} is not encrypted: others on the way can read the key`, 'use https, or a server on this machine')
}
