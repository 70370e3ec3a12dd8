/** Who may talk to the gateway: known hosts, no foreign pages, and for everything but probes the token. */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Access } from '../../contracts/access.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { hashOfToken } from '../configuration.ts'
import type { Throttle } from './throttle.ts'
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

type Headers = { host?: string | undefined; origin?: string | undefined; authorization?: string | undefined }

/**
 * A request with a credential in its `Authorization` header may come from any origin: a page of another site cannot know the token, and a browser never adds
 * it. A proxy for development sends both.
 * @param bound what the server listens on @throws RuntimeError forbidden for a name that is not ours, and for pages of other sites
 */
export const requireOurs = ({ host = '', origin, authorization }: Headers, bound: string): void => {
  const name = nameIn(host)
  if (name === undefined || !isOurs(name, bound))
    throw new RuntimeError('forbidden', 'this host name is not served here', { field: 'Host', hint: `use http://${bound}` })
  if (bearerIn(authorization) === undefined && origin !== undefined && origin.replace(/^https?:\/\//, '') !== host)
    throw new RuntimeError('forbidden', 'requests of other sites are refused', {
      field: 'Origin',
      hint: 'call from the same host, or send the token in the Authorization header',
    })
}

export type Caller = {
  /** By what the caller is counted. */
  client: string
  /** Which of our tokens was shown. */
  token: number | string
  /** What it allows now; left out for the token of the node, which allows everything. @throws RuntimeError unauthorised where it is over */
  access?: () => Access
}

type Keys = {
  /** Any of these opens everything. */
  tokens: readonly string[]
  throttle: Throttle
  /** What a token allows that was made with `tokens.create`, by its hash. */
  accessOf: (hash: string) => Access | undefined
}

/** The token in an `Authorization` header. */
export const bearerIn = (header: string | undefined): string | undefined => /^Bearer (\S{1,500})$/i.exec(header ?? '')?.[1]

/**
 * The token comes as a header, or in the first frame of a socket, only: an address ends up in histories and logs. The right one is looked for first, so that a caller that has it gets in also
 * from an address from which others try wrong ones: those, and only those, are answered 429 after some. It leaves a guesser every try that the
 * connection can carry, which does not help against tokens that cannot be guessed; weak ones are refused at the start.
 * @returns who calls @throws RuntimeError unauthorised, rate_limited
 */
export const callerOf = (given: string | undefined, client: string, { tokens, throttle, accessOf }: Keys): Caller => {
  // All are compared, whichever fits.
  const fits = tokens.map((token) => given !== undefined && sameToken(given, token))
  if (fits.includes(true)) return { client, token: fits.indexOf(true) }
  const hash = given === undefined ? undefined : hashOfToken(given)
  const found = hash === undefined ? undefined : accessOf(hash)
  if (hash !== undefined && found !== undefined) {
    const access = (): Access => {
      const now = accessOf(hash)
      if (now) return now
      throw new RuntimeError('unauthorised', 'the token is over', { hint: 'it was revoked, or its time has come: ask for another one' })
    }
    return { client, token: found.id, access }
  }
  throttle.wrong(client)
  throw new RuntimeError('unauthorised', given === undefined ? 'a token is needed' : 'the token is wrong', {
    hint: "send 'Authorization: Bearer <token>'; the token stands in the file 'token' of the data folder",
  })
}
