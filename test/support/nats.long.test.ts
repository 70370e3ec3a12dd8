/** The servers that other tests are run against, asked in the protocol's own words. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test, vi } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { natsFetchMs, startCluster, startNats } from './nats.ts'
import { splitNats, startTcpProxy } from './tcp-proxy.ts'

beforeAll(() => natsServer(), natsFetchMs)

type Reply = { error?: { description: string }; state?: { messages: number }; config?: object; cluster?: { replicas?: unknown[] }; seq?: number }

/** Just enough of a client: its requests are answered in their order. */
const aClient = async (port: number, login: object = {}) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const client = { lines: [] as string[], payloads: [] as string[], end: undefined as string | undefined }
  socket.on('error', (error: NodeJS.ErrnoException) => (client.end ??= error.code))
  socket.on('close', () => (client.end ??= 'closed'))
  let data = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    data = Buffer.concat([data, chunk])
    for (let length = splitNats(data); length > 0; length = splitNats(data)) {
      const [line = '', ...payload] = data.toString('utf8', 0, length).split('\r\n')
      client.lines.push(line)
      if (line.startsWith('MSG')) client.payloads.push(payload.join('\r\n').trimEnd())
      data = data.subarray(length)
    }
  })
  const send = (text: string): void => void socket.write(text)
  send(`CONNECT ${JSON.stringify({ verbose: false, ...login })}\r\nPING\r\n`)
  await vi.waitFor(() => expect(client.lines.includes('PONG') || client.end !== undefined).toBe(true))
  const request = async (subject: string, body = '', patienceMs = 60_000): Promise<Reply> => {
    const place = client.payloads.length
    send(`SUB reply 9\r\nPUB ${subject} reply ${Buffer.byteLength(body)}\r\n${body}\r\n`)
    await vi.waitFor(() => expect(client.payloads.length).toBeGreaterThan(place), patienceMs)
    send('UNSUB 9\r\n')
    return JSON.parse(client.payloads[place]!) as Reply
  }
  return Object.assign(client, { send, request, [Symbol.dispose]: () => void socket.destroy() })
}

const aStream = (extra: object = {}) => JSON.stringify({ name: 'S', subjects: ['s.>'], ...extra })

