/** `statecast up` on NATS: what it says of itself, and that it comes to the others only when it can be talked to. */
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { connect } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { aFolder, aNode, start, statecast, stopNode } from './run.ts'

const server = natsForAll()

test('a node names itself, its address, its server and how many nodes there are, without a password', async () => {
  const first = await aNode({ folder: aFolder() }, '--url', server.url)
  await expect.poll(async () => (await statecast({ folder: aFolder() }, 'nodes', '--url', server.url, '--json')).lines.length).toBe(1)
  const second = start({ folder: aFolder() }, 'up', '--port', '0', '--url', server.url.replace('//', '//ann:secret@'))
  await second.firstLine
  second.signal('SIGTERM')
  const { stdout } = await second.ended
  const told = JSON.parse(await first.firstLine) as object
  await stopNode(first)

  expect(told).toMatchObject({ node: expect.stringMatching(/^node-/), server: server.url, nodes: 1, url: first.url })
  expect(told).not.toHaveProperty('data')
  expect(stdout).toMatch(
    /^statecast is up\n {2}node {4}node-\S+\n {2}server {2}nats:\/\/127\.0\.0\.1:\d+, [\s\S]*\n {2}chat {4}http:\S+\/#token=[\w-]{43}\n/,
  )
  expect(stdout).toContain('2 with this one')
  expect(stdout).not.toContain('secret')
})

test('a node whose port is taken never joins', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const nc = await connect({ servers: server.url })
  onTestFinished(async () => {
    taken.close()
    await nc.close()
  })
  const joined: string[] = []
  nc.subscribe('$KV.>', { callback: (_, { subject }) => void (subject.includes('.nodes') && joined.push(subject)) })
  await nc.flush()

  const refused = await statecast({ folder: aFolder() }, 'up', '--url', server.url, '--port', String((taken.address() as AddressInfo).port))
  await nc.flush()

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/in use \[conflict\]\nhint: .*--port/) })
  expect(joined).toEqual([])
})

test('while it connects a node is there already, and says that it is starting', async () => {
  const sockets: Socket[] = []
  const silent = createSocketServer((socket) => void sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  const free = createSocketServer().listen(0, '127.0.0.1')
  await Promise.all([silent, free].map((listener) => new Promise((resolve) => listener.once('listening', resolve))))
  const [nats, port] = [silent, free].map((listener) => (listener.address() as AddressInfo).port)
  await new Promise((resolve) => free.close(resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  const node = start({ folder: aFolder() }, 'up', '--url', `nats://127.0.0.1:${nats}`, '--port', String(port))
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(503)

  expect(await node.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no NATS server answers') })
})
