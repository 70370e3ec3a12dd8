/** Commands and a NATS server that is silent, refuses, or is not what is needed: each ends soon, and says what to do. */
import { existsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { stderrLogger } from '../../src/runtime/system-environment.ts'
import { connectBus } from '../../src/transport/nats/connect.ts'
import { serverConfig } from '../../src/transport/nats/permissions.ts'
import { type NatsOptions, natsFetchMs, startNats } from '../support/nats.ts'
import { splitNats, startTcpProxy } from '../support/tcp-proxy.ts'
import { aFolder, aNode, statecast, stopNode, testApp } from './run.ts'

beforeAll(() => natsServer(), natsFetchMs)

const aServer = async (options: NatsOptions = {}) => {
  const server = await startNats(options)
  onTestFinished(() => server.stop())
  return server
}

/** Accepts connections, and says what it is told to say first, or nothing. */
const aListener = async (first?: string): Promise<string> => {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    if (first !== undefined) socket.write(first)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  return `nats://127.0.0.1:${(listener.address() as { port: number }).port}`
}

const run = (url: string, ...args: string[]) => statecast({ folder: aFolder(), env: { STATECAST_URL: url } }, ...args)

test.each([['send', 'main', 'hello'], ['sessions'], ['doctor', '--offline']])(
  '%s ends although the server accepts and says nothing',
  async (...args) => {
    const { code, stdout, stderr } = await run(await aListener(), ...args)

    expect(code).toBe(1)
    expect(stdout + stderr).toMatch(/no NATS server answers at nats:\/\/127\.0\.0\.1/)
    expect(stdout + stderr).toMatch(/start one|host and port/)
  },
)

test('a connection to a server that fell silent ends all the same', async () => {
  const server = await aServer()
  const proxy = await startTcpProxy({ to: server.port, split: splitNats })
  onTestFinished(() => proxy.close())
  const { nc, close } = await connectBus(`nats://127.0.0.1:${proxy.port}`, stderrLogger())

  proxy.stall()
  await close()

  expect(nc.isClosed()).toBe(true)
})

/** The first words of a server, as nats-server says them. */
const greeting = (said: object): string =>
  `INFO ${JSON.stringify({ server_id: 'x', version: '2.15.1', proto: 1, headers: true, max_payload: 1_048_576, jetstream: true, ...said })}\r\n`

/** Answers pings, so that a client is content. */
const aPretender = async (said: object): Promise<string> => {
  const listener = createServer((socket) => {
    socket.on('error', () => undefined).write(greeting(said))
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void listener.close())
  return `nats://127.0.0.1:${(listener.address() as { port: number }).port}`
}

test('a server that is too old is refused with the version that is needed', async () => {
  const url = await aPretender({ version: '2.10.29' })

  const looked = await run(url, 'doctor', '--offline')
  const up = await run(url, 'up', '--port', '0')

  expect(looked).toMatchObject({ code: 1, stdout: expect.stringMatching(/^BAD {3}server: .*2\.10\.29, at least 2\.11 is needed.*\n +→ install/m) })
  expect(up).toMatchObject({ code: 1, stderr: expect.stringMatching(/2\.10\.29, at least 2\.11 is needed.*\[unsupported\]\nhint: install/) })
})

test('a server without JetStream is refused with how to turn it on', async () => {
  const { url } = await aServer({ jetStream: false })

  const looked = await run(url, 'doctor', '--offline')
  const sent = await run(url, 'send', 'main', 'hello')

  expect(looked).toMatchObject({ code: 1, stdout: expect.stringMatching(/^BAD {3}server: .*without JetStream.*\n +→ .*-js/m) })
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringMatching(/without JetStream.*\[unsupported\]\nhint: .*-js/) })
})

test('wrong credentials are unauthorised, exit code 3, and no password is repeated', async () => {
  const { url } = await aServer({ users: [{ user: 'ann', password: 'right-one' }] })
  const wrong = url.replace('//', '//ann:wrong-one@')

  const looked = await run(wrong, 'doctor', '--offline')
  const sent = await run(wrong, 'send', 'main', 'hello')

  expect(looked).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BAD {3}nats: .*refuses these credentials \[unauthorised\]\n +→ check user/m),
  })
  expect(sent).toMatchObject({ code: 3, stderr: expect.stringMatching(/\[unauthorised\]/) })
  for (const { stdout, stderr } of [looked, sent]) expect(stdout + stderr).not.toContain('wrong-one')
})

test('an address with a broken escape is wrong usage, and its password is not repeated', async () => {
  const { code, stderr } = await run('nats://u:secret%ZZ@127.0.0.1:1', 'sessions')

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/password in the NATS address.*\[bad_request\]\nhint: .*%25/) })
  expect(stderr).not.toContain('secret')
})

test('doctor of an empty server makes nothing; after a first turn it finds streams, room and clocks in order', async () => {
  const { url } = await aServer()
  const how = { folder: aFolder(), env: { STATECAST_URL: url } }

  const before = await statecast(how, 'doctor', '--offline')
  const nc = await connect({ servers: url })
  const { streams } = await jetstreamManager(nc)
  const made = await streams.names().next()
  await nc.close()
  const node = await aNode(how, '--app', testApp)
  await statecast(how, 'send', 'main', 'hello')
  const after = await statecast(how, 'doctor', '--offline', '--app', testApp)
  await stopNode(node)

  expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining('ok    streams: none yet') })
  expect(made).toEqual([])
  expect(existsSync(join(how.folder, '.statecast/statecast.db'))).toBe(false)
  expect(after.code).toBe(0)
  for (const line of [
    'server: nats-server ',
    'permissions: ',
    'clocks: ',
    'streams: all 7 are there',
    'space: ',
    'durability: one copy',
    'node: one answers',
    'nodes: there is one',
    'partitions: 64 of 64 are held',
    'actors: 1 read',
  ])
    expect(after.stdout).toContain(`ok    ${line}`)
  expect(after.stdout).toContain('sync_interval: always')
})

