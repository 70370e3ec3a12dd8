/** Who may talk to the gateway: known hosts, no foreign pages, and for everything but probes the token. */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { MiddlewareHandler } from 'hono'
import { RuntimeError } from '../contracts/errors.ts'
import { sameToken } from './token.ts'

const loopbackNames = ['localhost', '127.0.0.1', '::1']

export const isLoopback = (host: string): boolean => loopbackNames.includes(host) || (isIP(host) === 4 && host.startsWith('127.'))
const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** The name in a Host header or origin, without port and brackets; undefined when it is neither. */
const nameIn = (host: string): string | undefined => {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase() : undefined
}

/**
 * Refuses names that are not ours: a page whose name was pointed at this machine (DNS rebinding) carries its own. An address written in
 * figures cannot have been rebound, so on all interfaces every one of them is fine.
 */
const isOurs = (name: string, bound: string): boolean =>
  isLoopback(name) || name === bound.toLowerCase() || (isWildcard(bound) && (isIP(name) !== 0 || name === hostname().toLowerCase()))

/** @param bound what the server listens on */
export const checkHost =
  (bound: string): MiddlewareHandler =>
  async (context, next) => {
    const host = context.req.header('host') ?? ''
    const name = nameIn(host)
    if (name === undefined || !isOurs(name, bound))
      throw new RuntimeError('forbidden', 'this host name is not served here', { field: 'Host', hint: `use http://${bound}` })
    const origin = context.req.header('origin')
    if (origin !== undefined && origin.replace(/^https?:\/\//, '') !== host)
      throw new RuntimeError('forbidden', 'requests of other sites are refused', {
        field: 'Origin',
        hint: 'call from the same host, or without a browser',
      })
    await next()
  }

/** The token comes as a header only: an address ends up in histories and logs. */
export const checkToken =
  (tokens: readonly string[]): MiddlewareHandler =>
  async (context, next) => {
    const given = /^Bearer (\S{1,500})$/i.exec(context.req.header('authorization') ?? '')?.[1]
    // All are compared, whichever fits.
    const fits = given !== undefined && tokens.map((token) => sameToken(given, token)).some(Boolean)
    if (!fits)
      throw new RuntimeError('unauthorised', given === undefined ? 'a token is needed' : 'the token is wrong', {
        hint: "send 'Authorization: Bearer <token>'; the token stands in the file 'token' of the data folder",
      })
    await next()
  }
