/** Answers that have to be something: for one call, and in the middle of words. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { agent, judge, ladder, lenient } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const answers = (...texts: string[]) => texts.map((text) => ({ text, usage }))
const City = z.object({ city: z.string() })
const Mayor = z.object({ mayor: z.string().transform((name) => name.toUpperCase()) })

test('[WL-122] a call says what its answer has to be, in the place of what the agent says', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', output: City, repair: 1 })
  const told: string[] = []
  const model = ({ instructions, messages }: { instructions: string; messages: { role: string }[] }) => {
    told.push(instructions)
    return answers('{"city":"Ulm"}', '{"mayor":"Ann"}')[messages.filter(({ role }) => role === 'assistant').length] as never
  }
  await using kit = await aLadderOf({ 'test/a': model }, clerk)
  const result = await kit.clock.until(clerk.execute('who?', { runId: 'r', output: Mayor }))
  expectTypeOf(result.data).toEqualTypeOf<{ mayor: string } | undefined>()
  expect(result).toMatchObject({ data: { mayor: 'ANN' }, report: { status: 'completed', trips: 2 } })
  expect(told[0]).toContain('"mayor"')
  expect(told[0]).not.toContain('"city"')
  // The journal has what the model said; whoever asks makes of it what its schema does.
  expect((await kit.runtime.actor('clerk', 'r').snapshot()).context).toMatchObject({ data: { mayor: 'Ann' } })
  expect(await kit.clock.until(clerk.execute('who?', { runId: 'r', output: Mayor }))).toMatchObject({ data: { mayor: 'ANN' } })
  const other = await kit.clock.until(clerk.execute('where?'))
  expectTypeOf(other.data).toEqualTypeOf<{ city: string } | undefined>()
  expect(other).toMatchObject({ data: { city: 'Ulm' } })
  expect(await kit.runtime.replay({ kind: 'clerk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-122] an agent of texts that says how often it is asked again takes one too; any other refuses it', async () => {
  const clerk = agent({ name: 'clerk', model: 'test/a', repair: 0 })
  const plain = agent({ name: 'plain', model: 'test/a' })
  await using kit = await aLadderOf({ 'test/a': answers('{"city":"Ulm"}') }, clerk, plain)
  expect(await kit.clock.until(clerk.execute('where?', { output: City }))).toMatchObject({ data: { city: 'Ulm' } })
  expect(await kit.clock.until(clerk.execute('where?'))).toMatchObject({ data: '{"city":"Ulm"}' })
  expect(await kit.clock.until(clerk.execute('where?', { output: Mayor }))).toMatchObject({
    error: { code: 'SCHEMA_VALIDATION_FAILED' },
    report: { status: 'failed' },
  })
  const wrong = { code: 'LADDER_CONFIG', hint: expect.any(String) }
  await expect(kit.clock.until(plain.execute('where?', { output: City }))).rejects.toMatchObject(wrong)
  await expect(kit.clock.until(clerk.execute('where?', { output: 1 as never }))).rejects.toMatchObject(wrong)
})

test('[WL-122, WL-125] killed at any commit, the answer is held to the schema of the call all the same', async () => {
  const made = () => agent({ name: 'clerk', model: 'test/a', repair: 1 })
  const models = { 'test/a': answers('{"city":"Ulm"}', '{"mayor":"Ann"}') }
  const calm = made()
  await using kit = await aLadderOf(models, calm)
  const whole = await kit.clock.until(calm.execute('who?', { runId: 'r', output: Mayor }))
  expect(whole).toMatchObject({ data: { mayor: 'ANN' }, report: { trips: 2 } })
  const { seq } = await kit.runtime.actor('clerk', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const clerk = made()
    await using doomed = await aLadderOf(models, clerk)
    const again = await killedAt(doomed, () => clerk.execute('who?', { runId: 'r', output: Mayor }), commit)
    expect(timeless(again), `killed at commit ${commit}`).toEqual(timeless(whole))
  }
})

test('[WL-122] a run that goes on in a process without the schema is held to what JSON Schema says of it; the rest is looked at by whoever asks', async () => {
  const Even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'not even') })
  const made = () => agent({ name: 'clerk', model: 'test/a', repair: 1 })
  const first = made()
  await using kit = await aLadderOf(
    {
      'test/a': [
        { text: '{"n":"one"}', delayMs: 60_000 },
        { text: '{"n":1}', delayMs: 60_000 },
      ],
    },
    first,
  )
  const asked = Promise.withResolvers<unknown>()
  first.execute('n?', { runId: 'r', output: Even, on: { 'agent.trip.started': asked.resolve } }).catch(() => undefined)
  await kit.clock.until(asked.promise)
  await kit.crash()
  const second = made()
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  // Nobody who has the schema is there.
  await kit.clock.until(kit.runtime.actor('clerk', 'r').waitFor((at) => at.status !== 'active'))
  expect((await kit.runtime.actor('clerk', 'r').snapshot()).context).toMatchObject({ trips: 2, data: { n: 1 } })
  expect(await kit.clock.until(second.execute('n?', { runId: 'r', output: Even }))).toMatchObject({
    error: { code: 'SCHEMA_VALIDATION_FAILED', message: expect.stringContaining('not even') },
    report: { status: 'failed' },
  })
})

test('[WL-122] a judge finds its verdict among words, is asked again twice, and never throws', async () => {
  const Verdict = z.object({ score: z.number() })
  const critic = judge({ name: 'critic', model: 'test/a', output: Verdict })
  const lost = judge({ name: 'lost', model: 'test/b', output: Verdict })
  const texts = answers('I think [sic] it is {good}.', 'Perhaps {"score":"high"}?', 'Well: {"is":"aside"}, so {"score": 7, "why": "\\"}"} it is.')
  await using kit = await aLadderOf({ 'test/a': texts, 'test/b': answers('a', 'b', 'c', 'd') }, critic, lost)
  const judged = await kit.clock.until(critic.execute('this'))
  expectTypeOf(judged.data).toEqualTypeOf<{ score: number } | undefined>()
  expect(judged).toMatchObject({ data: { score: 7 }, report: { trips: 3 } })
  const failed = await kit.clock.until(lost.execute('this'))
  expect(failed).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' }, report: { status: 'failed', trips: 3 } })
  expect(failed.data).toBeUndefined()

  const strict = agent({ name: 'strict', model: 'test/c', output: Verdict, repair: 0 })
  await using other = await aLadderOf({ 'test/c': answers('It is {"score": 7}.') }, strict)
  expect(await other.clock.until(strict.execute('this'))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
  expect(await other.clock.until(strict.execute('this', { output: lenient(Verdict) }))).toMatchObject({ data: { score: 7 } })
  expect(() => judge({ name: 'j', output: 1 as never })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
