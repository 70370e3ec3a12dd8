/** When a run did what, as clients of a gateway are told it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { RunTrace } from '../../../src/contracts/tracing.ts'
import { agent, type RuntimeOptions, tool } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aGateway, token } from '../http/harness.ts'
import { aSocket, rawSocket } from '../ws/a-socket.ts'

const work = tool({ name: 'work', description: 'works', input: z.object({}), execute: () => 'done' })
const app = (model: NonNullable<RuntimeOptions['models']>[string], more: RuntimeOptions = {}): RuntimeOptions => ({
  agents: [agent({ name: 'main', model: 'test/model', tools: [work] })],
  models: { 'test/model': model },
  ...more,
})
const names = (spans: RunTrace['spans']) => spans.map(({ name }) => name)

test('[CH-19] one message has its eight stages in order, each with begin, end and outcome; [CH-30] and the run its six steps', async () => {
  const { gateway } = await aGateway({}, app([{ calls: [{ name: 'work' }] }, { text: 'done' }]))
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await event('chat', ({ state }) => state === 'final')

  const { payload } = await request('trace.spans', { sessionKey: 'main', runId: 'k1' })
  const [trace] = payload.runs as [RunTrace]
  expect(trace).toMatchObject({ runId: 'k1', ended: true })
  expect(names(trace.stages)).toEqual(['validate', 'dispatch', 'directives', 'session', 'media', 'links', 'model', 'run'])
  expect(trace.stages.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok', 'skipped', 'skipped', 'ok', 'ok'])
  expect(names(trace.steps)).toEqual(['prompt', 'skills', 'tools', 'call', 'stream', 'loop'])
  for (const spans of [trace.stages, trace.steps])
    for (const [place, { start, end }] of spans.entries()) {
      expect(end).toBeGreaterThanOrEqual(start)
      expect(start).toBeGreaterThanOrEqual(spans[place - 1]?.start ?? 0)
    }
  expect(names(trace.spans)).toContain('tool work')
  expect(await request('trace.spans', { sessionKey: 'main', runId: 'none' })).toMatchObject({ ok: false, error: { code: 'not_found' } })
})

test('[CH-88] the way to the first token is told in parts that add up, thinking and text apart', async () => {
  const clock = virtualClock()
  const asked = Promise.withResolvers<void>()
  const model = () => {
    asked.resolve()
    return { delayMs: 400, reasoning: 'hm', text: 'well yes', deltaDelayMs: 50 }
  }
  const { gateway } = await aGateway({ clock }, app(model, { environment: { clock } }))
  const { until, send } = rawSocket(gateway.url)
  await until(({ event }) => event === 'connect.challenge')
  await clock.advance(30)
  send({ type: 'req', id: '1', method: 'connect', params: { minProtocol: 1, maxProtocol: 1, client: { name: 'test' }, auth: { token } } })
  await until(({ id }) => id === '1')
  await clock.advance(5_000)
  send({ type: 'req', id: '2', method: 'chat.send', params: { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' } })
  await Promise.all([asked.promise, until(({ id }) => id === '2')])
  await clock.advance(1_000)
  await until(({ event, payload }) => event === 'chat' && payload.state === 'final')
  send({ type: 'req', id: '3', method: 'trace.spans', params: { sessionKey: 'main', runId: 'k1' } })

  const { payload } = await until(({ id }) => id === '3')
  const [{ latency }] = payload.runs as [RunTrace]
  const parts = Object.fromEntries(latency.parts.map(({ name, ms }) => [name, ms]))
  for (const [name, ms] of Object.entries({ connect: 30, acknowledgement: 0, startup: 0, firstToken: 400, streaming: 150 }))
    expect(Math.abs((parts[name] as number) - ms), name).toBeLessThanOrEqual(5)
  expect(latency.totalMs).toBeCloseTo(Object.values(parts).reduce((sum, ms) => sum + ms, 0))
  expect(latency).toMatchObject({ firstThinkingMs: 400, firstTextMs: 450 })
  expect(latency.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(100, 0)
})

test('[CH-89] the overhead of a run leaves out what the model takes, and its parts add up', async () => {
  const clock = virtualClock()
  const asked = Promise.withResolvers<void>()
  const model = () => {
    asked.resolve()
    return { delayMs: 30_000, text: 'yes' }
  }
  const { gateway } = await aGateway({ clock }, app(model, { environment: { clock } }))
  const { request, event } = await aSocket(gateway.url)
  await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: 'k1' })
  await asked.promise
  await clock.advance(30_000)
  await event('chat', ({ state }) => state === 'final')

  const [{ overhead }] = (await request('trace.spans', { sessionKey: 'main', runId: 'k1' })).payload.runs as [RunTrace]
  const { total, ...parts } = overhead as Record<string, number>
  expect(Object.keys(parts)).toEqual(['connect', 'auth', 'acknowledgement', 'session', 'model', 'prompt', 'skills'])
  expect(total).toBeCloseTo(Object.values(parts).reduce((sum, ms) => sum + ms, 0))
  // The budget of the row; in virtual time only a model's time could exceed it.
  expect(total).toBeLessThan(100)
})

test('[CH-92] after eleven minutes with a cache of ten the run is cold, and its trace says so', async () => {
  const clock = virtualClock()
  const agents = [agent({ name: 'main', model: 'test/model', context: { cacheMs: 600_000 } })]
  const { gateway } = await aGateway(
    { clock },
    app(() => ({ text: 'yes' }), { environment: { clock }, agents }),
  )
  const { request, event } = await aSocket(gateway.url)
  const cacheOf = async (runId: string) => {
    await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: runId })
    const { payload } = await event('chat', (chat) => chat.runId === runId && chat.state === 'final')
    const { runs } = (await request('trace.spans', { sessionKey: 'main', runId })).payload
    expect(runs[0].spans.find(({ name }: { name: string }) => name === 'call').attributes.cache).toBe(payload.cache)
    return payload.cache
  }

  expect(await cacheOf('k1')).toBe('new')
  await clock.advance(9 * 60_000)
  expect(await cacheOf('k2')).toBe('warm')
  await clock.advance(11 * 60_000)
  expect(await cacheOf('k3')).toBe('expired')
})
