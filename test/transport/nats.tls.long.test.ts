/** Encrypted links, and users who prove who they are with a certificate or a creds file instead of a password. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credsAuthenticator, nkeys } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { type NatsOptions, natsFetchMs, startNats } from '../support/nats.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-nats-tls-'))
const before = process.env.XDG_CONFIG_HOME
const file = (name: string): string => join(folder, name)
beforeAll(async () => {
  await natsServer()
  process.env.XDG_CONFIG_HOME = folder
  mkdirSync(file('nats/context'), { recursive: true })
}, natsFetchMs)
afterAll(() => {
  if (before === undefined) delete process.env.XDG_CONFIG_HOME
  else process.env.XDG_CONFIG_HOME = before
  rmSync(folder, { recursive: true, force: true })
})

const aServer = async (options: NatsOptions) => {
  const server = await startNats(options)
  onTestFinished(() => server.stop())
  return server
}
const works = async (url: string, connection: Parameters<typeof openNats>[0]['connection'] = {}): Promise<void> => {
  const transport = await openNats({ url, environment: anEnvironment(), connection })
  onTestFinished(() => transport.close())
  const { seq = 0 } = (await transport.journal.head(aSession())) ?? {}
  expect(await transport.journal.append(aSession(), seq, bytesOf('x'), awake)).toEqual({ outcome: 'ok' })
}
const context = (name: string, fields: object): string => {
  writeFileSync(file(`nats/context/${name}.json`), JSON.stringify(fields))
  return `nats-context:${name}`
}

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore', cwd: folder })
/** A CA of our own, and certificates by it for a server on loopback and for a client. By name: the client (3.4) compares no address. */
const certificates = (): void => {
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test-ca',
  )
  for (const name of ['server', 'client']) {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
    )
    writeFileSync(file('san.cnf'), 'subjectAltName=DNS:localhost')
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      `${name}.pem`,
      '-extfile',
      'san.cnf',
    )
  }
}

test('over TLS with a CA of its own: by options of the connection, or by a context; without the CA it says which certificate it wants', async ({
  skip,
}) => {
  try {
    certificates()
  } catch {
    skip('openssl is not there')
  }
  const tls = `cert_file: "${file('server.pem')}", key_file: "${file('server.key')}", ca_file: "${file('ca.pem')}", verify: true`
  const server = await aServer({ config: `tls { ${tls} }` })
  const url = server.url.replace('127.0.0.1', 'localhost')
  const secure = url.replace('nats:', 'tls:')
  const own = { caFile: file('ca.pem'), certFile: file('client.pem'), keyFile: file('client.key') }

  await works(url, { tls: own })
  await works(secure, { tls: own })
  await works(context('tls', { url, ca: own.caFile, cert: own.certFile, key: own.keyFile }))

  await expect(works(secure)).rejects.toMatchObject({
    code: 'log_unavailable',
    message: expect.stringContaining('certificate'),
    hint: expect.stringContaining('ca'),
  })
  // A server that wants one says so only after the handshake.
  await expect(works(secure, { tls: { caFile: own.caFile } })).rejects.toMatchObject({ code: expect.stringMatching(/log_unavailable|unauthorised/) })
})

test('tls:// never talks to a server in the clear', async () => {
  const server = await aServer({})

  await expect(works(server.url.replace('nats:', 'tls:'))).rejects.toMatchObject({ code: 'log_unavailable', message: expect.stringMatching(/tls/i) })
})

type Pair = ReturnType<typeof nkeys.createUser>
const base64url = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url')
/** @see https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/jwt */
const jwt = (issuer: Pair, subject: Pair, name: string, nats: object): string => {
  const claims = { jti: name, iat: 1_700_000_000, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name, nats: { version: 2, ...nats } }
  const signed = `${base64url(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' }))}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${base64url(issuer.sign(Buffer.from(signed)))}`
}

test('with a creds file, by a context or an authenticator, on a server that trusts an operator', async () => {
  const [operator, system, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount(), nkeys.createUser()]
  const all = { subs: -1, data: -1, payload: -1 }
  const accountLimits = {
    ...all,
    imports: -1,
    exports: -1,
    wildcards: true,
    conn: -1,
    leaf: -1,
    mem_storage: -1,
    disk_storage: -1,
    streams: -1,
    consumer: -1,
  }
  const accounts = { [account.getPublicKey()]: accountLimits, [system.getPublicKey()]: { ...accountLimits, disk_storage: 0, mem_storage: 0 } }
  const jwts = [account, system].map(
    (one) => `${one.getPublicKey()}: ${jwt(operator, one, 'app', { type: 'account', limits: accounts[one.getPublicKey()] })}`,
  )
  const server = await aServer({
    config: [
      `operator: ${jwt(operator, operator, 'op', { type: 'operator', system_account: system.getPublicKey() })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${jwts.join(', ')} }`,
    ].join('\n'),
  })
  const seed = new TextDecoder().decode(user.getSeed())
  const userJwt = jwt(account, user, 'ann', { type: 'user', ...all })
  writeFileSync(
    file('ann.creds'),
    `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
    { mode: 0o600 },
  )

  await works(context('creds', { url: server.url, creds: file('ann.creds') }))
  await works(server.url, { authenticator: credsAuthenticator(readFileSync(file('ann.creds'))) })

  await expect(works(server.url)).rejects.toMatchObject({ code: 'unauthorised' })
})
