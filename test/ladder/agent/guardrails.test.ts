/** Checks of what goes to a model and of what comes from it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { agent, type Checked, type Guardrails, type LadderEvent } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const aLook = (did: string[]) =>
  tool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ at: z.string() }),
    onCrash: 'retry',
    execute: ({ at }) => did.push(at) && `seen ${at}`,
  })
const calls = (at: string) => [{ name: 'look', input: { at } }]

test('[WL-128] of an answer that is refused no tool runs; the run ends with what is wrong, and what was used', async () => {
  const did: string[] = []
  const output = [
    { name: 'long', check: () => true },
    {
      name: 'decent',
      check: ({ calls: wanted }: Checked) =>
        wanted.some(({ input }) => (input as { at: string }).at === 'secrets') ? 'it looks at secrets' : undefined,
    },
  ]
  const spy = agent({ name: 'spy', model: 'test/a', tools: [aLook(did)], guardrails: { output } })
  await using kit = await aLadderOf(
    {
      'test/a': [
        { calls: calls('bees'), usage },
        { calls: calls('secrets'), usage },
        { text: 'I stop.', usage },
      ],
    },
    spy,
  )
  const events: LadderEvent[] = []
  const { error, report } = await kit.clock.until(spy.execute('go', { runId: 'r', on: { '*': (event) => events.push(event) } }))

  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    code: 'GUARDRAIL_VIOLATION',
    category: 'policy',
    context: { stage: 'output', name: 'decent', reason: 'it looks at secrets', trip: 2 },
  })
  expect(did).toEqual(['bees'])
  expect(report).toMatchObject({ status: 'failed', trips: 2, usage: { total: 20 }, children: [{ name: 'look', status: 'completed' }] })
  expect(report.children).toHaveLength(1)
  expect(events.slice(-2).map(({ type, name }) => [type, name])).toEqual([
    ['agent.guardrail.rejected', 'decent'],
    ['agent.error', undefined],
  ])
  // The model is told that its calls came to nothing, and goes on.
  expect(await kit.clock.until(spy.resume('r'))).toMatchObject({ data: 'I stop.' })
  expect(did).toEqual(['bees'])
})

test('[WL-128] what goes to the model is checked with each trip: the question first, then what its calls have come to', async () => {
  const seen: [number, string, readonly unknown[]][] = []
  const input = [
    {
      name: 'clean',
      check: async ({ trip, text, results, input: given, context }: Checked) => {
        seen.push([trip, `${text} ${String(given)} ${String(context.who)}`, results])
        return !JSON.stringify(results).includes('poison')
      },
    },
  ]
  const asked: number[] = []
  const spy = agent({ name: 'spy', model: 'test/a', tools: [aLook([])], guardrails: { input }, prompt: (at: string) => `Look at ${at}.` })
  const model = () => (
    asked.push(1),
    [
      { calls: calls('bees'), usage },
      { calls: calls('poison'), usage },
    ][asked.length - 1] as never
  )
  await using kit = await aLadderOf({ 'test/a': model }, spy)

  const { error } = await kit.clock.until(spy.execute('it', { context: { who: 'ann' } }))
  expect(error).toMatchObject({ code: 'GUARDRAIL_VIOLATION', context: { stage: 'input', name: 'clean', reason: 'refused', trip: 3 } })
  expect(asked).toHaveLength(2)
  expect(seen).toEqual([
    [1, 'Look at it. it ann', []],
    [2, ' it ann', [{ tool: 'look', output: 'seen bees' }]],
    [3, ' it ann', [{ tool: 'look', output: 'seen poison' }]],
  ])
})

test('[WL-128] a question that is refused costs nothing; a check that throws lets nothing pass', async () => {
  let isAsked = false
  const input = [
    {
      name: 'broken',
      check: () => {
        throw new Error('no rules')
      },
    },
  ]
  const spy = agent({ name: 'spy', model: 'test/a', guardrails: { input } })
  await using kit = await aLadderOf({ 'test/a': () => ((isAsked = true), { text: 'x' }) }, spy)
  expect(await kit.clock.until(spy.execute('go'))).toMatchObject({
    error: { code: 'GUARDRAIL_VIOLATION', context: { reason: 'the check failed: no rules' } },
    usage: { total: 0 },
    report: { trips: 0 },
  })
  expect(isAsked).toBe(false)
})

test('[WL-128] what passes is as without checks; cancelled while one thinks, it is cancelled', async () => {
  const slow = { name: 'slow', check: ({ signal }: Checked) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())) }
  const calm = agent({
    name: 'calm',
    model: 'test/a',
    guardrails: { input: [{ name: 'yes', check: () => undefined }], output: [{ name: 'yes', check: () => true }] },
  })
  const stuck = agent({ name: 'stuck', model: 'test/a', guardrails: { output: [slow] } })
  await using kit = await aLadderOf({ 'test/a': () => ({ text: 'yes', usage }) }, calm, stuck)
  expect(await kit.clock.until(calm.execute('go'))).toMatchObject({ data: 'yes', report: { trips: 1, usage: { total: 10 } } })

  const leave = new AbortController()
  const on = { 'agent.trip.completed': () => leave.abort('enough') }
  expect(await kit.clock.until(stuck.execute('go', { signal: leave.signal, on }))).toMatchObject({
    error: { code: 'AGENT_CANCELLED', context: { reason: 'enough' } },
    usage: { total: 10 },
  })
})

test('[WL-128, WL-121] an agent with checks runs executables as its tools, and persons are asked as ever', async () => {
  const pay = tool({ name: 'pay', description: 'Pays.', input: z.object({}), approval: true, onCrash: 'retry', execute: () => 'paid' })
  const scout = agent({
    name: 'scout',
    description: 'Finds.',
    model: 'test/scout',
    tools: [pay],
    guardrails: { input: [{ name: 'yes', check: () => true }] },
  })
  const chief = agent({
    name: 'chief',
    model: 'test/a',
    tools: [scout],
    guardrails: { output: [{ name: 'yes', check: () => true }] },
    budget: { maxTokens: 1000 },
  })
  await using kit = await aLadderOf(
    {
      'test/a': [
        { calls: [{ name: 'scout', input: { text: 'bees' } }], usage },
        { text: 'well', usage },
      ],
      'test/scout': [
        { calls: [{ name: 'pay' }], usage },
        { text: 'paid', usage },
      ],
    },
    chief,
  )
  const asked = Promise.withResolvers<LadderEvent>()
  const run = chief.execute('go', { runId: 'r', on: { 'agent.approval.requested': asked.resolve } })
  await kit.clock.until(asked.promise)
  const [pending] = await kit.clock.until(chief.pending('r'))
  await kit.clock.until(chief.decide('r', { callId: pending?.callId ?? '', decision: 'approve' }))
  expect(await kit.clock.until(run)).toMatchObject({
    data: 'well',
    usage: { total: 40 },
    report: { children: [{ children: [{ name: 'scout', children: [{ name: 'pay', status: 'completed' }] }] }] },
  })
  expect(await kit.runtime.replay({ kind: 'chief', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-128] what cannot check is said where it is written', () => {
  const twice = { name: 'a', check: () => true }
  for (const guardrails of [{ input: 1 }, { input: [{ name: 'x' }] }, { input: [{ check: () => true }] }, { output: [twice, twice] }, { outptu: [] }])
    expect(() => agent({ name: 'a', guardrails: guardrails as Guardrails }), JSON.stringify(guardrails)).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG' }),
    )
})
