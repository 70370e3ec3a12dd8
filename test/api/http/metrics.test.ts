/** What a Prometheus that scrapes a node gets to know. */
import { expect, test, vi } from 'vitest'
import { parsePrometheus } from '../../support/prometheus.ts'
import { aGateway, eventsOf } from './harness.ts'

type World = Awaited<ReturnType<typeof aGateway>>

const scrape = async ({ call }: World) => {
  const { status, headers, text } = await call('GET', '/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parsePrometheus(text)
  return (name: string, labels: Record<string, string> = {}): number | undefined => {
    const family = [...families].find(([key]) => name === key || name.replace(/_(?:bucket|sum|count)$/, '') === key)?.[1]
    return family?.series.find((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value
  }
}

test('the figures rise as turns run, by how they ended', async () => {
  const world = await aGateway()
  const session = world.runtime.session('main')
  const before = await scrape(world)
  expect(before('statecast_runs_total', { status: 'completed' })).toBe(0)
  expect(before('statecast_run_duration_seconds_count')).toBe(0)

  await (await session.send('hello')).result()
  await (await session.send('again')).result()
  const hanging = await session.send('hang')
  await vi.waitFor(async () => expect((await session.view()).run?.runId).toBe(hanging.runId))
  await hanging.cancel()
  await session.reset()
  const after = await scrape(world)

  expect(after('statecast_runs_total', { status: 'completed' })).toBe(2)
  expect(after('statecast_runs_total', { status: 'aborted' })).toBe(1)
  expect(after('statecast_runs_total', { status: 'failed' })).toBe(0)
  expect(after('statecast_run_duration_seconds_count')).toBe(3)
  expect(after('statecast_run_duration_seconds_bucket', { le: '600' })).toBe(3)
  expect(after('statecast_run_duration_seconds_sum')).toBeCloseTo(world.runtime.metrics().agent_run_duration_ms.sum / 1000, 6)
  expect(after('statecast_session_resets_total')).toBe(1)
  expect(after('statecast_model_tokens_total', { model: 'test/echo', kind: 'output' })).toBe(
    world.runtime.metrics().model_tokens_total['test/echo']?.output,
  )
})

test('they say what runs here, and whether it takes work', async () => {
  const figure = await scrape(await aGateway())

  expect(figure('statecast_build_info', { transport: 'memory', version: '0.1.0' })).toBe(1)
  expect(figure('statecast_ready')).toBe(1)
  expect(figure('statecast_writable')).toBe(1)
  expect(figure('statecast_live_actors')).toBe(0)
})

test('a node that drains takes no work, and says so', async () => {
  const world = await aGateway()
  world.gateway.drain()
  expect((await scrape(world))('statecast_ready')).toBe(0)
})

test('requests are counted by route and not by what stands in it, refused ones too', async () => {
  const world = await aGateway()
  await world.rpc('health')
  await world.rpc('health')
  await world.rpc('nothing')
  await world.call('POST', '/rpc/health', { headers: { authorization: 'Bearer wrong' } })
  await world.call('GET', '/elsewhere/%22%0a')
  await world.call('PROPFIND', '/elsewhere')

  const figure = await scrape(world)

  const requests = (method: string, route: string, status: string) => figure('statecast_http_requests_total', { method, route, status })
  expect(requests('POST', '/rpc/:command', '200')).toBe(2)
  expect(requests('POST', '/rpc/:command', '404')).toBe(1)
  expect(requests('POST', '/rpc/:command', '401')).toBe(1)
  expect(requests('GET', 'none', '404')).toBe(1)
  expect(requests('other', 'none', '404')).toBe(1)
})

test('open streams and connections are there while they are open', async () => {
  const world = await aGateway()
  const stream = await eventsOf(world.gateway.url, 'main')
  const open = await scrape(world)
  expect(open('statecast_http_streams')).toBe(1)
  expect(open('statecast_http_connections')).toBeGreaterThanOrEqual(1)

  stream.stop()

  await vi.waitFor(async () => expect((await scrape(world))('statecast_http_streams')).toBe(0))
})
