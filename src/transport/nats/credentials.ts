/** The credentials for a NATS server: from the address itself, or from a context of the `nats` command line. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from '@nats-io/transport-node'
import { RuntimeError } from '../../contracts/errors.ts'

/** The fields that we read of a context file; see `nats context`. */
type Context = Partial<Record<'url' | 'user' | 'password' | 'token' | 'creds' | 'nkey' | 'ca' | 'cert' | 'key' | 'inbox_prefix', string>>

/** The address without a part that may be a password. */
export const shown = (url: string): string => url.replaceAll(/\/\/[^@/,]*@/g, '//').replace(/\?.*/s, '')

const contextScheme = 'nats-context:'

/**
 * @param url `nats://[user:password@|token@]host:port[?inbox_prefix=_INBOX_node]`, `tls://…`, several of these separated by commas, or
 * `nats-context:NAME`
 * @throws RuntimeError bad_request, naming what cannot be read
 */
export const connectionTo = (url: string): ConnectionOptions & { servers: string[] } => {
  if (url.startsWith(contextScheme)) return fromContext(url.slice(contextScheme.length))
  const [addresses = '', query] = url.split('?')
  const servers = addresses.split(',').map((one) => one.trim())
  return {
    ...inAddress(servers[0] ?? ''),
    ...inQuery(query),
    ...(servers.some((one) => one.startsWith('tls:')) ? { tls: {} } : {}),
    servers: servers.map((one) => shown(one).replace(/\/$/, '')),
  }
}

/** User and password, or a token. */
const inAddress = (url: string): ConnectionOptions => {
  const [, user, , pass] = /\/\/([^:@/]*)(:([^@/]*))?@/.exec(url) ?? []
  if (user === undefined) return {}
  return pass === undefined ? { token: decoded(user, 'token') } : { user: decoded(user, 'user'), pass: decoded(pass, 'password') }
}

const decoded = (text: string, what: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    // Without the text in the message: it may be a password.
    throw new RuntimeError('bad_request', `the ${what} in the NATS address is not percent-encoded: a '%' is not followed by two hex digits`, {
      field: 'url',
      hint: "write '%' itself as %25, and other reserved characters as %XX",
    })
  }
}

const inQuery = (query: string | undefined): ConnectionOptions => {
  if (query === undefined) return {}
  const { inbox_prefix: inboxPrefix, ...unknown } = Object.fromEntries(new URLSearchParams(query))
  const [other] = Object.keys(unknown)
  if (other !== undefined || !inboxPrefix || /[^A-Za-z0-9_.-]/.test(inboxPrefix))
    throw new RuntimeError(
      'bad_request',
      other === undefined ? 'inbox_prefix is not a subject' : `'${other.slice(0, 40)}' is unknown in a NATS address`,
      {
        field: 'url',
        hint: 'only ?inbox_prefix=_INBOX_node is known there; certificates and creds files come from a context: nats-context:NAME',
      },
    )
  return { inboxPrefix }
}

const fromContext = (name: string): ConnectionOptions & { servers: string[] } => {
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || name.startsWith('.'))
    throw new RuntimeError('bad_request', `'${name.slice(0, 80)}' is not a NATS context`, { field: 'url', hint: 'see `nats context ls`' })
  const file = join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'nats', 'context', `${name}.json`)
  const { url, user, password, token, creds, nkey, ca, cert, key, inbox_prefix } = read(file, (text) => JSON.parse(text) as Context)
  const tls = { ...(ca ? { caFile: ca } : {}), ...(cert ? { certFile: cert } : {}), ...(key ? { keyFile: key } : {}) }
  return {
    ...(user ? { user, pass: password ?? '' } : {}),
    ...(token ? { token } : {}),
    ...(creds ? { authenticator: read(creds, (text) => credsAuthenticator(new TextEncoder().encode(text))) } : {}),
    ...(nkey ? { authenticator: read(nkey, (text) => nkeyAuthenticator(new TextEncoder().encode(text.trim()))) } : {}),
    ...(Object.keys(tls).length > 0 ? { tls } : {}),
    ...(inbox_prefix ? { inboxPrefix: inbox_prefix } : {}),
    servers: (url ?? 'nats://127.0.0.1:4222').split(',').map((one) => one.trim()),
  }
}

const read = <T>(file: string, as: (text: string) => T): T => {
  try {
    return as(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read for the NATS connection`, {
      cause,
      field: 'url',
      hint: 'see `nats context ls` and the paths in the context',
    })
  }
}
