/** Which micro services are tools, for whom, and since when. */
import { expect, test } from 'vitest'
import { aTool, plan } from '../fixtures.ts'
import { aService, aWorld, type ServiceOptions, weatherMetadata } from './fixtures.ts'

test('an endpoint with a schema and a description is a tool, with what else its metadata say', async () => {
  await using world = await aWorld()
  const metadata = { ...weatherMetadata, name: 'weather_now', onCrash: 'retry', timeoutMs: '5000', approval: 'always', attemptMax: '3', team: 'sky' }
  aService(world.bus, { metadata })
  aService(world.bus, { name: 'plain', id: 'p1', subject: 'plain', endpoint: 'plain' })

  await world.open()

  expect(world.tools.describe()).toEqual([
    { name: 'plain', description: 'tells the weather', inputSchema: JSON.parse(weatherMetadata.schema) },
    { name: 'weather_now', description: 'tells the weather', inputSchema: JSON.parse(weatherMetadata.schema) },
  ])
  expect(plan(world.tools, 'weather_now', { city: 'Bonn' })).toMatchObject({ onCrash: 'retry', timeoutMs: 5000, attemptMax: 3, needsApproval: true })
  expect(plan(world.tools, 'plain', { city: 'Bonn' })).toMatchObject({ onCrash: 'once', timeoutMs: 60_000, attemptMax: 1, needsApproval: false })
})

test('input that does not fit the schema is refused before anybody is asked, in the words of the schema', async () => {
  await using world = await aWorld()
  aService(world.bus)
  await world.open()

  expect(plan(world.tools, 'forecast', { city: 7 }).problem).toMatchObject({ code: 'tool_input', message: expect.stringContaining('city') })
})

test('a schema that says more than can be checked here is left to the service', async () => {
  await using world = await aWorld()
  const schema = { type: 'object', if: { required: ['a'] }, else: { required: ['b'] } }
  aService(world.bus, { metadata: { ...weatherMetadata, schema: JSON.stringify(schema) } })
  await world.open()

  expect(plan(world.tools, 'forecast', { a: 1 }).problem).toBeUndefined()
  expect(world.tools.describe()[0]?.inputSchema).toMatchObject(schema)
})

test.each<[string, ServiceOptions]>([
  ['a schema that is no JSON', { metadata: { ...weatherMetadata, schema: '{' } }],
  ['a schema that is of no object', { metadata: { ...weatherMetadata, schema: '{"request":{}}' } }],
  ['a policy that does not exist', { metadata: { ...weatherMetadata, onCrash: 'never' } }],
  ['a time that is no number', { metadata: { ...weatherMetadata, timeoutMs: '5s' } }],
  ['a name that no model takes', { metadata: { ...weatherMetadata, name: 'the weather' } }],
  ['a subject of the server', { subject: '$JS.API.STREAM.DELETE.STATECAST_JOURNAL' }],
  ['a subject of replies', { subject: '_INBOX.abc' }],
  ['a subject of our own', { subject: 'statecast.in.session.main' }],
  ['a subject with wildcards', { subject: 'weather.>' }],
])('an endpoint with %s is no tool, and the log says why, once', async (_, options) => {
  await using world = await aWorld()
  const service = aService(world.bus, options)
  aService(world.bus, { name: 'other', id: 'o1', subject: 'other', endpoint: 'other' })

  await world.open()
  await world.clock.advance(20_000)

  expect(world.tools.names).toEqual(['other'])
  expect(world.warnings()).toEqual([
    { message: 'an endpoint cannot be used as a tool', service: 'weather', endpoint: 'forecast', why: expect.any(String) },
  ])
  service.kill()
})

test('whoever answers with nonsense, or with endpoints that are no tools, disturbs nobody', async () => {
  await using world = await aWorld()
  for (const body of ['', 'hello', '[]', '{"name":"a b","id":"1","endpoints":[]}', '{"name":"x","id":"1","endpoints":[7,{"name":"y"}]}'])
    world.bus.subscribe('$SRV.INFO', ({ reply }) => world.bus.publish(reply!, new TextEncoder().encode(body)))
  aService(world.bus, { name: 'bare', id: 'b1', subject: 'bare', metadata: { description: 'no tool' } })
  aService(world.bus)

  await world.open()

  expect(world.tools.names).toEqual(['forecast'])
  expect(world.warnings()).toEqual([])
})

