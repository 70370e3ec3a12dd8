/** Tools in other processes and languages, on a real server: the classic client, Python without a library, bare sockets. */

import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { natsServer } from '../../../scripts/nats-server.ts'
import { agent, createRuntime, type Runtime } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type Nats, natsFetchMs, startNats } from '../../support/nats.ts'
import { obedientModel } from '../../support/obedient-model.ts'
import { type Program, startProgram } from '../../support/processes.ts'

// Processes start, die, and are missed: on a busy machine that takes its time.
const weather = fileURLToPath(new URL('../../../examples/services/weather.py', import.meta.url))
const classic = fileURLToPath(new URL('../../support/classic-worker.ts', import.meta.url))

let server: Nats
let runtime: Runtime
let nc: NatsConnection
beforeAll(async () => {
  await natsServer()
  server = await startNats({ config: 'max_payload: 8MB' })
  nc = await connect({ servers: server.url })
  runtime = await createRuntime({
    transport: server.url,
    agents: [agent({ name: 'main', model: 'test/model', services: true })],
    models: { 'test/model': obedientModel },
  })
}, natsFetchMs)
afterAll(async () => {
  await runtime.close()
  await nc.close()
  await server.stop()
})

const tools = () => partsOf(runtime).agents.get('main')!.tools
const serving = (name: string): Promise<void> => vi.waitFor(() => expect(tools().names).toContain(name))
const startClassic = async (name: string, onCrash = 'once'): Promise<Program> => {
  const worker = startProgram(process.execPath, classic, server.url, name, onCrash)
  await worker.said('serving')
  await serving(name)
  return worker
}
const startPython = async (): Promise<Program> => {
  const worker = startProgram('python3', weather, server.url)
  await worker.said('serves statecast.tools.weather.forecast')
  await serving('weather_forecast')
  return worker
}
/** Sends it and returns what the model made of the tool's answer. */
const ask = async (session: string, text: string): Promise<any> => JSON.parse((await (await runtime.session(session).send(text)).result()).text)

test('a tool of the classic client: found while the node runs, called, shown, answered once', async () => {
  await using _ = await startClassic('adder')

  expect(tools().describe(['adder'])).toMatchObject([{ description: 'does what its input says', inputSchema: { required: ['do'] } }])
  expect(await ask('classic', 'adder {"do":"add","a":2,"b":40}')).toBe(42)
  expect(await ask('classic', 'adder {"do":"twice"}')).toBe('first')
  expect(await ask('classic', 'adder {"do":"refuse"}')).toMatchObject({ error: { code: 'tool_failed', message: 'come back later' } })
  expect(await ask('classic', 'adder {"do":"no-json"}')).toMatchObject({ error: { code: 'tool_output' } })
  expect(await ask('classic', 'adder {"do":"giant"}')).toMatchObject({ error: { code: 'tool_output' } })
  expect(await ask('classic', 'adder {}')).toMatchObject({ error: { code: 'tool_input' } })

  const shown: string[] = []
  const run = await runtime.session('classic').send('adder {"do":"progress"}')
  for await (const event of run.events()) if (event.type === 'tool' && event.phase === 'progress') shown.push(event.message!)
  expect(shown).toEqual(['step 1', 'step 2', 'step 3'])
})

test('once, killed in mid-call: a person is asked, long before the timeout [INV-6]', async () => {
  await using worker = await startClassic('payer')
  const run = await runtime.session('once').send('payer {"do":"hang"}')
  await worker.said('asked to hang')

  await worker.kill('SIGKILL')
  const approval = await vi.waitFor(async () => {
    const [one] = (await runtime.session('once').view()).approvals
    return one ?? Promise.reject(new Error('nobody is asked'))
  })

  expect(approval).toMatchObject({ name: 'payer', why: 'in_doubt', attempt: 2 })
  await runtime.session('once').decide(approval, 'deny')
  expect(JSON.parse((await run.result()).text)).toMatchObject({ error: { code: 'tool_in_doubt' } })
})

