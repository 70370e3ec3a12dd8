/** Requests through the proxies that the environment names, as other programs read them. */
import { RuntimeError } from '../contracts/errors.ts'
import { redact } from '../contracts/redact.ts'
import { isLoopback, setting, type Variables } from './server.ts'

type Fetch = typeof globalThis.fetch

const namesFor: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
}

/**
 * The proxy for an address: that of `HTTPS_PROXY` or `HTTP_PROXY`, else of `ALL_PROXY`, each in lower case first. A server on this machine, and one that
 * `NO_PROXY` names, has none.
 * @throws RuntimeError bad_request for a variable that names no HTTP proxy
 */
export const proxyFor = (env: Variables, url: URL): string | undefined => {
  const variable = namesFor[url.protocol]?.find((name) => setting(env, name) !== undefined)
  if (variable === undefined || isLoopback(url.href) || isExcepted(url, setting(env, 'no_proxy') ?? setting(env, 'NO_PROXY') ?? '')) return undefined
  const text = setting(env, variable) ?? ''
  const proxy = text.includes('://') ? text : `http://${text}`
  if (/^https?:\/\//i.test(proxy) && URL.canParse(proxy)) return proxy
  throw new RuntimeError('bad_request', `${variable} must be the address of an HTTP proxy, not "${redact(text.slice(0, 200))}"`, {
    field: variable,
    hint: `set ${variable} to an address such as http://127.0.0.1:3128, or list the host in NO_PROXY`,
  })
}

/** `*`, or hosts with or without a port; a host stands for those below it, with a dot or `*.` before it or not. */
const isExcepted = ({ hostname, protocol, port }: URL, list: string): boolean => {
  const own = port || (protocol === 'https:' ? '443' : '80')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true
      const [, name = '', wanted] = /^(?:\*?\.)?(\[[^\]]*\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? []
      return name !== '' && (wanted === undefined || wanted === own) && (hostname === name || hostname.endsWith(`.${name}`))
    })
}

/** `fetch` that obeys the variables. Its library is loaded with the first request that has a proxy. */
export const proxiedFetch = (env: Variables): Fetch => {
  const through = new Map<string, Promise<Fetch>>()
  return async (input, init) => {
    const proxy = proxyFor(env, new URL(input instanceof Request ? input.url : input))
    if (proxy === undefined) return fetch(input, init)
    const opening = through.get(proxy) ?? fetchThrough(proxy)
    through.set(proxy, opening)
    return (await opening)(input, init)
  }
}

const fetchThrough = async (proxy: string): Promise<Fetch> => {
  const { ProxyAgent, fetch: dispatched } = await import('undici')
  const dispatcher = new ProxyAgent(proxy)
  // Its types are those of another version of the same `fetch`.
  return ((input: never, init: object) => dispatched(input, { ...init, dispatcher })) as unknown as Fetch
}
