/** Tools of micro services in a conversation: who may use them, and what becomes of a call whose worker dies. */

import { expect, test } from 'vitest'
import { type Approval, agent } from '../../../src/index.ts'
import { partsOf, type Runtime } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { story } from '../../runtime/harness.ts'
import { aService, type Request, weatherMetadata } from '../../tools/services/fixtures.ts'

const script = [{ calls: [{ name: 'forecast', input: { city: 'Bonn' } }] }, { text: 'thank you' }]
const busOf = (told: { runtime: Runtime }) => partsOf(told.runtime).transport.bus

/** A story whose service is there before it begins; its requests are kept and not answered. */
const served = async (onCrash: 'retry' | 'once', options: { inDoubt?: 'ask' | 'report' } = {}) => {
  const told = await story(script, { services: true, ...options })
  const requests: Request[] = []
  const serve = (id: string, onRequest: (request: Request) => void) =>
    aService(busOf(told), {
      id,
      metadata: { ...weatherMetadata, onCrash },
      onRequest: (request) => {
        requests.push(request)
        request.say({ 'Statecast-Worker': id })
        onRequest(request)
      },
    })
  const service = serve('w1', () => undefined)
  await told.clock.advance(5_000)
  return { told, requests, service, serve }
}
const waiting = async ({ main }: Awaited<ReturnType<typeof story>>): Promise<Approval> => (await main.view()).approvals[0] as Approval

test('the model is told of the service, calls it, sees its result, and whoever watches its progress', async () => {
  const told = await story(
    ({ tools, messages }) => {
      const last = messages.at(-1)
      return last?.role === 'tool' ? { text: String(last.output) } : { calls: [{ name: tools[0]!.name, input: { city: 'Bonn' } }] }
    },
    { services: ['fore*'] },
  )
  await using _ = told
  aService(busOf(told), { onRequest: ({ say, answer }) => (say({ 'Statecast-Progress': 'looking out' }), answer('sun in Bonn')) })
  await told.clock.advance(5_000)

  const { text } = await told.clock.until((await told.say('weather?')).result())

  expect(text).toBe('sun in Bonn')
  expect(told.events('main')).toContainEqual(expect.objectContaining({ type: 'tool', phase: 'progress', name: 'forecast', message: 'looking out' }))
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

test('an agent that was not given services has none', async () => {
  await using told = await story(script)
  aService(busOf(told))
  await told.clock.advance(5_000)

  await told.clock.until((await told.say('weather?')).result())

  expect((await told.transcript())[2]).toBe('tool forecast: ! tool_unknown')
})

test.each([[['two words']], [['a.b']], ['weather'], [[7]]])('what does not say which services is refused: %j', (services) => {
  expect(() => agent({ name: 'main', services: services as string[] })).toThrow(expect.objectContaining({ code: 'bad_request', field: 'services' }))
})

test('without an app there is an agent that may use all of them', async () => {
  await using kit = await testRuntime({ models: { 'scripted/offline': [{ text: 'hi' }] } })
  aService(busOf(kit))
  await kit.clock.advance(5_000)

  expect(partsOf(kit.runtime).agents.get('main')?.tools.names).toContain('forecast')
})

test('retry, its worker dead: another one gets the call, under the same id, as the second attempt', async () => {
  const { told, requests, service, serve } = await served('retry')
  await using _ = told
  const run = await told.say('weather?')
  await told.clock.until(() => requests.length === 1)

  service.kill()
  serve('w2', ({ answer }) => answer('sun'))
  await told.clock.until(run.result())

  expect((await told.transcript())[2]).toBe('tool forecast: "sun"')
  expect(requests.map(({ headers }) => headers['Statecast-Attempt'])).toEqual(['1', '2'])
  expect(new Set(requests.map(({ headers }) => headers['Statecast-Call-Id'])).size).toBe(1)
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

test('retry, the only worker dead: one that is started some seconds later still gets the call', async () => {
  const { told, requests, service, serve } = await served('retry')
  await using _ = told
  const run = await told.say('weather?')
  await told.clock.until(() => requests.length === 1)

  service.kill()
  await told.clock.advance(8_000)
  serve('w2', ({ answer }) => answer('sun'))
  await told.clock.until(run.result())

  expect((await told.transcript())[2]).toBe('tool forecast: "sun"')
  expect(requests).toHaveLength(2)
})

test('once, its worker dead: a person is asked, and nothing runs meanwhile; approved, it runs again [INV-6]', async () => {
  const { told, requests, service, serve } = await served('once')
  await using _ = told
  const run = await told.say('weather?')
  await told.clock.until(() => requests.length === 1)

  service.kill()
  serve('w2', ({ answer }) => answer('sun'))
  await told.clock.advance(20_000)
  const approval = await waiting(told)

  expect(approval).toMatchObject({ name: 'forecast', why: 'in_doubt', attempt: 2 })
  expect(requests).toHaveLength(1)
  await told.main.decide(approval, 'approve')
  await told.clock.until(run.result())
  expect((await told.transcript())[2]).toBe('tool forecast: "sun"')
  expect(requests).toHaveLength(2)
})

test.each(['ask', 'report'] as const)('once, its worker dead, %s: denied or reported, the model reads that nobody knows [INV-6]', async (inDoubt) => {
  const { told, requests, service } = await served('once', { inDoubt })
  await using _ = told
  const run = await told.say('weather?')
  await told.clock.until(() => requests.length === 1)

  service.kill()
  await told.clock.advance(10_000)
  if (inDoubt === 'ask') await told.main.decide(await waiting(told), 'deny')
  await told.clock.until(run.result())

  expect((await told.transcript())[2]).toBe('tool forecast: ! tool_in_doubt')
  expect(requests).toHaveLength(1)
})

test('a stop reaches the worker', async () => {
  const { told, requests } = await served('once')
  await using _ = told
  const heard: string[] = []
  busOf(told).subscribe('statecast.cancel.*.*', ({ subject }) => void heard.push(subject))
  await told.say('weather?')
  await told.clock.until(() => requests.length === 1)

  await told.main.cancel()
  await told.quiet()

  expect(heard).toEqual([requests[0]?.headers['Statecast-Cancel']])
})
