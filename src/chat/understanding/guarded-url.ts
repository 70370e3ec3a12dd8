/** Which links may be fetched, as far as their text says it; what a name stands for is looked at when it is connected to. */
import { isIP } from 'node:net'
import { RuntimeError } from '../../contracts/errors.ts'
import { isPublicAddress } from './public-address.ts'

/** Ports at which pages are served. Others are those of services that were not made for strangers. */
const ports: ReadonlySet<string> = new Set(['80', '443', '8080', '8443'])
/** Names that lead inside wherever they are asked for, whatever a resolver of ours makes of them. */
const insideNames = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain)$/

/** The port of a link, also where it is the usual one. */
const portOf = ({ port, protocol }: URL): string => (port !== '' ? port : protocol === 'https:' ? '443' : '80')
/** As an operator names a host that may be fetched all the same. */
export const placeOf = (url: URL): string => `${url.hostname}:${portOf(url)}`
/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

export const refusedLink = (message: string, hint = 'only pages of the public internet are fetched; see `links.allow` of chat()'): RuntimeError =>
  new RuntimeError('link_refused', message, { hint })

/**
 * Of a URL as WHATWG reads it: decimal, octal and hexadecimal hosts have become addresses.
 * @param allow places that are allowed wherever they are, `host:port` @throws RuntimeError link_refused
 */
export const checkUrl = (url: URL, allow: ReadonlySet<string>): void => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusedLink(`links of ${url.protocol.slice(0, 20)} are not fetched`)
  if (url.username !== '' || url.password !== '') throw refusedLink('a link with credentials in it is not fetched')
  if (allow.has(placeOf(url))) return
  if (!ports.has(portOf(url))) throw refusedLink(`port ${portOf(url)} is not fetched from`)
  const host = hostOf(url)
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw refusedLink('the address is not one of the public internet')
  } else if (!host.includes('.') || insideNames.test(host)) throw refusedLink('the name is not one of the public internet')
}