test('one that comes later is taken up by itself, one that is gone is let go', async () => {
  await using world = await aWorld()
  await world.open()
  expect(world.tools.names).toEqual([])

  const service = aService(world.bus)
  await world.clock.until(() => world.tools.names.length === 1)
  service.kill()
  await world.clock.until(() => world.tools.names.length === 0)

  expect(world.tools.plan([{ callId: 'c', name: 'forecast', input: '{}' }])).toMatchObject([{ problem: { code: 'tool_unknown' } }])
})

test('an unknown name is looked for at once', async () => {
  await using world = await aWorld()
  await world.open()
  aService(world.bus)
  const began = world.clock.now()

  await world.clock.until(world.tools.discover!(['forecast']))

  expect(world.tools.names).toEqual(['forecast'])
  expect(world.clock.now() - began).toBeLessThan(1_000)
})

test('an instance that is there but does not answer is kept for a while: it may be busy', async () => {
  await using world = await aWorld()
  const service = aService(world.bus)
  await world.open()

  service.freeze()
  await world.clock.advance(10_000)
  expect(world.tools.names).toEqual(['forecast'])

  await world.clock.until(() => world.tools.names.length === 0, 120_000)
})

test('an agent uses those that it was given, by name or pattern', async () => {
  await using world = await aWorld({ allowed: ['forecast', 'crm_*'] })
  for (const endpoint of ['forecast', 'crm_find', 'crm', 'forecast2']) aService(world.bus, { name: endpoint, id: '1', subject: endpoint, endpoint })

  await world.open()

  expect(world.tools.names).toEqual(['crm_find', 'forecast'])
})

test("an agent's own tool wins over a service of its name, and the log says so once", async () => {
  const own = aTool(() => 'own', { name: 'forecast' })
  await using world = await aWorld({ own: [own] })
  aService(world.bus)
  await world.open()

  expect(await world.call()).toBe('own')
  expect(world.tools.names).toEqual(['forecast'])
  expect(world.warnings()).toEqual([
    { tool: 'forecast', source: 'service:weather', used: 'app', message: 'two tools of an agent have one name: the first is used' },
  ])
})

test('of two services with one name the first stays, and when it is gone the other takes its place', async () => {
  await using world = await aWorld()
  const first = aService(world.bus, { onRequest: ({ answer }) => answer('first') })
  await world.open()
  aService(world.bus, {
    name: 'rival',
    id: 'r1',
    subject: 'rival',
    metadata: { ...weatherMetadata, schema: '{"type":"object"}' },
    onRequest: ({ answer }) => answer('rival'),
  })
  await world.clock.advance(10_000)

  expect(await world.call()).toBe('first')
  expect(world.warnings()).toEqual([expect.objectContaining({ tool: 'forecast', service: 'rival', stays: 'weather' })])

  first.kill()
  await world.clock.advance(10_000)
  expect(await world.call()).toBe('rival')
})

test('instances of one service share the work, and the tool stays as long as one is there', async () => {
  await using world = await aWorld()
  const served: string[] = []
  const [first] = ['w1', 'w2'].map((id) => aService(world.bus, { id, onRequest: ({ answer }) => (served.push(id), answer(id)) }))
  await world.open()
  for (let call = 0; call < 6; call++) await world.call()

  first?.kill()
  await world.clock.advance(20_000)

  expect(new Set(served)).toEqual(new Set(['w1', 'w2']))
  expect(world.tools.names).toEqual(['forecast'])
})

test('a runtime of which no agent may use services asks nobody', async () => {
  await using world = await aWorld()
  let asked = 0
  world.bus.subscribe('$SRV.INFO', () => (asked += 1))

  await world.clock.advance(20_000)

  expect(asked).toBe(0)
  expect(world.clock.pending()).toBe(0)
})
