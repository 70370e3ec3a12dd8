/** What tools give beside their answers: for the state of a supervisor, and for no model. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, batch, END, planner, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
type Block = { kind: string; rows: number[] }

const aDesk = (more: object = {}) => {
  const ran: string[] = []
  const asked: ModelRequest[] = []
  const chart = tool({
    name: 'chart',
    description: 'Draws.',
    input: z.object({ of: z.string() }),
    onCrash: 'retry',
    execute: ({ of }, { artifacts }) => {
      ran.push(of)
      artifacts.blocks = [{ kind: of, rows: [1, 2, 3] }]
      artifacts[`drawn-${of}`] = true
      return `drew ${of}`
    },
  })
  const made = (name: string) => agent({ name, description: 'Draws.', model: `test/${name}`, tools: [chart] })
  const desk = supervisor({
    name: 'desk',
    state: { blocks: [] as Block[] },
    intents: { bars: made('bars'), lines: made('lines') },
    route: ({ iteration }: { iteration: number }) => (iteration === 0 ? ['bars', 'lines'] : END),
    ...more,
  })
  const model = (of: string) => (request: ModelRequest) => {
    asked.push(request)
    return request.messages.some(({ role }) => role === 'tool') ? { text: 'done', usage } : { calls: [{ name: 'chart', input: { of } }], usage }
  }
  return { desk, ran, asked, models: { 'test/bars': model('bars'), 'test/lines': model('lines') } }
}

test('[WL-099] what a tool writes beside its answer is in the state, and no model reads it; what each gave is kept as it was', async () => {
  const { desk, asked, models } = aDesk()
  await using kit = await aLadderOf(models, desk)
  const { data, report } = await kit.clock.until(desk.execute('x', { runId: 'r' }))
  expect(data).toEqual({ blocks: [{ kind: 'lines', rows: [1, 2, 3] }], 'drawn-bars': true, 'drawn-lines': true })
  expect(report.iterations).toMatchObject([
    { branches: { bars: { artifacts: { blocks: [{ kind: 'bars' }] } }, lines: { artifacts: { blocks: [{ kind: 'lines' }] } } } },
  ])
  expect(asked).toHaveLength(4)
  expect(JSON.stringify(asked)).toContain('drew bars')
  expect(JSON.stringify(asked)).not.toContain('rows')
  expect(JSON.stringify(asked)).not.toContain('drawn-')
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-099] code may make of it what is put into the state; a schema says what it has to be', async () => {
  const kept = aDesk({
    artifacts: {
      schema: z.object({ blocks: z.array(z.object({ kind: z.string(), rows: z.array(z.number()) })) }),
      finalizeArtifacts: ({ blocks }: { blocks: Block[] }, { state }: { state: { blocks: Block[] } }) => ({
        blocks: [...state.blocks, ...blocks, ...blocks],
      }),
    },
  })
  const refused = aDesk({ artifacts: { schema: z.object({ blocks: z.string() }) } })
  await using kit = await aLadderOf(kept.models, kept.desk)
  expect((await kit.clock.until(kept.desk.execute('x'))).data).toEqual({
    blocks: Array.from({ length: 2 }, () => ({ kind: 'lines', rows: [1, 2, 3] })),
  })
  await using other = await aLadderOf(refused.models, refused.desk)
  expect(await other.clock.until(refused.desk.execute('x'))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
})

test('[WL-099] each iteration has what its own tools gave: nothing of the one before is put into the state again, and the raw copy stays beside what code made of it', async () => {
  const seen: unknown[] = []
  const { desk, models } = aDesk({
    route: ({ iteration }: { iteration: number }) => (['bars', 'lines'] as const)[iteration] ?? END,
    artifacts: { finalizeArtifacts: (given: object) => (seen.push(Object.keys(given)), { blocks: [] }) },
  })
  await using kit = await aLadderOf(models, desk)
  const { data, report } = await kit.clock.until(desk.execute('x'))
  expect(data).toEqual({ blocks: [] })
  expect(seen).toEqual([
    ['blocks', 'drawn-bars'],
    ['blocks', 'drawn-lines'],
  ])
  const branches = (report.iterations as { branches: Record<string, { artifacts: object }> }[]).map((iteration) => iteration.branches)
  expect(branches.map((one) => Object.keys(one))).toEqual([['bars'], ['lines']])
  expect(branches[0]?.bars?.artifacts).toEqual({ blocks: [{ kind: 'bars', rows: [1, 2, 3] }], 'drawn-bars': true })
})

test('[WL-099] killed at any commit, what a tool that has ended gave is there, and it does not run again', async () => {
  const { desk, models, ran } = aDesk({ route: ({ iteration }: { iteration: number }) => (iteration === 0 ? 'bars' : END) })
  await using kit = await aLadderOf(models, desk)
  const whole = await kit.clock.until(desk.execute('x', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('desk', 'r').snapshot()
  expect(ran).toEqual(['bars'])
  for (let commit = 1; commit <= seq; commit++) {
    const other = aDesk({ route: ({ iteration }: { iteration: number }) => (iteration === 0 ? 'bars' : END) })
    await using doomed = await aLadderOf(other.models, other.desk)
    const result = await killedAt(doomed, () => other.desk.execute('x', { runId: 'r' }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    // Once more where it had run and that was not written down.
    expect(other.ran.length, `killed at commit ${commit}`).toBeLessThanOrEqual(2)
    expect(await doomed.runtime.replay({ kind: 'desk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-099] what cannot be written down fails the call, and the model is told', async () => {
  const heavy = tool({
    name: 'heavy',
    description: 'Gives too much.',
    input: z.object({}),
    onCrash: 'retry',
    execute: (_, { artifacts }) => {
      artifacts.all = 'x'.repeat(1024 * 1024)
      return 'ok'
    },
  })
  const heavier = agent({ name: 'heavier', model: 'test/heavier', tools: [heavy] })
  await using kit = await aLadderOf({ 'test/heavier': [{ calls: [{ name: 'heavy', input: {} }] }, { text: 'sorry' }] }, heavier)
  const { report } = await kit.clock.until(heavier.execute('x'))
  expect(report.children).toMatchObject([{ type: 'tool', status: 'failed', error: { context: { code: 'tool_output' } } }])
})

/** Each holds an agent that draws, and stands in an intent itself. */
const holders = () => {
  const { desk, asked, models } = aDesk()
  const [bars, lines] = desk.inside as [never, never]
  const steps = [
    { id: 'a', capability: 'bars', input: 'x' },
    { id: 'b', capability: 'lines', input: 'x', dependsOn: ['a'] },
  ]
  const flow = (name: string, more: object = {}) =>
    workflow({
      name,
      steps: [
        { name: 'one', parallel: [{ name: 'a', agent: bars }] },
        { name: 'two', agent: lines, ...more },
      ],
    })
  const drawing = {
    workflow: flow('flow'),
    supervisor: desk,
    'a workflow in a supervisor': supervisor({
      name: 'deep',
      intents: { flow: flow('inner') },
      route: ({ iteration }) => (iteration === 0 ? 'flow' : END),
    }),
    'a batch': workflow({
      name: 'many',
      steps: [
        { name: 'a', agent: batch(bars, { name: 'all-bars' }), input: () => ['x', 'y'] },
        { name: 'b', agent: batch(lines, { name: 'all-lines' }), input: () => ['x'] },
      ],
    }),
    'a planner': planner({
      name: 'plan',
      mode: 'dag',
      model: 'test/plan',
      capabilities: { bars: { description: 'Draws.', use: bars }, lines: { description: 'Draws.', use: lines } },
    }),
  }
  return { drawing, flow, asked, models: { ...models, 'test/plan': () => ({ text: JSON.stringify({ steps }) }) } }
}

