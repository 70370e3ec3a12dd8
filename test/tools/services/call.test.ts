/** One call of a service: what is asked, what may come back, and how it ends. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { textOf } from '../../transport/harness.ts'
import { plan } from '../fixtures.ts'
import { aService, aWorld, type Request, type ServiceOptions, weatherMetadata } from './fixtures.ts'

/** A world with one service that keeps its requests; without `onRequest` it never answers. */
const served = async (onRequest: (request: Request) => void = () => undefined, options: ServiceOptions = {}) => {
  const world = await aWorld()
  const requests: Request[] = []
  const service = aService(world.bus, { ...options, onRequest: (request) => (requests.push(request), onRequest(request)) })
  const cancelled: object[] = []
  world.bus.subscribe('statecast.cancel.*.*', ({ subject, data }) => void cancelled.push({ subject, ...JSON.parse(textOf(data)) }))
  await world.open()
  return Object.assign(world, { requests, service, cancelled })
}

test('the request is the input, with all that a worker may want to know', async () => {
  await using world = await served(({ answer }) => answer({ sky: 'blue' }))

  const result = await world.call({ city: 'Bonn' }, { callId: 's/r ä:1:1', attempt: 2, session: 'agent:main', runId: 'r ä' })

  expect(result).toEqual({ sky: 'blue' })
  expect(world.requests).toMatchObject([
    {
      input: { city: 'Bonn' },
      headers: {
        'Content-Type': 'application/json',
        'Statecast-Call-Id': 's/r%20%C3%A4:1:1',
        'Statecast-Attempt': '2',
        'Statecast-Session': 'agent:main',
        'Statecast-Run-Id': 'r%20%C3%A4',
        'Statecast-Deadline-Ms': '60000',
        'Statecast-Cancel': expect.stringMatching(/^statecast\.cancel\.[a-z]+\.[0-9a-f]{32}$/),
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      },
    },
  ])
  expect(world.cancelled).toEqual([])
})

test('attempts of a call share its id and its trace', async () => {
  await using world = await served(({ answer }) => answer(1))

  await world.call({ city: 'Bonn' }, { attempt: 1 })
  await world.call({ city: 'Bonn' }, { attempt: 2 })

  const [first, second] = world.requests.map(({ headers }) => headers)
  expect(first!['Statecast-Call-Id']).toBe(second!['Statecast-Call-Id'])
  expect(first!.traceparent!.slice(0, 35)).toBe(second!.traceparent!.slice(0, 35))
  expect(first!.traceparent).not.toBe(second!.traceparent)
  expect(first!['Statecast-Cancel']).not.toBe(second!['Statecast-Cancel'])
})

test('progress is shown as it comes; the first message that is neither progress nor an announcement is the result', async () => {
  const shown: string[] = []
  await using world = await served(({ say, answer }) => {
    say({ 'Statecast-Worker': 'w1' })
    say({ 'Statecast-Progress': 'looking out' })
    say({ 'statecast-progress': 'still looking' }, 'ignored')
    answer('sun')
    answer('a second result')
    say({ 'Statecast-Progress': 'too late' })
  })

  expect(await world.call(undefined, { progress: (text) => void shown.push(text) })).toBe('sun')
  expect(shown).toEqual(['looking out', 'still looking'])
})

test.each([
  ['400', false],
  ['500', false],
  ['429', true],
  ['503', true],
])('an error with status %s is a failure that says what the service said; retryable: %s', async (status, retryable) => {
  await using world = await served(({ say }) => say({ 'Nats-Service-Error': 'no such city', 'Nats-Service-Error-Code': status }))

  await expect(world.call()).rejects.toMatchObject({
    code: 'tool_failed',
    message: 'no such city',
    retryable,
    data: { tool: 'forecast', service: 'weather', status },
  })
})

