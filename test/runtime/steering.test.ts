/** Steering takes effect at step boundaries, and never leaves a tool call without its result (OC-09…13). */
import { expect, test } from 'vitest'
import { expectNothingAlive, expectPaired, outcomes, story, work, worker } from './harness.ts'

const tools = (world: Parameters<ReturnType<typeof worker>>[0]) => [worker()(world)]

test('during an answer of text only: the model is shown the message next, in the same turn', async () => {
  await using told = await story([{ text: 'about cats', delayMs: 100 }, { text: 'about dogs' }])
  const run = await told.say('tell me about cats', { idempotencyKey: 'a' })
  const steer = await told.say('dogs, I mean', { idempotencyKey: 'b' })

  const [first, second] = await told.clock.until(Promise.all([run.result(), steer.result()]))

  expect(steer).toMatchObject({ status: 'steered', runId: 'a' })
  expect(first).toEqual(second)
  expect(first).toMatchObject({ text: 'about dogs', ids: ['a', 'b'], steps: 2 })
  expect(await told.transcript()).toEqual(['user: tell me about cats', 'assistant: about cats', 'user: dogs, I mean', 'assistant: about dogs'])
  // Acceptance, steer, first answer, second answer.
  expect(await told.commits('main')).toBe(4)
})

test('during a model call that asks for tools: none of them runs, each is paired with a skipped result', async () => {
  await using told = await story([{ calls: [work('x'), work('y')], delayMs: 100 }, { text: 'fine, not then' }], { tools })
  const run = await told.say('do x and y')
  await told.say('stop, do not')

  await told.clock.until(run.result())

  expect(told.did).toEqual([])
  expect(await told.transcript()).toEqual([
    'user: do x and y',
    'assistant:  <work {"name":"x","ms":0}> <work {"name":"y","ms":0}>',
    'tool work: ! tool_skipped',
    'tool work: ! tool_skipped',
    'user: stop, do not',
    'assistant: fine, not then',
  ])
  expectPaired(await told.main.history())
  expect(told.events('main').flatMap((event) => (event.type === 'tool' ? [event.phase] : []))).toEqual(['skipped', 'skipped'])
})

test('during parallel tools: the batch was launched, so it ends; then the message is taken', async () => {
  await using told = await story([{ calls: [work('x', 100), work('y', 200)] }, { text: 'done' }], { tools })
  const run = await told.say('do x and y')
  await told.clock.advance(50)
  await told.say('and hurry')

  await told.clock.until(run.result())

  expect(told.did).toEqual(['x starts', 'y starts', 'x ends', 'y ends'])
  expect((await told.transcript()).slice(2)).toEqual(['tool work: "x done"', 'tool work: "y done"', 'user: and hurry', 'assistant: done'])
})

test('during sequential tools: the one that runs ends, later ones do not start and are paired; also over a crash', async () => {
  await using told = await story([{ calls: [work('x', 100), work('y', 100), work('z', 100)] }, { text: 'stopped after y' }], {
    tools,
    toolExecution: 'sequential',
  })
  await told.say('do x, y and z', { idempotencyKey: 'a' })
  await told.clock.advance(150)
  await told.say('enough', { idempotencyKey: 'b' })
  await told.crash()
  await told.restart()
  await told.quiet()

  expect(told.did.filter((what) => !what.endsWith('stops'))).toEqual(['x starts', 'x ends', 'y starts', 'y starts again (2)', 'y ends'])
  expect((await told.transcript()).slice(2)).toEqual([
    'tool work: "x done"',
    'tool work: "y done"',
    'tool work: ! tool_skipped',
    'user: enough',
    'assistant: stopped after y',
  ])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final' })
  await expectNothingAlive(told)
})

test('several messages keep their order', async () => {
  await using told = await story([{ calls: [work('x', 100)] }, { text: 'got it' }], { tools })
  const run = await told.say('go')
  await told.clock.advance(10)
  await Promise.all(['one', 'two', 'three'].map((text) => told.say(text)))

  await told.clock.until(run.result())

  expect((await told.transcript()).slice(2)).toEqual(['tool work: "x done"', 'user: one', 'user: two', 'user: three', 'assistant: got it'])
})

test('during the pause before another attempt: it is not lost, and not shown in the middle of a step', async () => {
  await using told = await story([{ text: 'first', errors: [{ status: 503 }] }, { text: 'second' }])
  const run = await told.say('a')
  await told.clock.advance(100)
  await told.say('b')

  expect((await told.clock.until(run.result())).text).toBe('second')
  expect(await told.transcript()).toEqual(['user: a', 'assistant: first', 'user: b', 'assistant: second'])
})

test('a turn that fails keeps in the transcript what it was told but did not get to', async () => {
  await using told = await story([{ text: 'x', delayMs: 100, error: { code: 'provider_auth' } }])
  const run = await told.say('a', { idempotencyKey: 'a' })
  const steer = await told.say('b', { idempotencyKey: 'b' })

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_auth' })
  await expect(steer.result()).rejects.toMatchObject({ code: 'provider_auth' })
  expect(await told.transcript()).toEqual(['user: a', 'user: b'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'error', b: 'error' })
})
