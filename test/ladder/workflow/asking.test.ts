/** Steps that ask an agent, or run another workflow, inside of the run that they are steps of. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type LadderEvent, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const answer = (text: string) => ({ text, usage })
const last = ({ messages }: ModelRequest): string => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''

const writer = agent({ name: 'writer', model: 'test/a', output: z.object({ title: z.string() }), repair: 1 })
const critic = agent({ name: 'critic', model: 'test/b', input: z.object({ title: z.string() }), prompt: ({ title }) => `Is '${title}' good?` })

test('[WL-106, WL-005] an agent is a step: its data is what the step comes to, its report and usage stand in the tree', async () => {
  const paper = workflow({
    name: 'paper',
    state: { tried: 0 },
    steps: [
      {
        name: 'write',
        agent: writer,
        input: ({ input, state }: { input: unknown; state: { tried: number } }) => `Write about ${String(input)}, try ${++state.tried}.`,
        after: ({ state }) => void (state.tried += 10),
      },
      {
        name: 'judge',
        parallel: [
          { name: 'one', agent: critic, input: ({ steps }) => steps.write?.output },
          { name: 'two', run: ({ steps }) => steps.write?.output },
        ],
      },
    ],
    output: ({ state, steps }) => ({ ...state, said: steps.one?.output }),
  })
  await using kit = await aLadderOf({ 'test/a': [answer('{"name":1}'), answer('{"title":"Bees"}')], 'test/b': [answer('yes')] }, paper)
  const events: LadderEvent[] = []

  const result = await kit.clock.until(paper.execute('bees', { runId: 'r', on: { '*': (event) => void events.push(event) } }))

  expect(result).toMatchObject({
    data: { tried: 11, said: 'yes' },
    usage: { input: 21, output: 9, total: 30 },
    report: {
      type: 'workflow',
      usage: { total: 30 },
      children: [
        {
          type: 'step',
          name: 'write',
          usage: { total: 20 },
          children: [{ type: 'agent', name: 'writer', runId: 'r/write/1', parentRunId: 'r/write', rootRunId: 'r', trips: 2, usage: { total: 20 } }],
        },
        {
          name: 'judge',
          usage: { total: 10 },
          children: [
            { name: 'one', children: [{ type: 'agent', name: 'critic' }] },
            { name: 'two', children: [] },
          ],
        },
      ],
    },
  })
  expect(events.filter(({ runId }) => runId === 'r/write/1').map(({ type }) => type)).toEqual(
    expect.arrayContaining(['agent.starting', 'agent.trip.streaming', 'agent.repairing', 'agent.completed']),
  )
  expect(new Set(events.map(({ rootRunId }) => rootRunId))).toEqual(new Set(['r']))
  expect(await kit.runtime.replay({ kind: 'paper', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-115] what an agent says that is a step is told as a piece of that step; what its own helpers say is not', async () => {
  const scout = agent({ name: 'scout', description: 'Looks.', model: 'test/s' })
  const teller = agent({ name: 'teller', model: 'test/t', tools: [scout] })
  const tale = workflow({
    name: 'tale',
    steps: [
      {
        name: 'both',
        parallel: [
          { name: 'tell', agent: teller },
          { name: 'code', run: () => 1 },
        ],
      },
    ],
  })
  const script = [
    { calls: [{ name: 'scout', input: { text: 'bees' } }], usage },
    { chunks: ['Bees ', 'dance.'], usage },
  ]
  await using kit = await aLadderOf({ 'test/t': script, 'test/s': () => answer('secret notes') }, tale)
  const told: LadderEvent[] = []

  await kit.clock.until(tale.execute('go', { runId: 'r', on: { 'workflow.step.streaming': (event) => void told.push(event) } }))

  expect(told.map(({ delta }) => delta)).toEqual(['Bees ', 'dance.'])
  expect(told[0]).toMatchObject({ workflow: 'tale', step: 'tell', runId: 'r', rootRunId: 'r' })
})

test('[WL-108] an agent that fails is asked anew in a conversation of its own; what both have used is counted', async () => {
  const flaky = workflow({
    name: 'flaky',
    steps: [{ name: 'write', agent: writer, input: ({ attempt }) => `try ${attempt}`, retry: { attempts: 2, backoff: 'none' } }],
  })
  const model = (request: ModelRequest) => answer(last(request) === 'try 2' ? '{"title":"Bees"}' : 'no')
  await using kit = await aLadderOf({ 'test/a': model }, flaky)
  expect(await kit.clock.until(flaky.execute(undefined))).toMatchObject({
    data: { title: 'Bees' },
    usage: { total: 30 },
    report: {
      children: [
        {
          attempts: 2,
          status: 'completed',
          children: [
            { status: 'failed', trips: 2 },
            { status: 'completed', trips: 1 },
          ],
        },
      ],
    },
  })
})

test('[WL-005] a workflow inside of a workflow: one journal, one tree, and its failure is that of the step', async () => {
  const inner = workflow({ name: 'inner', steps: [{ name: 'write', agent: writer, input: ({ input }) => `about ${input as string}` }] })
  const outer = workflow({
    name: 'outer',
    steps: [
      { name: 'first', agent: inner, input: () => 'bees' },
      { name: 'second', agent: inner, input: () => 'nothing', onFailure: () => ({ goto: 'third' }) },
      { name: 'third', run: ({ steps }) => [steps.first?.output, steps.second?.error?.code] },
    ],
  })
  const model = (request: ModelRequest) => answer(last(request) === 'about bees' ? '{"title":"Bees"}' : 'no')
  await using kit = await aLadderOf({ 'test/a': model }, outer)
  const { data, report } = await kit.clock.until(outer.execute(undefined, { runId: 'r' }))
  expect(data).toEqual([{ title: 'Bees' }, 'SCHEMA_VALIDATION_FAILED'])
  expect(report.children[0]?.children[0]).toMatchObject({
    type: 'workflow',
    name: 'inner',
    parentRunId: 'r/first',
    children: [{ name: 'write', children: [{ type: 'agent', rootRunId: 'r', parentRunId: 'r/first/1/write' }] }],
  })
  expect(await kit.runtime.replay({ kind: 'outer', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-129] a call deep inside waits for a person, who is asked through the run, and the answer finds its way back', async () => {
  const paid: number[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number() }),
    approval: true,
    onCrash: 'retry',
    execute: ({ sum }) => paid.push(sum) && 'paid',
  })
  const clerk = agent({ name: 'clerk', model: 'test/c', tools: [pay] })
  const inner = workflow({ name: 'inner', steps: [{ name: 'pay', agent: clerk, input: ({ input }) => `${input as number}` }] })
  const outer = workflow({
    name: 'outer',
    steps: [
      {
        name: 'both',
        parallel: [
          { name: 'five', agent: inner, input: () => 5 },
          { name: 'six', agent: inner, input: () => 6 },
        ],
      },
    ],
  })
  const model = (request: ModelRequest) =>
    request.messages.at(-1)?.role === 'tool'
      ? answer(JSON.stringify(request.messages.at(-1)))
      : { calls: [{ name: 'pay', input: { sum: Number(last(request)) } }] }
  await using kit = await aLadderOf({ 'test/c': model }, outer)
  let asked = 0
  const both = Promise.withResolvers<void>()
  const run = outer.execute(undefined, { runId: 'r', on: { 'agent.approval.requested': () => ++asked === 2 && both.resolve() } })
  await kit.clock.until(both.promise)
  const pending = await kit.clock.until(outer.pending('r'))
  expect(pending.map(({ input }) => input)).toEqual(expect.arrayContaining([{ sum: 5 }, { sum: 6 }]))
  for (const { callId, input } of pending)
    await kit.clock.until(outer.decide('r', { callId, decision: (input as { sum: number }).sum === 5 ? 'approve' : 'deny' }))
  const { error, report } = await kit.clock.until(run)
  expect(error).toBeUndefined()
  expect(await outer.pending('r')).toEqual([])
  expect(paid).toEqual([5])
  expect(report.children[0]?.children.map((child) => child.children[0]?.children[0]?.children[0]?.children[0]?.status)).toEqual([
    'completed',
    'failed',
  ])
})

test('[WL-115] cancelled while an agent inside works: nothing of it goes on, and the run can', async () => {
  const slow = workflow({ name: 'slow', steps: [{ name: 'write', agent: critic, input: () => ({ title: 'x' }) }] })
  await using kit = await aLadderOf({ 'test/b': [{ chunks: ['a', 'b', 'c'], deltaDelayMs: 10_000 }] }, slow)
  const leave = new AbortController()
  const run = slow.execute(undefined, { runId: 'r', signal: leave.signal, on: { 'agent.trip.streaming': () => leave.abort('enough') } })
  expect(await kit.clock.until(run)).toMatchObject({ error: { code: 'WORKFLOW_CANCELLED' }, report: { status: 'cancelled' } })
  expect(await kit.clock.until(slow.resume('r'))).toMatchObject({ data: 'abc' })
})

test('[WL-113, WL-125] killed at any commit it comes to the same report, and no answer that was written down is paid twice', async () => {
  const paper = () =>
    workflow({
      name: 'paper',
      steps: [
        { name: 'write', agent: writer, input: () => 'bees' },
        {
          name: 'judge',
          parallel: [
            { name: 'one', agent: critic, input: ({ steps }) => steps.write?.output },
            { name: 'two', agent: critic, input: ({ steps }) => steps.write?.output },
          ],
        },
      ],
    })
  const models = (paid: string[]) => ({
    'test/a': (request: { messages: { role: string }[] }) => {
      paid.push('a')
      return answer(request.messages.length === 1 ? 'no' : '{"title":"Bees"}')
    },
    'test/b': () => (paid.push('b'), answer('yes')),
  })
  const once: string[] = []
  const calm = paper()
  await using kit = await aLadderOf(models(once), calm)
  const whole = await kit.clock.until(calm.execute(undefined, { runId: 'r' }))
  const { seq } = await kit.runtime.actor('paper', 'r').snapshot()
  expect(once).toHaveLength(4)
  for (let commit = 1; commit <= seq; commit++) {
    const paid: string[] = []
    const again = paper()
    await using doomed = await aLadderOf(models(paid), again)
    const result = await killedAt(doomed, () => again.execute(undefined, { runId: 'r' }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    // Two may have been asked at once.
    expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(6)
    expect(await doomed.runtime.replay({ kind: 'paper', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})
