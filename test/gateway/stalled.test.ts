/** Clients that read nothing, and clients that break off. */
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { serveGateway } from '../../src/gateway/serve.ts'
import { agent, createRuntime } from '../../src/index.ts'
import { token } from './harness.ts'

const flood = { text: 'x'.repeat(15_000), chunkSize: 1 }

const aNode = async () => {
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 't/flood' })],
    models: { 't/flood': () => flood },
  })
  const gateway = await serveGateway({ runtime: () => runtime, log: runtime.services.environment.log, host: '127.0.0.1', port: 0, tokens: [token] })
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

const healthMs = async (url: string): Promise<number> => {
  const before = performance.now()
  await (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).text()
  return performance.now() - before
}

test('clients that read nothing and hang up hold up nobody: what waits for them is dropped', async () => {
  const { runtime, gateway, port } = await aNode()
  const sockets = await stalled(port)
  await (await runtime.session('s').send('go')).result()

  for (const socket of sockets) socket.destroy()
  const slowest = Math.max(await healthMs(gateway.url), await healthMs(gateway.url), await healthMs(gateway.url))
  const before = performance.now()
  await gateway.close()
  await runtime.close()

  // It took 15 s, in a bad time as in a good one.
  expect(slowest).toBeLessThan(3000)
  expect(performance.now() - before).toBeLessThan(8000)
})

test('a node that stops does not wait for clients that read nothing', async () => {
  const { runtime, gateway, port } = await aNode()
  const sockets = await stalled(port)
  await (await runtime.session('s').send('go')).result()

  const before = performance.now()
  await runtime.close()
  await gateway.close()

  expect(performance.now() - before).toBeLessThan(8000)
  for (const socket of sockets) socket.destroy()
})

test('a client that breaks off its request is no error of ours', async () => {
  const logged: string[] = []
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, (_: object, text = '') => logged.push(`${level}: ${text}`)]),
  )
  const runtime = await createRuntime({ transport: 'memory:', environment: { log: log as never } })
  const gateway = await serveGateway({ runtime: () => runtime, log: runtime.services.environment.log, host: '127.0.0.1', port: 0, tokens: [token] })
  const port = Number(new URL(gateway.url).port)

  const socket = await raw(port, `POST /rpc/health HTTP/1.1\nHost: 127.0.0.1:${port}\nAuthorization: Bearer ${token}\nContent-Length: 100\n\n{`)
  await healthMs(gateway.url)
  socket.destroy()
  await expect.poll(() => logged).toContain('debug: a client broke off')
  expect(logged.filter((line) => /^(warn|error)/.test(line))).toEqual([])
  await gateway.close()
  await runtime.close()
})