test('doctor names what is wrong with streams and what a user may not do', async () => {
  process.env.STATECAST_VIEWER_PASSWORD = 'pw'
  onTestFinished(() => void delete process.env.STATECAST_VIEWER_PASSWORD)
  const { url } = await aServer()
  await run(url, 'send', 'main', 'hello', '--app', testApp)
  const nc = await connect({ servers: url })
  const { streams } = await jetstreamManager(nc)
  await streams.update('STATECAST_JOURNAL', { max_age: 3_600_000_000_000 })
  await streams.delete('STATECAST_WAKES')
  await nc.close()
  const { url: other } = await aServer({ config: serverConfig(['viewer']) })

  const looked = await run(url, 'doctor', '--offline')
  const viewer = await run(other.replace('//', '//viewer:pw@').concat('?inbox_prefix=_INBOX_viewer'), 'doctor', '--offline')

  expect(looked.code).toBe(1)
  expect(looked.stdout).toMatch(/^BAD {3}streams: STATECAST_JOURNAL: max_age is 3600000000000 and should be 0\n +→ .*nats stream edit/m)
  expect(looked.stdout).toMatch(/^BAD {3}streams: STATECAST_WAKES missing/m)
  expect(viewer.code).toBe(1)
  expect(viewer.stdout).toMatch(
    /^BAD {3}permissions: the user 'viewer' may not publish to statecast\.in\.>, \S+, \S+ and \d\d more, nor subscribe to .{1,100}\n +→ see `statecast permissions/m,
  )
})

test('permissions are printed for nats-server, for one role or all, under any prefix that is one', async () => {
  const folder = aFolder()
  const one = await statecast({ folder }, 'permissions', '--role', 'viewer', '--prefix', 'team.one')
  const all = await statecast({ folder }, 'permissions', '--json')
  const two = await statecast({ folder }, 'permissions', '--role', 'tool', '--service', 'weather', '--service', 'sum-up', '--json')
  const nobody = await statecast({ folder }, 'permissions', '--role', 'tool')
  const other = await statecast({ folder }, 'permissions', '--role', 'node', '--service', 'weather')
  const twice = await statecast({ folder }, 'permissions', '--service', 'sum-up', '--service', 'sum_up')
  const wrong = await statecast({ folder }, 'permissions', '--prefix', 'a" }')
  const config = one.stdout.replaceAll('$STATECAST_VIEWER_PASSWORD', 'pw')
  const { url } = await aServer({ config })
  const nc = await connect({ servers: url, user: 'viewer', pass: 'pw', inboxPrefix: '_INBOX_viewer' })
  await nc.close()

  expect(one.stdout).toContain('"team.one.out.>"')
  expect(all.lines.map((line) => (JSON.parse(line) as { role: string }).role)).toEqual(['node', 'gateway', 'viewer'])
  expect(all.stderr).toBe('')
  expect(two.lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { role: 'tool', service: 'weather', inboxPrefix: '_INBOX_tool_weather' },
    { role: 'tool', service: 'sum-up' },
  ])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('[bad_request]') })
  for (const refused of [nobody, other, twice]) expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/\[bad_request\]\nhint: \S/) })
  expect(nobody.stderr).toContain('--service weather')
})

test('to a user who may ask nodes and not be one, doctor says what it may not look at, and finds nothing broken', async () => {
  for (const name of ['STATECAST_NODE_PASSWORD', 'STATECAST_GATEWAY_PASSWORD']) {
    process.env[name] = 'pw'
    onTestFinished(() => void delete process.env[name])
  }
  const { url } = await aServer({ config: serverConfig(['node', 'gateway']) })
  const as = (role: string) => url.replace('//', `//${role}:pw@`).concat(`?inbox_prefix=_INBOX_${role}`)

  const alone = await run(as('gateway'), 'doctor', '--offline')
  const sent = await run(as('gateway'), 'send', 'main', 'hello')
  const node = await aNode({ folder: aFolder() }, '--url', as('node'), '--app', testApp)
  const looked = await run(as('gateway'), 'doctor', '--offline')
  await stopNode(node)

  expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^warn {2}node: none answers there\n +→ start one/m) })
  expect(sent).toMatchObject({ code: 3, stderr: expect.stringMatching(/^error: no node answers, and .*\[forbidden\]\nhint: start a node/) })
  expect(looked.code).toBe(0)
  expect(looked.stdout).toMatch(/^ok {4}permissions: the user 'gateway' may ask nodes, and not be one/m)
  for (const check of ['streams', 'space']) expect(looked.stdout).toContain(`ok    ${check}: not looked at: this user may not`)
  expect(looked.stdout).toContain('ok    partitions: 64 of 64 are held')
})

test('doctor warns of partitions that nobody holds, and says what to start', async () => {
  const { url } = await aServer()
  const node = await aNode({ folder: aFolder() }, '--url', url, '--roles', 'gateway,turn,tool')

  const { code, stdout } = await run(url, 'doctor', '--offline')
  await stopNode(node)

  expect(code).toBe(0)
  expect(stdout).toMatch(/^warn {2}partitions: 0 of 64 are held: .*\n +→ no node has the role session: start one/m)
})
