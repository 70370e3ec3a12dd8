/** The server that a variable names, and what a person can do when it does not answer as it should. */
import { isIP } from 'node:net'
import { RuntimeError } from '../contracts/errors.ts'
import { redact } from '../contracts/redact.ts'
import type { Hints } from './classify.ts'
import { providerError } from './provider-error.ts'

/** Variables such as ANTHROPIC_API_KEY; one that is empty or blank counts as not set. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Without the spaces and line ends that come along when a value is pasted: a key with one is refused by every server. */
export const setting = (env: Variables, name: string): string | undefined => env[name]?.trim() || undefined

/** Why the value is no address, with what to write; undefined when it is one, or is not set. */
export const addressProblem = (env: Variables, name: string): RuntimeError | undefined => {
  const text = setting(env, name)
  if (text === undefined) return undefined
  const refused = (message: string, hint: string) => new RuntimeError('bad_request', `${name} ${message}: "${shown(text)}"`, { field: name, hint })
  if (!isHttp(text))
    return refused(
      'is not an http address',
      !text.includes(':/') && isHttp(`http://${text}`)
        ? `write it with http:// or https://, for example ${name}=${withVersion(`http://${shown(text)}`)}`
        : `set it to an address such as ${name}=http://127.0.0.1:11434/v1`,
    )
  const { username, password } = new URL(text)
  return username || password ? refused('holds a user name or a password', 'leave them out; the key has a variable of its own') : undefined
}

/** Why a key cannot be sent; undefined when it can, or is not set. The message never shows it. */
export const keyProblem = (env: Variables, name: string): RuntimeError | undefined =>
  /[^\x20-\x7e]/.test(setting(env, name) ?? '')
    ? providerError('provider_auth', `${name} contains a character that no key has, such as a line break`, {
        hint: `set ${name} again, to the key alone`,
      })
    : undefined

export const baseUrl = (env: Variables, name: string): string | undefined => setting(env, name)?.replace(/(?<!\/)\/+$/, '')

const isHttp = (text: string): boolean => /^https?:\/\/[^/\s]/i.test(text) && URL.canParse(text)

const shown = (url: string): string => redact(url.slice(0, 200))

/** An address without a path gets the version that servers of both wire formats have there. */
export const withVersion = (url: string): string => (new URL(url).pathname === '/' ? `${url.replace(/(?<!\/)\/+$/, '')}/v1` : url)

export const isLoopback = (url: string): boolean => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

type Server = {
  /** The address in use. */
  url: string
  /** The variables that choose address, key and model. */
  variables: { url: string; key: string; model: string }
  /** Whether the variable named the address, rather than the default of the provider. */
  isNamed: boolean
  hasKey: boolean
}

/** What to do about an error of this server, naming the variable to change. */
export const serverHints =
  ({ url, variables, isNamed, hasKey }: Server): Hints =>
  (code, status) => {
    const address = isNamed ? `${variables.url} (${shown(url)})` : shown(url)
    const { pathname } = new URL(url)
    const version = isNamed && !/\/v\d/.test(pathname) ? `; most servers want /v1 at the end: ${variables.url}=${shown(url)}/v1` : ''
    const [tooMuch] = /\/(?:chat\/completions|messages|models)$/.exec(pathname) ?? []
    switch (code) {
      case 'provider_auth':
        return hasKey ? `check ${variables.key}: ${shown(url)} refuses it` : `set ${variables.key}: ${shown(url)} wants one`
      case 'provider_unknown_model':
        return `check the name of the model: ${variables.model}, or the name behind the "/" of the reference`
      case 'provider_malformed':
        return isNamed ? `what answers at ${address} does not speak as it should; check the address${version}` : undefined
      case 'provider_unavailable':
        // With a status, the server did answer, and has a fault.
        return status === undefined ? `check that ${address} is right and the server there is running${version}` : undefined
      case 'provider_rejected':
        if (status !== 404 && status !== 405) return undefined
        if (tooMuch !== undefined) return `leave ${tooMuch} out of ${variables.url}: it is added`
        return `nothing serves this at ${address}${version || '; check the address and the model'}`
      default:
        return undefined
    }
  }