test.each(Object.keys(holders().drawing) as (keyof ReturnType<typeof holders>['drawing'])[])(
  '[WL-099] what tools gave inside of %s reaches the state of the supervisor around it, and no model',
  async (name) => {
    const { drawing, asked, models } = holders()
    const outer = supervisor({ name: 'outer', intents: { draw: drawing[name] }, route: ({ iteration }) => (iteration === 0 ? 'draw' : END) })
    await using kit = await aLadderOf(models, outer)
    const { data, error, report } = await kit.clock.until(outer.execute('x', { runId: 'r' }))
    expect(error).toBeUndefined()
    const drawn = { blocks: [{ kind: 'lines', rows: [1, 2, 3] }], 'drawn-bars': true, 'drawn-lines': true }
    expect(data).toEqual(drawn)
    expect(report.iterations).toMatchObject([{ branches: { draw: { artifacts: drawn } } }])
    expect(JSON.stringify(asked)).not.toContain('drawn-')
    expect(await kit.runtime.replay({ kind: 'outer', id: 'r' })).toMatchObject({ verdict: 'identical' })
  },
)

test('[WL-099, WL-108] what a step gave that has failed is gone; that of the steps before it stays', async () => {
  const made = () => {
    const { flow, models } = holders()
    let tries = 0
    const output = { extract: (said: unknown) => (++tries === 1 ? Promise.reject(new Error('not good')) : said) }
    const again = flow('flow', { retry: { attempts: 2, backoff: 'none' }, output })
    const failing = flow('lost', { output: { schema: z.number() }, onFailure: () => ({ end: true }) })
    const outer = supervisor({ name: 'outer', intents: { again, failing }, route: ({ iteration }) => (iteration === 0 ? ['failing', 'again'] : END) })
    return { outer, models }
  }
  const { outer, models } = made()
  await using kit = await aLadderOf(models, outer)
  const whole = await kit.clock.until(outer.execute('x', { runId: 'r' }))
  expect(whole.report.iterations).toMatchObject([{ branches: { again: { artifacts: { 'drawn-lines': true } } } }])
  const [iteration] = whole.report.iterations as unknown as { branches: Record<string, { artifacts: object }> }[]
  expect(iteration?.branches.failing?.artifacts).toEqual({ blocks: [{ kind: 'bars', rows: [1, 2, 3] }], 'drawn-bars': true })
})
