/** Who may connect, how they say who they are, and what they are told when it does not do. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import type { Transport } from '../../src/contracts/transport.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { type Nats, type NatsOptions, natsFetchMs, startNats } from '../support/nats.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'

const configHome = mkdtempSync(join(tmpdir(), 'statecast-nats-context-'))
const before = process.env.XDG_CONFIG_HOME
beforeAll(async () => {
  await natsServer()
  process.env.XDG_CONFIG_HOME = configHome
  mkdirSync(join(configHome, 'nats/context'), { recursive: true })
}, natsFetchMs)
afterAll(() => {
  if (before === undefined) delete process.env.XDG_CONFIG_HOME
  else process.env.XDG_CONFIG_HOME = before
  rmSync(configHome, { recursive: true, force: true })
})

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const aServer = async (options: NatsOptions = {}): Promise<Nats> => {
  const server = await startNats(options)
  closing.push(() => server.stop())
  return server
}
const open = async (url: string): Promise<Transport> => {
  const transport = await openNats({ url, environment: anEnvironment() })
  closing.push(() => transport.close())
  return transport
}
const works = async (transport: Transport): Promise<void> => {
  expect(await transport.journal.append(aSession(), 0, bytesOf('x'), awake)).toEqual({ outcome: 'ok' })
}
const context = (name: string, fields: object): void => writeFileSync(join(configHome, `nats/context/${name}.json`), JSON.stringify(fields))
const withUser = (url: string, who: string): string => url.replace('//', `//${who}@`)

test('user and password in the address; without them, or with wrong ones, it is unauthorised', async () => {
  const server = await aServer({ users: [{ user: 'ann', password: 'p:w/d' }] })

  await works(await open(withUser(server.url, `ann:${encodeURIComponent('p:w/d')}`)))

  await expect(open(server.url)).rejects.toMatchObject({ code: 'unauthorised', hint: expect.any(String) })
  const refused = await open(withUser(server.url, 'ann:secret')).catch((error: Error) => error)
  expect(refused).toMatchObject({ code: 'unauthorised' })
  expect(JSON.stringify(refused)).not.toContain('secret')
})

test('a token in the address', async () => {
  const server = await aServer({ config: 'authorization { token: "let-me-in" }' })

  await works(await open(withUser(server.url, 'let-me-in')))
})

test('a context of the nats command line, with user and password or with an nkey', async () => {
  const user = nkeys.createUser()
  const seed = join(configHome, 'user.nk')
  writeFileSync(seed, new TextDecoder().decode(user.getSeed()), { mode: 0o600 })
  const server = await aServer({ config: `authorization { users: [{ user: "ann", password: "pw" }, { nkey: "${user.getPublicKey()}" }] }` })
  context('by-password', { url: server.url, user: 'ann', password: 'pw' })
  context('by-nkey', { url: server.url, nkey: seed })

  await works(await open('nats-context:by-password'))
  const other = await open('nats-context:by-nkey')

  expect((await other.journal.head(aSession()))?.seq).toBe(1)
})

test.each([
  ['nats-context:none', 'bad_request'],
  ['nats-context:../../etc/passwd', 'bad_request'],
  ['nats-context:', 'bad_request'],
])('%s is refused with a word about contexts', async (url, code) => {
  await expect(open(url)).rejects.toMatchObject({ code, hint: expect.stringContaining('nats context') })
})

test('a server without JetStream is refused, and so is a stream of another make', async () => {
  const plain = await aServer({ jetStream: false })
  await expect(open(plain.url)).rejects.toMatchObject({ code: 'unsupported', hint: expect.stringContaining('-js') })

  const server = await aServer()
  const { jetstreamManager } = await import('@nats-io/jetstream')
  const { connect } = await import('@nats-io/transport-node')
  const nc = await connect({ servers: server.url })
  await (await jetstreamManager(nc)).streams.add({ name: 'STATECAST_JOURNAL', subjects: ['somebody.else'] })
  await nc.close()
  await expect(open(server.url)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('STATECAST_JOURNAL') })
})

test.each([
  ['nats://ann:p%ZZ@127.0.0.1:1', 'password', '%25'],
  ['nats://%E0%A4%A:pw@127.0.0.1:1', 'user', '%25'],
  ['nats://%@127.0.0.1:1', 'token', '%25'],
  ['nats://127.0.0.1:1?tls_ca=x', 'tls_ca', 'inbox_prefix'],
  ['nats://127.0.0.1:1?inbox_prefix=a%20b', 'inbox_prefix', 'inbox_prefix'],
])('%s is bad_request for the field url, and names the %s', async (url, what, hint) => {
  await expect(open(url)).rejects.toMatchObject({
    code: 'bad_request',
    field: 'url',
    message: expect.stringContaining(what),
    hint: expect.stringContaining(hint),
  })
})
