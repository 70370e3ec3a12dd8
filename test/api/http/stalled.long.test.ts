/** Clients that read nothing, and clients that break off. */

import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { agent, createRuntime } from '../../../src/index.ts'
import { gatewayOn, token } from '../gateway-on.ts'

const flood = { text: 'x'.repeat(15_000), chunkSize: 1 }

const aNode = async () => {
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 't/flood' })],
    models: { 't/flood': () => flood },
  })
  const gateway = await gatewayOn(runtime)
  return { runtime, gateway, port: Number(new URL(gateway.url).port) }
}

const raw = async (port: number, text: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.write(text.replaceAll('\n', '\r\n'), resolve))
  return socket
}

const stalled = (port: number): Promise<Socket[]> =>
  Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = await raw(port, `GET /sessions/s/events HTTP/1.1\nHost: 127.0.0.1:${port}\nAuthorization: Bearer ${token}\n\n`)
      await new Promise((resolve) => socket.once('readable', resolve))
      return socket.pause()
    }),
  )

/** Work of this process, in ms of its processors: what else the machine does is not in it. */
const workOf = async (act: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test('clients that read nothing and hang up hold up nobody: what waits for them is dropped', async () => {
  const { runtime, gateway, port } = await aNode()
  const sockets = await stalled(port)
  const saying = await workOf(async () => (await runtime.session('s').send('go')).result())

  const leaving = await workOf(async () => {
    for (const socket of sockets) socket.destroy()
    await (await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })).text()
    await gateway.close()
    await runtime.close()
  })

  // It took several times as long as all that was said.
  expect(leaving / saying).toBeLessThan(1)
})

test('a node that stops does not wait for clients that read nothing', async () => {
  const { runtime, gateway, port } = await aNode()
  const sockets = await stalled(port)
  const saying = await workOf(async () => (await runtime.session('s').send('go')).result())

  const leaving = await workOf(async () => {
    await runtime.close()
    await gateway.close()
  })

  expect(leaving / saying).toBeLessThan(1)
  for (const socket of sockets) socket.destroy()
})

test('a client that breaks off its request is no error of ours', async () => {
  const logged: string[] = []
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, (_: object, text = '') => logged.push(`${level}: ${text}`)]),
  )
  const runtime = await createRuntime({ transport: 'memory:', environment: { log: log as never } })
  const gateway = await gatewayOn(runtime)
  const port = Number(new URL(gateway.url).port)

  const socket = await raw(port, `POST /rpc/health HTTP/1.1\nHost: 127.0.0.1:${port}\nAuthorization: Bearer ${token}\nContent-Length: 100\n\n{`)
  await (await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })).text()
  socket.destroy()
  await expect.poll(() => logged).toContain('debug: a client broke off')
  expect(logged.filter((line) => /^(warn|error)/.test(line))).toEqual([])
  await gateway.close()
  await runtime.close()
})
