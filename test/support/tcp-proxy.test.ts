import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { splitNats, startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

let server: Server
let proxy: TcpProxy
const received: string[] = []
const serverSide: Socket[] = []

beforeEach(async () => {
  received.length = serverSide.length = 0
  server = createServer((socket) => {
    serverSide.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      received.push(String(data))
      socket.write(`answer to ${String(data)}`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy = await startTcpProxy({ to: (server.address() as AddressInfo).port })
})
afterEach(async () => {
  await proxy.close()
  for (const socket of serverSide) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

const aClient = (port = proxy.port) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const client = { socket, text: '', end: undefined as string | undefined }
  socket.on('data', (data) => (client.text += String(data)))
  socket.on('end', () => (client.end ??= 'end'))
  socket.on('error', (error: NodeJS.ErrnoException) => (client.end ??= error.code))
  return client
}

test('a proxy passes both ways, and passes the end on after the data', async () => {
  const client = aClient()
  client.socket.end('question')

  await vi.waitFor(() => expect(client.text).toBe('answer to question'))
  await vi.waitFor(() => expect(client.end).toBe('end'))
  await vi.waitFor(() => expect(proxy.connections).toBe(0))
})

test('more than is ever held passes whole in spite of the bounds', async () => {
  const size = 5 * 2 ** 20
  const client = aClient()
  await vi.waitFor(() => expect(serverSide).toHaveLength(1))
  proxy.stall()
  serverSide[0]!.end(Buffer.alloc(size, 'x'))
  await vi.waitFor(() => expect(serverSide[0]!.writableEnded).toBe(true))
  proxy.heal()

  await vi.waitFor(() => expect(client.end).toBe('end'))
  expect(client.text.length).toBe(size)
})

test('a cut drops the connections and each new one, until it is healed', async () => {
  const before = aClient()
  before.socket.write('one')
  await vi.waitFor(() => expect(before.text).toBe('answer to one'))

  proxy.cut()
  const during = aClient()
  await vi.waitFor(() => expect([before.end, during.end]).toEqual(['ECONNRESET', 'ECONNRESET']))
  expect(serverSide).toHaveLength(1)

  proxy.heal()
  const after = aClient()
  after.socket.write('two')
  await vi.waitFor(() => expect(after.text).toBe('answer to two'))
})

test('a stall accepts, passes nothing, and passes all of it in order when healed', async () => {
  const before = aClient()
  before.socket.write('one')
  await vi.waitFor(() => expect(before.text).toBe('answer to one'))

  proxy.stall()
  const during = aClient()
  await once(during.socket, 'connect')
  before.socket.write('two')
  during.socket.write('three')
  // A round on another way shows that there was time.
  const direct = aClient((server.address() as AddressInfo).port)
  direct.socket.write('direct')
  await vi.waitFor(() => expect(direct.text).toBe('answer to direct'))
  expect(received).toEqual(['one', 'direct'])
  expect([before.end, during.end]).toEqual([undefined, undefined])

  proxy.heal()
  await vi.waitFor(() => expect([before.text, during.text]).toEqual(['answer to oneanswer to two', 'answer to three']))
  direct.socket.destroy()
})

test('a client that leaves during a stall is missed by the server only afterwards', async () => {
  const client = aClient()
  client.socket.write('one')
  await vi.waitFor(() => expect(client.text).toBe('answer to one'))
  proxy.stall()
  client.socket.resetAndDestroy()
  const direct = aClient((server.address() as AddressInfo).port)
  direct.socket.write('direct')
  await vi.waitFor(() => expect(direct.text).toBe('answer to direct'))
  expect(serverSide[0]!.closed).toBe(false)

  proxy.heal()

  await vi.waitFor(() => expect(serverSide[0]!.closed).toBe(true))
  direct.socket.destroy()
})

test('a delay comes each way and keeps the order, and a shorter one does not overtake', async () => {
  const client = aClient()
  await once(client.socket, 'connect')
  proxy.delay(60)
  const started = performance.now()
  client.socket.write('one,')
  await vi.waitFor(() => expect(proxy.connections).toBe(1))
  proxy.delay(50)
  client.socket.write('two,')

  await vi.waitFor(() => expect(client.text).toMatch(/two,$/), { interval: 5 })

  expect(performance.now() - started).toBeGreaterThanOrEqual(100)
  expect(received.join('')).toBe('one,two,')
})

test('a lost answer takes its connection along, once, and the server did what was asked', async () => {
  const [one, other] = [aClient(), aClient()]
  const lost = proxy.dropResponsesOnce(/answer to .*two/)
  other.socket.write('one')
  await vi.waitFor(() => expect(other.text).toBe('answer to one'))
  one.socket.write('two')
  await lost

  await vi.waitFor(() => expect(one.end).toBe('ECONNRESET'))
  expect(received).toEqual(['one', 'two'])
  expect(one.text).toBe('')
  const again = aClient()
  again.socket.write('two')
  await vi.waitFor(() => expect(again.text).toBe('answer to two'))
  expect(other.end).toBe(undefined)
})

test('one NATS message among several of one read is lost, with its connection kept', async () => {
  await using nats = await startTcpProxy({ to: (server.address() as AddressInfo).port, split: splitNats })
  const client = aClient(nats.port)
  await vi.waitFor(() => expect(serverSide).toHaveLength(1))
  const lost = nats.dropResponsesOnce('"seq":2', { keep: true })
  // Cut in the middle of a payload that looks like protocol.
  serverSide[0]!.write('PONG\r\nMSG _INBOX.a 1 9\r\n{"seq":1}\r\nHMSG _INBOX.a 1 12 2')
  serverSide[0]!.write('1\r\nNATS/1.0\r\n\r\n{"seq":2}\r\nMSG a 1 8\r\nPING\r\n\r\n\r\n')
  await lost

  await vi.waitFor(() => expect(client.text).toBe('PONG\r\nMSG _INBOX.a 1 9\r\n{"seq":1}\r\nMSG a 1 8\r\nPING\r\n\r\n\r\n'))
  client.socket.destroy()
})

test('a server that is not there resets the client', async () => {
  const port = (server.address() as AddressInfo).port
  await new Promise((resolve) => server.close(resolve))
  await using toNothing = await startTcpProxy({ to: port })
  const client = aClient(toNothing.port)

  await vi.waitFor(() => expect(client.end).toBe('ECONNRESET'))
})