test.each<[string, string | Uint8Array]>([
  ['is no JSON', 'sunny'],
  ['is empty', ''],
  ['is no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ['is larger than a result may be', JSON.stringify('x'.repeat(1024 * 1024))],
  ['is nested too deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ['would change a prototype', '{"__proto__":{"admin":true}}'],
])('a result that %s is tool_output', async (_, body) => {
  await using world = await served(({ say }) => say({}, body))

  await expect(world.call()).rejects.toMatchObject({ code: 'tool_output' })
})

test('nobody there is told at once, as a failure that may pass', async () => {
  await using world = await served()
  const planned = plan(world.tools, 'forecast', { city: 'Bonn' })
  world.service.kill()
  const began = world.clock.now()

  await expect(world.run(planned)).rejects.toMatchObject({
    code: 'tool_failed',
    retryable: true,
    hint: expect.stringContaining("start the service 'weather'"),
  })
  expect(world.clock.now()).toBe(began)
  expect(world.cancelled).toEqual([])
})

test('a call whose service was let go meanwhile says so, and may pass', async () => {
  await using world = await served()
  const planned = plan(world.tools, 'forecast', { city: 'Bonn' })
  world.service.kill()
  await world.clock.until(() => world.tools.names.length === 0)

  await expect(world.run(planned)).rejects.toMatchObject({
    code: 'tool_unknown',
    retryable: true,
    hint: expect.stringContaining('start the service'),
  })
})

test('a call whose service came back meanwhile runs', async () => {
  await using world = await served()
  const planned = plan(world.tools, 'forecast', { city: 'Bonn' })
  world.service.kill()
  await world.clock.until(() => world.tools.names.length === 0)
  aService(world.bus, { id: 'w2' })

  expect(await world.run(planned)).toEqual({ city: 'Bonn' })
})

test('a call that is cancelled tells its worker', async () => {
  const stop = new AbortController()
  await using world = await served(() => stop.abort())

  await expect(world.call(undefined, { signal: stop.signal, callId: 'c7' })).rejects.toMatchObject({ code: 'cancelled' })

  await world.clock.settle()
  expect(world.cancelled).toEqual([{ subject: world.requests[0]?.headers['Statecast-Cancel'], callId: 'c7', reason: 'cancelled' }])
})

test('a call whose time is up tells its worker, and what it answers later goes nowhere', async () => {
  await using world = await served(undefined, { metadata: { ...weatherMetadata, timeoutMs: '3000' } })

  await expect(world.call()).rejects.toMatchObject({ code: 'tool_timeout' })
  await world.clock.settle()
  world.requests[0]?.answer('late')

  expect(world.cancelled).toMatchObject([{ reason: 'tool_timeout' }])
  expect(world.bus.wanted(world.requests[0]!.reply)).toBe(false)
})

test('two calls have reply subjects of their own: an answer to one is none to the other, and none can be guessed', async () => {
  await using world = await served()
  const first = world.tools.run(plan(world.tools, 'forecast', { city: 'Bonn' }), { ...aCall, callId: 'c1' })
  const second = world.tools.run(plan(world.tools, 'forecast', { city: 'Rome' }), { ...aCall, callId: 'c2' })
  await world.clock.until(() => world.requests.length === 2)

  const replies = world.requests.map(({ reply }) => reply)
  for (const reply of replies) world.bus.publish(`${reply.slice(0, -1)}z`, new TextEncoder().encode('"forged"'))
  world.requests[1]?.answer('two')
  world.requests[0]?.answer('one')

  expect(await Promise.all([first, second])).toEqual(['one', 'two'])
})

const aCall = {
  artifacts: {},
  attempt: 1,
  session: 's',
  runId: 'r',
  signal: new AbortController().signal,
  progress: () => undefined,
  log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
}

const lost = { code: 'tool_lost', retryable: true, message: expect.stringContaining('weather') }

test('a worker that has said who it is and dies is missed long before the timeout, though another instance is there', async () => {
  await using world = await served(({ say }) => say({ 'Statecast-Worker': 'w1' }))
  const began = world.clock.now()
  const call = world.call()
  const ended = expect(call).rejects.toMatchObject({ ...lost, data: { worker: 'w1' } })
  await world.clock.until(() => world.requests.length === 1)
  aService(world.bus, { id: 'w2' })
  world.service.kill()

  await ended
  expect(world.clock.now() - began).toBeLessThanOrEqual(3_000)
  expect(world.cancelled).toMatchObject([{ reason: 'tool_lost' }])
})

test('one that has not said who it is is missed when all that were there are gone', async () => {
  await using world = await served()
  const began = world.clock.now()
  const ended = expect(world.call()).rejects.toMatchObject(lost)
  await world.clock.until(() => world.requests.length === 1)
  world.service.kill()

  await ended
  expect(world.clock.now() - began).toBeLessThanOrEqual(3_000)
})

test('one that has not said who it is may be any that is still there: then only the timeout ends the call', async () => {
  await using world = await aWorld()
  const requests: string[] = []
  const services = new Map(['w1', 'w2'].map((id) => [id, aService(world.bus, { id, onRequest: () => requests.push(id) })]))
  await world.open()
  const ended = expect(world.call()).rejects.toMatchObject({ code: 'tool_timeout' })
  await world.clock.until(() => requests.length === 1)

  services.get(requests[0]!)?.kill()

  await ended
})

test('a worker that stands still is not taken for dead: when it goes on, its answer counts', async () => {
  await using world = await served(({ say }) => say({ 'Statecast-Worker': 'w1' }), { metadata: { ...weatherMetadata, timeoutMs: '60000' } })
  const call = world.call()
  await world.clock.until(() => world.requests.length === 1)
  world.service.freeze()
  await world.clock.advance(30_000)

  world.bus.publish(world.requests[0]!.reply, new TextEncoder().encode('"after all"'))

  expect(await call).toBe('after all')
})

test('a responder that answers nothing but its subject, such as a loop in a shell, is never taken for dead', async () => {
  await using world = await aWorld()
  const endpoints = [{ name: 'forecast', subject: 'shell', queue_group: 'q', metadata: weatherMetadata }]
  world.bus.subscribe('$SRV.INFO', ({ reply }) =>
    world.bus.publish(reply!, new TextEncoder().encode(JSON.stringify({ name: 'sh', id: '1', endpoints }))),
  )
  world.bus.subscribe('shell', ({ reply }) => world.clock.setTimeout(() => world.bus.publish(reply!, new TextEncoder().encode('"slow"')), 20_000))
  await world.open()

  expect(await world.call()).toBe('slow')
})

test('when a call has ended, nothing of it is left', async () => {
  await using world = await served(({ say, answer }) => (say({ 'Statecast-Worker': 'w1' }), answer(1)))
  await world.clock.advance(2_500)
  const before = world.clock.pending()

  await world.call()

  expect(world.clock.pending()).toBe(before)
})

test('what the bus refuses to send is no doubt: nothing has run', async () => {
  await using world = await served()
  const bus = world.bus as { requestMany: unknown }
  bus.requestMany = () => {
    throw new RuntimeError('too_large', 'a message on the bus may have 10 bytes')
  }

  await expect(world.call()).rejects.toMatchObject({ code: 'tool_failed', message: expect.stringContaining('10 bytes') })
})