test('a server takes what is published and gives it to who listens, on loopback only', async () => {
  await using server = await startNats()
  using client = await aClient(server.port)

  client.send('SUB greetings 1\r\nPUB greetings 5\r\nhello\r\n')

  await vi.waitFor(() => expect(client.payloads).toEqual(['hello']))
  expect(server.url).toBe(`nats://127.0.0.1:${server.port}`)
  const { host, version } = JSON.parse(client.lines[0]!.slice('INFO '.length)) as { host: string; version: string }
  expect({ host, version }).toEqual({ host: '127.0.0.1', version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

test.each(['SIGTERM', 'SIGKILL'] as const)('a stream and its messages are there after %s and a restart, at the same address', async (signal) => {
  await using server = await startNats()
  const { pid, port } = server
  {
    using client = await aClient(port)
    expect((await client.request('$JS.API.STREAM.CREATE.S', aStream())).error).toBeUndefined()
    expect(await client.request('s.a', 'kept')).toMatchObject({ seq: 1 })
  }

  await server.kill(signal)
  expect(server.running).toBe(false)
  await server.restart()

  expect(server.port).toBe(port)
  expect(server.pid).not.toBe(pid)
  using client = await aClient(port)
  expect((await client.request('$JS.API.STREAM.INFO.S')).state).toMatchObject({ messages: 1 })
})

test('a frozen server answers nothing until it is thawed, and can be ended as it is', async () => {
  await using server = await startNats({ jetStream: false })
  using client = await aClient(server.port)

  server.freeze()
  client.send('PING\r\n')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(client.lines.filter((line) => line === 'PONG')).toHaveLength(1)

  server.thaw()
  await vi.waitFor(() => expect(client.lines.filter((line) => line === 'PONG')).toHaveLength(2))
  server.freeze()
  await server.kill('SIGTERM')
  expect(server.running).toBe(false)
})

test('JetStream can be left out, users be asked for, lines be added and a store be kept', async () => {
  const store = mkdtempSync(join(tmpdir(), 'statecast-store-'))
  const options = { users: [{ user: 'ann', password: 'p "w"' }], config: 'max_payload: 2048', store, jetStreamConfig: 'sync_interval: 10s' }
  {
    await using server = await startNats(options)
    using stranger = await aClient(server.port)
    expect(stranger.lines).toContain("-ERR 'Authorization Violation'")
    using ann = await aClient(server.port, { user: 'ann', pass: 'p "w"' })
    expect(JSON.parse(ann.lines[0]!.slice(5))).toMatchObject({ max_payload: 2048, jetstream: true })
    await ann.request('$JS.API.STREAM.CREATE.S', aStream())
    expect(await (await fetch(`${server.monitor}/jsz`)).json()).toMatchObject({ config: { sync_interval: 10e9 } })
  }
  {
    await using server = await startNats(options)
    using ann = await aClient(server.port, { user: 'ann', pass: 'p "w"' })
    expect((await ann.request('$JS.API.STREAM.INFO.S')).config).toMatchObject({ name: 'S' })
  }
  rmSync(store, { recursive: true })
  await using plain = await startNats({ jetStream: false })
  using client = await aClient(plain.port)
  expect(JSON.parse(client.lines[0]!.slice(5))).not.toHaveProperty('jetstream')
})

test('each write is synced by default', async () => {
  await using server = await startNats()
  expect(await (await fetch(`${server.monitor}/jsz`)).json()).toMatchObject({ config: { sync_always: true } })
})

test('a server that cannot start says why', async () => {
  await expect(startNats({ config: 'no_such_option: true' })).rejects.toThrow('no_such_option')
})

test('stop() leaves neither process nor folder', async () => {
  const server = await startNats()
  const { pid, store } = server
  expect(existsSync(store)).toBe(true)

  await server.stop()
  await server.stop()

  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(existsSync(store)).toBe(false)
})

test.each(['SIGKILL', 'exit'] as const)('servers die with the process that started them and leave no folder, by %s', async (how) => {
  const nats = JSON.stringify(new URL('nats.ts', import.meta.url).href)
  const script = `const { startNats } = await import(${nats})
    const [one, two, three] = [await startNats(), await startNats(), await startNats()]
    await two.stop()
    console.log(JSON.stringify([one, three].map(({ pid, store }) => ({ pid, store }))))
    ${how === 'exit' ? 'process.exit()' : ''}`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(parent, 'exit')
  const servers = JSON.parse(String((await once(parent.stdout, 'data'))[0])) as { pid: number; store: string }[]

  if (how === 'SIGKILL') parent.kill('SIGKILL')
  await ended

  expect(servers).toHaveLength(2)
  for (const { pid, store } of servers) {
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
    await vi.waitFor(() => expect(existsSync(dirname(store))).toBe(false))
  }
})

test('three servers elect a leader, keep three copies, and elect another when it dies', async () => {
  await using cluster = await startCluster(3)
  const leader = await cluster.leader()
  {
    using client = await aClient(leader.port)
    const made = await client.request('$JS.API.STREAM.CREATE.S', aStream({ num_replicas: 3 }))
    expect(made.error).toBeUndefined()
    expect(made.cluster?.replicas).toHaveLength(2)
    expect(await client.request('s.a', 'kept')).toMatchObject({ seq: 1 })
    expect(JSON.parse(client.lines[0]!.slice(5))).not.toHaveProperty('connect_urls')
  }

  await leader.kill('SIGKILL')
  const next = await cluster.leader()
  expect(next.name).not.toBe(leader.name)
  await leader.restart()

  // A question is lost that is asked while the server finds its peers again: nobody would ever answer it.
  await vi.waitFor(async () => {
    using client = await aClient(leader.port)
    expect((await client.request('$JS.API.STREAM.INFO.S', '', 2_000)).state).toMatchObject({ messages: 1 })
  })
})

test('a proxy cuts and heals between a client and the server, and loses an acknowledgement', async () => {
  await using server = await startNats()
  await using proxy = await startTcpProxy({ to: server.port, split: splitNats })
  using before = await aClient(proxy.port)
  await before.request('$JS.API.STREAM.CREATE.S', aStream())
  const lost = proxy.dropResponsesOnce('"seq":1', { keep: true })
  before.send('SUB acks 3\r\nPUB s.a acks 1\r\na\r\n')
  await lost
  before.send('PUB s.a acks 1\r\nb\r\n')
  await vi.waitFor(() => expect(before.payloads.at(-1)).toContain('"seq":2'))

  proxy.cut()
  await vi.waitFor(() => expect(before.end).toBe('ECONNRESET'))
  proxy.heal()

  using after = await aClient(proxy.port)
  expect((await after.request('$JS.API.STREAM.INFO.S')).state).toMatchObject({ messages: 2 })
})

test('the command prints the path and the version', async () => {
  const command = spawn(process.execPath, [fileURLToPath(new URL('../../scripts/nats-server.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = String((await once(command.stdout, 'data'))[0])
  expect(text).toMatch(/nats-server \d+\.\d+\.\d+\n$/)
  expect(text).toContain(await natsServer())
})
