/** Agents as their authors and users meet them. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type Model, tool } from '../../../src/index.ts'
import { agent, type LadderError, type LadderEvent } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const add = tool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  onCrash: 'retry',
  execute: ({ a, b }) => a + b,
})
const spent = { inputTokens: 10, outputTokens: 5 }

test('[WL-001, WL-002, WL-117] the model is asked until it calls no tool any more; what is executed and what is streamed end alike', async () => {
  const sums = agent({ name: 'sums', model: 'test/a', tools: [add] })
  const script = [
    { calls: [{ name: 'add', input: { a: 1, b: 2 } }], usage: spent },
    { text: 'three', usage: spent },
  ]
  await using kit = await aLadderOf({ 'test/a': script }, sums)

  const executed = await kit.clock.until(sums.execute('1 + 2?', { runId: 'r' }))
  const streamed = sums.stream('1 + 2?', { runId: 's' })
  const events: LadderEvent[] = []
  await kit.clock.until(
    (async () => {
      for await (const event of streamed) events.push(event)
    })(),
  )

  expect(executed).toMatchObject({
    data: 'three',
    usage: { input: 20, output: 10, total: 30 },
    report: {
      schemaVersion: 1,
      type: 'agent',
      name: 'sums',
      status: 'completed',
      runId: 'r',
      rootRunId: 'r',
      trips: 2,
      model: 'test/a',
      children: [{ type: 'tool', name: 'add', status: 'completed', parentRunId: 'r', rootRunId: 'r' }],
    },
  })
  const timeless = (text: string) => JSON.parse(text.replaceAll(/"(?:startedAt|endedAt|duration)":\d+/g, '"t":0').replaceAll('"s', '"r'))
  expect(timeless(JSON.stringify(await streamed.result))).toEqual(timeless(JSON.stringify(executed)))
  expect(events.filter(({ type }) => type !== 'agent.trip.streaming').map(({ type }) => type)).toEqual([
    'agent.starting',
    'agent.trip.started',
    'agent.trip.completed',
    'agent.tool.calling',
    'agent.tool.called',
    'agent.trip.started',
    'agent.trip.completed',
    'agent.completed',
  ])
  expect(events.flatMap(({ type, delta }) => (type === 'agent.trip.streaming' ? [delta] : [])).join('')).toBe('three')
  expectTypeOf<LadderEvent['delta' | 'tool']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<LadderEvent['iteration']>().toEqualTypeOf<number | undefined>()
  expect(new Set(events.map(({ runId, rootRunId }) => `${runId} ${rootRunId}`))).toEqual(new Set(['s s']))
  expect(await kit.runtime.replay({ kind: 'sums', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-117] a model that never stops to call tools is ended after ten trips', async () => {
  const restless = agent({ name: 'restless', model: 'test/a', tools: [add] })
  let asked = 0
  await using kit = await aLadderOf({ 'test/a': () => ({ calls: [{ name: 'add', input: { a: asked++, b: 0 } }] }) }, restless)

  const { error, report } = await kit.clock.until(restless.execute('go'))

  expect(asked).toBe(10)
  expect(error).toMatchObject({ code: 'AGENT_MAX_TRIPS', category: 'limit', context: { actual: 10 } })
  expect(report).toMatchObject({ status: 'failed', trips: 10 })
})

test('[WL-118] an agent without a name has one of its model and tools, the same each time', () => {
  const made = (...tools: (typeof add)[]) => agent({ model: 'test/a', tools }).name
  expect(made(add)).toBe(made(add))
  expect(made(add)).not.toBe(made())
  const look = tool({ ...add, name: 'look' })
  expect(made(add, look)).toBe(made(look, add))
  expect(agent({ model: 'test/b', tools: [add] }).name).not.toBe(made(add))
  expect(made()).toMatch(/^agent-[0-9a-f]{8}$/)
})

test('[WL-122] an answer that does not fit is asked for again with what is wrong, as often as was said; data has the type of the schema', async () => {
  const output = z.object({ city: z.string(), people: z.number() })
  const mayor = agent({ name: 'mayor', model: 'test/a', output, repair: 1 })
  const strict = agent({ name: 'strict', model: 'test/a', output })
  const seen: string[] = []
  const answers = ['{"city":"Ulm"}', '```json\n{"city":"Ulm","people":126000}\n```']
  const model = ({ messages, instructions }: { messages: { role: string; text?: string }[]; instructions: string }) => {
    seen.push(instructions, messages.at(-1)?.text ?? '')
    return { text: answers[messages.filter(({ role }) => role === 'assistant').length] as string, usage: spent }
  }
  await using kit = await aLadderOf({ 'test/a': model }, mayor, strict)

  const mended = await kit.clock.until(mayor.execute('Ulm?'))
  expectTypeOf(mended.data).toEqualTypeOf<{ city: string; people: number } | undefined>()
  expect(mended).toMatchObject({ data: { city: 'Ulm', people: 126000 }, usage: { total: 30 }, report: { trips: 2, status: 'completed' } })
  expect(seen[0]).toContain('"people"')
  expect(seen[3]).toContain('people')

  const failed = await kit.clock.until(strict.execute('Ulm?', { runId: 'f' }))
  expect(failed).toMatchObject({
    error: { code: 'SCHEMA_VALIDATION_FAILED', category: 'validation', context: { issues: [{ path: 'people' }] } },
    report: { status: 'failed', trips: 1 },
  })
  // An answer that is asked for again is a trip as any other.
  const brief = agent({ name: 'brief', model: 'test/a', output, repair: 5, maxTrips: 1 })
  await using other = await aLadderOf({ 'test/a': model }, brief)
  expect(await other.clock.until(brief.execute('Ulm?'))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' }, report: { trips: 1 } })
  // It goes on where it stopped: the model is told what was wrong.
  expect(await kit.clock.until(strict.resume('f'))).toMatchObject({ data: { people: 126000 }, report: { trips: 2 } })
})

test('[WL-003, WL-131] what goes wrong has a code; another model answers for one that fails, and the report says so', async () => {
  const failing = (code: string) => ({ name: `fails-${code.replaceAll('_', '-').slice(-12)}`, model: `test/${code}`, maxRetries: 0 })
  const expected = {
    provider_auth: ['PROVIDER_AUTH', 'provider'],
    provider_billing: ['PROVIDER_QUOTA_EXCEEDED', 'provider'],
    provider_rate_limit: ['PROVIDER_RATE_LIMIT', 'provider'],
    provider_timeout: ['PROVIDER_TIMEOUT', 'timeout'],
    provider_unavailable: ['PROVIDER_ERROR', 'provider'],
    provider_rejected: ['PROVIDER_INVALID_REQUEST', 'provider'],
  } as const
  const agents = Object.keys(expected).map((code) => agent(failing(code)))
  const spare = agent({ name: 'spare', model: 'test/provider_rate_limit', fallbacks: ['test/b'], maxRetries: 0 })
  const models = Object.fromEntries(Object.keys(expected).map((code) => [`test/${code}`, [{ error: { code, message: `it said ${code}` } }]]))
  await using kit = await aLadderOf({ ...models, 'test/b': [{ text: 'here' }] }, ...agents, spare)

  for (const [index, [code, category]] of Object.values(expected).entries()) {
    const { error, report } = await kit.clock.until((agents[index] as (typeof agents)[number]).execute('hi'))
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code, category })
    expect(report).toMatchObject({ status: 'failed', error: { code } })
  }
  expect(await kit.clock.until(spare.execute('hi'))).toMatchObject({
    data: 'here',
    report: { status: 'completed', failovers: [{ model: 'test/provider_rate_limit', reason: 'rate_limit' }] },
  })
})

test('[WL-131] models are asked in their order where one is slow, down or overloaded; what another one could not mend either ends the run', async () => {
  const fallbacks = ['test/provider_timeout', 'test/b', 'test/c']
  const patient = agent({ name: 'patient', model: 'test/provider_unavailable', fallbacks, maxRetries: 0 })
  const refused = agent({ name: 'refused', model: 'test/overflow', fallbacks: ['test/b'], maxRetries: 0 })
  const down = (code: 'provider_timeout' | 'provider_unavailable' | 'provider_rejected') => [{ error: { code, message: 'no' } }]
  await using kit = await aLadderOf(
    {
      'test/provider_unavailable': down('provider_unavailable'),
      'test/provider_timeout': down('provider_timeout'),
      'test/b': [{ text: 'here' }],
      'test/overflow': [{ error: { code: 'provider_rejected', message: 'a picture is too large' } }],
    },
    patient,
    refused,
  )

  expect(await kit.clock.until(patient.execute('hi'))).toMatchObject({
    data: 'here',
    report: {
      model: 'test/b',
      failovers: [
        { model: 'test/provider_unavailable', reason: 'unavailable' },
        { model: 'test/provider_timeout', reason: 'timeout' },
      ],
    },
  })
  expect(await kit.clock.until(refused.execute('hi'))).toMatchObject({ error: { code: 'PROVIDER_INVALID_REQUEST' }, report: { status: 'failed' } })
})

test('[WL-131] where a model breaks off in the middle of its answer, another one is asked only where the author says so: that trip begins anew, and what was told before is no part of it', async () => {
  const parts = { model: 'test/a', fallbacks: ['test/b'], maxRetries: 0 }
  const [strict, spare] = [agent({ name: 'strict', ...parts }), agent({ name: 'spare', ...parts, failover: { midStream: true } })]
  const broken = { chunks: ['half ', 'of'], error: { code: 'provider_unavailable', message: 'cut' } }
  await using kit = await aLadderOf({ 'test/a': () => broken as never, 'test/b': () => ({ text: 'whole' }) }, strict, spare)
  const heard: unknown[] = []
  const on = {
    'agent.trip.started': ({ trip, model }: LadderEvent) => void heard.push([trip, model]),
    'agent.trip.streaming': ({ delta }: LadderEvent) => void heard.push(delta),
  }

  expect(await kit.clock.until(strict.execute('hi', { on }))).toMatchObject({ error: { code: 'PROVIDER_ERROR', message: 'cut' } })
  expect(heard.splice(0)).toEqual([[1, 'test/a'], 'half ', 'of'])
  expect(await kit.clock.until(spare.execute('hi', { on }))).toMatchObject({ data: 'whole', report: { trips: 1, model: 'test/b' } })
  expect(heard).toEqual([[1, 'test/a'], 'half ', 'of', [1, 'test/b'], 'whole'])
})

test('[WL-131] a model that has broken off is asked again, and no other one after it; its next trip may have another one', async () => {
  const answers = [
    { chunks: ['half'], error: { code: 'provider_unavailable', message: 'cut' } },
    { error: { code: 'provider_unavailable', message: 'down' } },
    { text: 'no JSON' },
    { error: { code: 'provider_unavailable', message: 'down' } },
  ]
  const stubborn = agent({ name: 'stubborn', model: 'test/a', fallbacks: ['test/b'], maxRetries: 2, output: z.object({ n: z.number() }), repair: 1 })
  await using kit = await aLadderOf({ 'test/a': () => answers.shift() as never, 'test/b': () => ({ text: '{"n":1}' }) }, stubborn)

  expect(await kit.clock.until(stubborn.execute('hi'))).toMatchObject({ data: { n: 1 }, report: { trips: 2, model: 'test/b' } })
  expect(answers).toEqual([])
})

test('[WL-131] which failures lead to another model is said by the author', async () => {
  const picky = agent({ name: 'picky', model: 'test/busy', fallbacks: ['test/down', 'test/b'], maxRetries: 0, failover: { on: ['rate_limit'] } })
  const failing = (code: 'provider_rate_limit' | 'provider_unavailable') => () => ({ error: { code, message: code } }) as never
  await using kit = await aLadderOf(
    { 'test/busy': failing('provider_rate_limit'), 'test/down': failing('provider_unavailable'), 'test/b': () => ({ text: 'here' }) },
    picky,
  )

  expect(await kit.clock.until(picky.execute('hi'))).toMatchObject({
    error: { code: 'PROVIDER_RATE_LIMIT', message: expect.stringContaining('provider_unavailable') },
    report: { status: 'failed', failovers: [{ model: 'test/busy' }, { model: 'test/down' }] },
  })
  expect(() => agent({ name: 'odd', model: 'test/a', failover: { on: ['rate-limit'] as never } })).toThrow(
    expect.objectContaining({ code: 'LADDER_CONFIG', message: expect.stringContaining('failover') }),
  )
})

test('[WL-119] calls of one answer run one after another, in their order; at once where the author says so, and are answered in their order then, whichever ends first', async () => {
  const seen: string[] = []
  const slow = Promise.withResolvers<void>()
  const work = (waits: boolean) =>
    tool({
      name: 'work',
      description: 'Works.',
      input: z.object({ at: z.number() }),
      onCrash: 'retry',
      execute: async ({ at }) => {
        seen.push(`${at} begins`)
        if (waits && at === 1) await slow.promise
        else await Promise.resolve()
        slow.resolve()
        seen.push(`${at} ends`)
        return at
      },
    })
  const made = (name: string, more: object, waits: boolean) => agent({ name, model: 'test/a', tools: [work(waits)], ...more })
  const [atOnce, oneByOne] = [made('at-once', { toolExecution: 'parallel' }, true), made('one-by-one', {}, false)]
  const model = ({ messages }: { messages: { role: string; output?: unknown }[] }) => {
    const outputs = messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []))
    return outputs.length > 0 ? { text: outputs.join() } : { calls: [1, 2, 3].map((at) => ({ name: 'work', input: { at } })) }
  }
  await using kit = await aLadderOf({ 'test/a': model }, atOnce, oneByOne)

  expect(await kit.clock.until(atOnce.execute('go'))).toMatchObject({ data: '1,2,3', report: { trips: 2 } })
  expect(seen.filter((line) => line.endsWith('begins'))).toEqual(['1 begins', '2 begins', '3 begins'])
  expect(seen.indexOf('1 ends')).toBeGreaterThan(seen.indexOf('2 ends'))
  seen.length = 0
  expect(await kit.clock.until(oneByOne.execute('go'))).toMatchObject({ data: '1,2,3' })
  expect(seen).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends'])
})

test('[WL-119] bad arguments, a tool that throws and one that is not there are results for the model, which goes on', async () => {
  const broken = tool({
    name: 'broken',
    description: 'Breaks.',
    input: z.object({}),
    onCrash: 'retry',
    execute: () => Promise.reject(new Error('no ink')),
  })
  const clumsy = agent({ name: 'clumsy', model: 'test/a', tools: [add, broken] })
  const calls = [
    { name: 'add', input: { a: 'x' } },
    { name: 'broken', input: {} },
    { name: 'nothing', input: {} },
  ]
  await using kit = await aLadderOf({ 'test/a': [{ calls }, { text: 'well' }] as never }, clumsy)

  expect(await kit.clock.until(clumsy.execute('go'))).toMatchObject({
    data: 'well',
    report: {
      trips: 2,
      children: [
        { name: 'add', status: 'failed', error: { code: 'TOOL_EXEC_FAILED', context: { code: 'tool_input' } } },
        { name: 'broken', status: 'failed', error: { message: expect.stringContaining('no ink') } },
        { name: 'nothing', status: 'failed', error: { context: { code: 'tool_unknown' } } },
      ],
    },
  })
})

test('[WL-124] cancelled while its model speaks: what it has used is counted, nothing more is said, and it can go on', async () => {
  const slow = agent({ name: 'slow', model: 'test/a' })
  const leave = new AbortController()
  const deltas: unknown[] = []
  await using kit = await aLadderOf(
    { 'test/a': [{ chunks: ['one ', 'two ', 'three'], deltaDelayMs: 1_000, usage: spent }, { text: 'all of it' }] },
    slow,
  )
  const run = slow.execute('go', {
    runId: 'r',
    signal: leave.signal,
    on: { 'agent.trip.streaming': ({ delta }) => (deltas.push(delta), leave.abort('enough')) },
  })

  expect(await kit.clock.until(run)).toMatchObject({
    error: { code: 'AGENT_CANCELLED', category: 'cancelled', context: { reason: 'enough' } },
    report: { status: 'cancelled' },
  })
  expect(deltas).toEqual(['one '])
  expect(await kit.clock.until(slow.resume('r'))).toMatchObject({ data: 'all of it', report: { status: 'completed', trips: 2 } })
})

test('[WL-124] a provider that throws as it is told to stop has not failed: the run is cancelled; so it is between two answers, and no model is asked again', async () => {
  const leave = [new AbortController(), new AbortController()] as const
  const aborting: Model = {
    ref: 'test/aborting',
    call: (_, { signal, onDelta }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('This operation was aborted', 'AbortError')))
        onDelta({ kind: 'text', text: 'one ' })
      }),
  }
  const stopping = tool({ ...add, name: 'stop', execute: () => leave[1].abort('enough') })
  const rude = agent({ name: 'rude', model: 'test/rude' })
  const calm = agent({ name: 'calm', model: 'test/calm', tools: [stopping] })
  let asked = 0
  const calling = () => (asked++, { calls: [{ name: 'stop', input: { a: 1, b: 1 } }], usage: spent })
  await using kit = await aLadderOf({ 'test/rude': aborting as never, 'test/calm': calling }, rude, calm)
  const on = { 'agent.trip.streaming': () => leave[0].abort('enough') }

  expect(await kit.clock.until(rude.execute('go', { signal: leave[0].signal, on }))).toMatchObject({
    error: { code: 'AGENT_CANCELLED', category: 'cancelled', context: { reason: 'enough' } },
    report: { status: 'cancelled' },
  })
  expect(await kit.clock.until(calm.execute('go', { signal: leave[1].signal }))).toMatchObject({
    error: { code: 'AGENT_CANCELLED', context: { cancelledAt: 1, reason: 'enough' } },
    usage: { total: 15 },
  })
  expect(asked).toBe(1)
})

test('[WL-129] a call waits for a person, who is asked through the run; what was decided before is told', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number() }),
    approval: true,
    onCrash: 'retry',
    execute: ({ sum }) => `paid ${sum}`,
  })
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [pay] })
  await using kit = await aLadderOf({ 'test/a': [{ calls: [{ name: 'pay', input: { sum: 5 } }] }, { text: 'done' }] }, clerk)
  const asked = Promise.withResolvers<LadderEvent>()
  const run = clerk.execute('pay', { runId: 'r', on: { 'agent.approval.requested': asked.resolve } })
  expect(await kit.clock.until(asked.promise)).toMatchObject({ tool: 'pay', input: { sum: 5 } })

  // The process that asked is gone; another one hears the answer.
  run.catch(() => undefined)
  await kit.crash()
  await kit.restart()
  const [pending] = await kit.clock.until(clerk.pending('r'))
  expect(pending).toMatchObject({ name: 'pay', input: { sum: 5 }, why: 'approval' })
  const decision = { callId: pending?.callId ?? '', decision: 'approve', by: 'ann' } as const
  await kit.clock.until(clerk.decide('r', decision))
  expect(await kit.clock.until(clerk.execute('pay', { runId: 'r' }))).toMatchObject({
    data: 'done',
    report: { children: [{ name: 'pay', status: 'completed' }] },
  })
  await expect(kit.clock.until(clerk.decide('r', decision))).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' } satisfies Partial<LadderError>)
})

test('[WL-127] tokens that are used up end a run', async () => {
  const dear = agent({ name: 'dear', model: 'test/a', tools: [add], limits: { tokens: 100 } })
  const model = () => ({ calls: [{ name: 'add', input: { a: 1, b: 1 } }], usage: { inputTokens: 40, outputTokens: 20 } })
  await using kit = await aLadderOf({ 'test/a': model }, dear)
  expect(await kit.clock.until(dear.execute('go'))).toMatchObject({
    error: { code: 'BUDGET_EXCEEDED', context: { unit: 'tokens', limit: 100, actual: 120 } },
    usage: { total: 120 },
    report: { trips: 2 },
  })
})

test('what cannot be an agent is said where it is written', () => {
  const written = (definition: object) => () => agent(definition as never)
  for (const bad of [
    { name: 'No' },
    { name: 'a', maxTrips: 0 },
    { name: 'a', repair: -1 },
    { name: 'a', output: {} },
    { name: 'a', modle: 'x' },
    { name: 'a', prompt: 1 },
  ])
    expect(written(bad), JSON.stringify(bad)).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG', hint: expect.any(String) }))
})
