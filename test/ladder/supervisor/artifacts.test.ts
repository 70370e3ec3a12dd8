/** What tools give beside their answers: for the state of a supervisor, and for no model. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, END, supervisor } from '../../../src/ladder/index.ts'
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