test('Python without a library: discovery, progress, result, an error of its own, cancel, death', async () => {
  await using worker = await startPython()
  const run = await runtime.session('python').send('weather_forecast {"city":"Köln","days":2}')
  const shown: string[] = []
  for await (const event of run.events()) if (event.type === 'tool' && event.phase === 'progress') shown.push(event.message!)

  expect(JSON.parse((await run.result()).text)).toEqual({
    city: 'Köln',
    forecast: [expect.stringMatching(/^day 1: /), expect.stringMatching(/^day 2: /)],
  })
  expect(shown).toEqual(['day 1 of 2', 'day 2 of 2'])
  expect((await nc.request('$SRV.STATS.weather', '', { timeout: 60_000 })).json()).toMatchObject({
    name: 'weather',
    endpoints: [{ num_requests: 1, num_errors: 0 }],
  })
  const replies: (string | undefined)[] = []
  for await (const { headers } of await nc.requestMany('statecast.tools.weather.forecast', 'no json', {
    strategy: 'count',
    maxMessages: 2,
    maxWait: 20_000,
  }))
    replies.push(headers?.get('Nats-Service-Error-Code') || headers?.get('Statecast-Worker'))
  expect(replies).toEqual([expect.stringMatching(/^[0-9a-f]{22}$/), '400'])

  const long = await runtime.session('python').send('weather_forecast {"city":"Rome","days":1000}')
  for await (const event of long.events()) if (event.type === 'tool' && event.phase === 'progress') break
  await runtime.session('python').cancel()
  await worker.said('cancelled ')

  const progress: string[] = []
  nc.subscribe('statecast.out.session.python.tool', {
    callback: (_, message) => {
      const { phase, message: text } = message.json<{ phase: string; message?: string }>()
      if (phase === 'progress') progress.push(text!)
    },
  })
  const doomed = await runtime.session('python').send('weather_forecast {"city":"Oslo","days":1000}')
  await vi.waitFor(() => expect(progress).toContain('day 5 of 1000'))
  await worker.kill('SIGKILL')
  progress.length = 0
  // It changes nothing in the world, so whoever comes up next begins anew.
  await using next = startProgram('python3', weather, server.url)
  await vi.waitFor(() => expect(progress[0]).toBe('day 1 of 1000'))
  await runtime.session('python').cancel()
  await next.said('cancelled ')
  await expect(doomed.result()).rejects.toMatchObject({ code: 'cancelled' })
})

test('a forged answer does not get in: whoever hears only of the request cannot name its reply', async () => {
  const replies: string[] = []
  const endpoint = {
    name: 'slow',
    subject: 'slow',
    queue_group: 'q',
    metadata: { description: 'slow', schema: '{"type":"object"}' },
  }
  const info = { type: 'io.nats.micro.v1.info_response', name: 'slow', id: 'slow1', version: '1.0.0', metadata: {}, endpoints: [endpoint] }
  for (const subject of ['$SRV.INFO', '$SRV.PING.slow.slow1'])
    nc.subscribe(subject, { callback: (_, message) => void message.respond(JSON.stringify(info)) })
  nc.subscribe('slow', { callback: (_, { reply }) => void replies.push(reply!) })
  await serving('slow')
  const runs = await Promise.all(['a', 'b'].map((session) => runtime.session(session).send('slow {}')))
  await vi.waitFor(() => expect(replies).toHaveLength(2))

  expect(new Set(replies.map((reply) => reply.slice(-32, -16))).size).toBe(2)
  for (const reply of replies) {
    nc.publish(`${reply.slice(0, -1)}z`, '"forged"')
    nc.publish(reply, '"real"')
    nc.publish(reply, '"double"')
  }

  for (const run of runs) expect((await run.result()).text).toBe('"real"')
})

test('a client without any library: publish plain JSON, read the events', async () => {
  const socket = connectSocket({ host: '127.0.0.1', port: server.port })
  let heard = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    heard += chunk
    if (chunk.includes('PING\r\n')) socket.write('PONG\r\n')
  })
  await once(socket, 'connect')
  const message = JSON.stringify({ type: 'message', text: 'hi', id: 'm1' })

  socket.write('CONNECT {"verbose":false}\r\nSUB statecast.out.session.x.> 1\r\n')
  socket.write(`PUB statecast.in.session.x ${Buffer.byteLength(message)}\r\n${message}\r\n`)

  await vi.waitFor(() => expect(heard).toContain('MSG statecast.out.session.x.final 1 '))
  const [, final = ''] = /MSG statecast\.out\.session\.x\.final 1 \d+\r\n(.*)\r\n/.exec(heard) ?? []
  expect(JSON.parse(final)).toMatchObject({ type: 'final', text: 'hello', ids: ['m1'] })
  socket.destroy()
})
