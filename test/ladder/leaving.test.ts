/** Schemas that never end: whoever waits for one with a signal, or for a time, leaves. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AnyExecutable, agent, batch, ladder, orchestrator, type Schema, supervisor, workflow } from '../../src/ladder/index.ts'
import { aGateway } from '../api/http/harness.ts'
import { aLadder, aLadderOf } from './a-ladder.ts'
import { aServer } from './serving/a-server.ts'

/** A schema that begins to check and does not end. @property asked resolves when it has begun */
const endless = () => {
  const asked = Promise.withResolvers<void>()
  const validate = () => {
    asked.resolve()
    return new Promise<never>(() => undefined)
  }
  const schema: Schema<never> = { '~standard': { version: 1, vendor: 'test', validate } }
  return { schema, asked: asked.promise }
}
const zodEndless = () => {
  const { schema, asked } = endless()
  return { schema: z.any().refine(() => schema['~standard'].validate(undefined)) as Schema<never>, asked }
}

const rungs: Record<string, (input: Schema<never>) => AnyExecutable> = {
  agent: (input) => agent({ name: 'top', model: 'test/top', input }),
  workflow: (input) => workflow({ name: 'top', input, steps: [{ name: 'one', run: () => 1 }] }),
  supervisor: (input) => supervisor({ name: 'top', input, intents: { one: () => ({}) }, route: () => 'one' }),
}

test.for(Object.entries(rungs).flatMap(([rung, made]) => [endless, zodEndless].map((schema) => ({ rung, made, schema }))))(
  '[WL-102, WL-115, WL-124] a call of a $rung whose input is checked without end is cancelled by its signal, and nothing has begun',
  async ({ rung, made, schema }) => {
    const input = schema()
    const top = made(input.schema)
    const kit = await aLadder(top)
    const stop = new AbortController()

    const call = top.execute('x', { runId: 'r', signal: stop.signal })
    await input.asked
    stop.abort(new Error('enough'))

    expect(await call).toMatchObject({
      error: { code: `${rung.toUpperCase()}_CANCELLED`, context: { reason: 'enough' }, hint: expect.stringContaining('execute it again') },
      report: { status: 'cancelled', runId: 'r' },
    })
    await expect(top.look('r')).rejects.toMatchObject({ code: 'not_found' })
    await expect(top.execute('x', { signal: AbortSignal.abort() })).resolves.toMatchObject({ report: { status: 'cancelled' } })
    await expect(top.start('x', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    await kit.close()
  },
)

test('a signal that has aborted before begins a run and cancels it, where its input is checked in a moment', async () => {
  const top = batch(workflow({ name: 'one', steps: [{ name: 'one', run: () => 1 }] }), { name: 'top' })
  const checked = workflow({ name: 'checked', input: z.string().refine(async () => true), steps: [{ name: 'one', run: () => 1 }] })
  const kit = await aLadder(top, checked)

  await kit.clock.until(top.execute([1], { runId: 'r', signal: AbortSignal.abort() }))
  await kit.clock.until(checked.execute('x', { runId: 'r', signal: AbortSignal.abort() }))

  expect(await top.look('r')).toMatchObject({ report: { status: 'cancelled' } })
  expect(await checked.look('r')).toMatchObject({ report: { status: 'cancelled' } })
  await kit.close()
})

test('an answer that the schema of one call checks without end is left by the signal of that call; the run has ended, and answers others', async () => {
  const { schema, asked } = endless()
  const top = agent({ name: 'top', model: 'test/top', repair: 0 })
  const kit = await aLadderOf({ 'test/top': [{ text: '{"n":1}' }] }, top)
  await kit.clock.until(top.execute('x', { runId: 'r', output: z.object({ n: z.number() }) }))
  const stop = new AbortController()

  const call = top.execute('x', { runId: 'r', output: schema, signal: stop.signal })
  await asked
  stop.abort()

  expect(await kit.clock.until(call)).toMatchObject({ error: { code: 'AGENT_CANCELLED' }, report: { status: 'cancelled' } })
  expect(await kit.clock.until(top.execute('x', { runId: 'r', output: z.object({ n: z.number() }) }))).toMatchObject({ data: { n: 1 } })
  await kit.close()
})

test('[WL-024] a turn whose input is checked without end rejects with the reason of its signal, and the next one runs', async () => {
  const { schema, asked } = endless()
  let isEndless = true
  const input: Schema<string> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => (isEndless ? schema['~standard'].validate(value) : { value: String(value) }) },
  }
  const desk = orchestrator({ name: 'desk', input, state: {}, intents: { one: () => ({ n: 1 }) }, route: () => 'one' })
  const kit = await aLadder(desk)
  const stop = new AbortController()

  const turn = desk.execute('x', { sessionId: 's', history: [], signal: stop.signal })
  await asked
  stop.abort(new Error('enough'))
  await expect(turn).rejects.toThrow('enough')
  isEndless = false

  expect(await kit.clock.until(desk.execute('x', { sessionId: 's', history: [] }))).toMatchObject({ turnIndex: 0, data: { n: 1 } })
  await kit.close()
})

test('[WL-136] ladder.execute waits for a check of the input as long as timeoutMs says, and a client of serve() that goes is let go', async () => {
  const { schema, asked } = endless()
  const top = workflow({ name: 'top', input: schema, steps: [{ name: 'one', run: () => 1 }] })
  const { rpc } = await aGateway({}, { extensions: [ladder({ executables: [top], serve: true })] })
  expect(await rpc('ladder.execute', { name: 'top', input: 1, timeoutMs: 1, wait: true })).toMatchObject({
    json: { error: { code: 'timeout', hint: expect.stringContaining('nothing was begun') } },
  })

  const again = endless()
  const served = workflow({ name: 'served', input: again.schema, steps: [{ name: 'one', run: () => 1 }] })
  const { post } = await aServer([served])
  const gone = new AbortController()
  const posted = post('/served', { input: 1, runId: 'r' }, { signal: gone.signal })
  await again.asked
  gone.abort()

  await expect(posted).rejects.toThrow()
  await asked
})
