/** Addresses of servers that would be taken for something else, or for nothing. */
import { RuntimeError } from '../contracts/errors.ts'

const portMax = 65_535

/** @returns the same address @throws RuntimeError bad_request; its message does not repeat the address: there may be a password in it */
export const checkAddress = (url: string): string => {
  const [, oneSlash] = /(?:^|,)\s*(nats|tls|https?):(?!\/\/)/.exec(url) ?? []
  if (oneSlash !== undefined) throw refused(`an address that starts with '${oneSlash}:' needs two slashes`, `write ${oneSlash}://host:port`)

  const [, bare] = /^((?:\[[\da-f:]+\]|[\w.-]+):\d+)$/i.exec(url) ?? []
  if (bare !== undefined && !/^(embedded|memory|nats-context):/.test(url))
    throw refused(`'${bare}' does not say what is there`, `write nats://${bare} for a NATS server, http://${bare} for a node`)

  const [, scheme] = /^(nats|tls|https?):\/\//.exec(url) ?? []
  if (scheme !== undefined) for (const server of (url.split('?')[0] ?? '').split(',')) checkServer(server, scheme)
  return url
}

/** @throws RuntimeError bad_request for what is no address, or one at which no other program can be */
export const checkReachable = (url: unknown): void => {
  if (typeof url === 'string' && /^(?:(?:nats|tls|https?):\/\/|(?:nats-context|embedded):.)/s.test(checkAddress(url))) return
  throw refused(
    'no node can be reached at what is given as its address',
    'write http://host:port, nats://host:port or embedded:<folder>; inProcessClient(runtime) is for a runtime of the same process',
  )
}

const checkServer = (server: string, scheme: string): void => {
  const place = server
    .trim()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/\/.*/s, '')
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(place) ?? []
  if (host === '') throw refused('the address names no host', `write ${scheme}://host:port`)
  // Without one there is a usual one.
  if (port !== undefined && port !== '' && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= portMax))
    throw refused('there is no such port as the address names', `a port is a number from 1 to ${portMax}: ${scheme}://host:4222`)
}

const refused = (message: string, hint: string): RuntimeError => new RuntimeError('bad_request', message, { field: 'url', hint })
