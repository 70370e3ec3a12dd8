/** Requests through the proxies that the environment names, as other programs read them. */
import { RuntimeError } from '../contracts/errors.ts'
import { redact } from '../contracts/redact.ts'
import { isLoopback, setting, type Variables } from './server.ts'

type Fetch = typeof globalThis.fetch
/** A variable and the proxy that it names. */
type Named = { variable: string; url: string }

const namesFor = {
  'http:': ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
} as const

const named = (env: Variables, names: readonly string[]): Named | undefined => {
  for (const variable of names) {
    const text = setting(env, variable)
    if (text === undefined) continue
    const url = text.includes('://') ? text : `http://${text}`
    if (/^https?:\/\//i.test(url) && URL.canParse(url)) return { variable, url }
    throw new RuntimeError('bad_request', `${variable} must be the address of an HTTP proxy, not "${redact(text.slice(0, 200))}"`, {
      field: variable,
      hint: `set ${variable} to an address such as http://127.0.0.1:3128, or list the host in NO_PROXY`,
    })
  }
  return undefined
}

/**
 * The variables that hold for an address: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, each in lower case first. A server on this machine has none.
 * `NO_PROXY` is left to {@link proxiedFetch}, whose library reads it.
 * @throws RuntimeError bad_request for a variable that names no HTTP proxy
 */
export const proxyFor = (env: Variables, url: URL): Named | undefined =>
  url.protocol === 'http:' || url.protocol === 'https:' ? (isLoopback(url.href) ? undefined : named(env, namesFor[url.protocol])) : undefined

/** `fetch` that obeys the variables. Its library is loaded with the first request that has a proxy. */
export const proxiedFetch = (env: Variables): Fetch => {
  let dispatching: Promise<Fetch> | undefined
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (proxyFor(env, url) === undefined) return fetch(input, init)
    dispatching ??= throughProxies(env)
    return (await dispatching)(input, init)
  }
}

const throughProxies = async (env: Variables): Promise<Fetch> => {
  const { EnvHttpProxyAgent, fetch: dispatched } = await import('undici')
  const urlOf = (protocol: 'http:' | 'https:') => named(env, namesFor[protocol])?.url ?? ''
  const noProxy = setting(env, 'no_proxy') ?? setting(env, 'NO_PROXY') ?? ''
  const dispatcher = new EnvHttpProxyAgent({ httpProxy: urlOf('http:'), httpsProxy: urlOf('https:'), noProxy })
  // Its types are those of another version of the same `fetch`.
  return ((input: never, init: object) => dispatched(input, { ...init, dispatcher })) as unknown as Fetch
}
