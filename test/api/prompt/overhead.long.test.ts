/** What we take of a run ourselves, on a machine that does nothing else. */
import { expect, test } from 'vitest'
import type { RunTrace } from '../../../src/contracts/tracing.ts'
import { agent } from '../../../src/index.ts'
import { aGateway } from '../http/harness.ts'
import { aSocket } from '../ws/a-socket.ts'

test('[CH-89] of fifty messages that a model answers at once we take less than 100 ms ourselves, at the 95th percentile', async () => {
  const { gateway } = await aGateway(
    {},
    { agents: [agent({ name: 'main', model: 'test/model' })], models: { 'test/model': () => ({ text: 'yes' }) } },
  )
  const { request, event } = await aSocket(gateway.url)
  const totals: number[] = []
  for (let count = 0; count < 50; count++) {
    const runId = `k${count}`
    await request('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: runId })
    await event('chat', (payload) => payload.runId === runId && payload.state === 'final')
    const { payload } = await request('trace.spans', { sessionKey: 'main', runId })
    const [{ overhead }] = payload.runs as [RunTrace]
    if (count === 0) expect(Object.keys(overhead)).toEqual(['connect', 'auth', 'acknowledgement', 'session', 'model', 'prompt', 'skills', 'total'])
    totals.push(overhead.total)
  }

  expect(totals.sort((a, b) => a - b)[Math.floor(totals.length * 0.95)]).toBeLessThan(100)
})
