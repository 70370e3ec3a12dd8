/** A conversation that grows too long, and one that begins anew. */
import { expect, test } from 'vitest'
import type { ScriptedSource } from '../../src/testing/index.ts'
import { expectNothingAlive, expectPaired, outcomes, story, work, worker } from './harness.ts'

/** A model that can read `max` characters; it answers with the number of messages that it was shown, and shortens when asked to. */
const reader =
  (max: number): ScriptedSource =>
  ({ messages, instructions }) => {
    if (instructions.startsWith('You shorten')) return { text: 'SUMMARY', delayMs: 100, usage: { inputTokens: 7 } }
    const length = messages.reduce((sum, message) => sum + (message.role === 'tool' ? 0 : message.text.length), 0)
    return length > max ? { error: { code: 'provider_overflow' } } : { text: `saw ${messages.length}` }
  }
const long = 'x'.repeat(100)

test('overflow: old history becomes a summary, the newest message stays, the same turn goes on', async () => {
  await using told = await story(reader(250))
  for (let n = 0; n < 2; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())

  const answer = await told.clock.until((await told.say(`2 ${long}`)).result())

  expect(answer).toMatchObject({ status: 'completed', text: 'saw 2', steps: 1, usage: { inputTokens: 7 } })
  expect(await told.transcript()).toEqual(['summary: SUMMARY', `user: 2 ${long}`, 'assistant: saw 2'])
  expect(told.said().slice(-7)).toEqual(['accepted', 'started', 'compacting', 'compacted', 'prefix', 'usage', 'final'])
  await told.crash()
  await told.restart()
  expect(await told.transcript()).toEqual(['summary: SUMMARY', `user: 2 ${long}`, 'assistant: saw 2'])
  expect((await told.clock.until((await told.say('short')).result())).text).toBe('saw 4')
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

test('a crash during compaction: it is done again, once', async () => {
  await using told = await story(reader(250))
  for (let n = 0; n < 2; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())
  await told.say(`2 ${long}`, { idempotencyKey: 'a' })
  await told.clock.advance(50)
  await told.crash()
  await told.restart()

  expect((await told.clock.until(told.main.wait('a'))).text).toBe('saw 2')
  expect(told.said().filter((type) => type === 'compacted')).toHaveLength(1)
})

test('in the middle of a turn with tools, no result loses its call', async () => {
  const script: ScriptedSource = ({ messages, instructions }) => {
    if (instructions.startsWith('You shorten')) return { text: 'SUMMARY' }
    if (messages.length > 8) return { error: { code: 'provider_overflow' } }
    return messages.filter(({ role }) => role === 'tool').length < 10 && messages[0]?.role !== 'summary'
      ? { text: long, calls: [work('x'), work('y')] }
      : { text: 'done' }
  }
  await using told = await story(script, { tools: (world) => [worker()(world)] })

  expect((await told.clock.until((await told.say('go')).result())).text).toBe('done')

  const history = await told.main.history()
  expect(history[0]?.role).toBe('summary')
  expect(history[1]?.role).not.toBe('tool')
  expectPaired(history)
})

test('a long turn may be shortened more than once, as long as each time helps', async () => {
  const script: ScriptedSource = ({ messages, instructions }) => {
    if (instructions.startsWith('You shorten')) return { text: 'SUMMARY' }
    if (messages.length > 5) return { error: { code: 'provider_overflow' } }
    return { text: long, calls: [work('x')] }
  }
  await using told = await story(script, { tools: (world) => [worker()(world)], stepMax: 8 })

  await expect(told.clock.until((await told.say('go')).result())).rejects.toMatchObject({ code: 'budget_steps' })
  expect(told.said().filter((type) => type === 'compacted').length).toBeGreaterThan(1)
})

test('a second overflow: the turn fails, the session begins anew and says why, and the next message works', async () => {
  await using told = await story(reader(150))
  await told.clock.until((await told.say(long)).result())
  const run = await told.say('y'.repeat(200), { idempotencyKey: 'big' })
  const waiting = await told.say('and this?', { queueMode: 'followup', idempotencyKey: 'next' })

  await expect(told.clock.until(run.result())).rejects.toMatchObject({ code: 'provider_overflow' })
  const answer = await told.clock.until(waiting.result())

  expect(answer.text).toBe('saw 1')
  expect(await told.transcript()).toEqual(['user: and this?', 'assistant: saw 1'])
  const reset = told.events('main').find(({ type }) => type === 'reset')
  expect(reset).toMatchObject({ reason: expect.stringContaining('longer than the model can read') })
  expect(outcomes(told.events('main'))).toMatchObject({ big: 'error', next: 'final' })
})

test('one message that is too long by itself fails the same way, without a summary', async () => {
  await using told = await story(reader(150))

  await expect(told.clock.until((await told.say('y'.repeat(200))).result())).rejects.toMatchObject({ code: 'provider_overflow' })

  expect(told.said()).toEqual(['accepted', 'started', 'compacting', 'error', 'reset'])
  expect((await told.clock.until((await told.say('hi')).result())).text).toBe('saw 1')
})

test('a summary that fails leaves the conversation as it was', async () => {
  let able = false
  await using told = await story((request) =>
    request.instructions.startsWith('You shorten') && !able
      ? { error: { code: 'provider_auth' } }
      : (reader(250) as (r: typeof request) => object)(request),
  )
  for (let n = 0; n < 2; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())
  await expect(told.clock.until((await told.say(`2 ${long}`)).result())).rejects.toMatchObject({ code: 'provider_auth' })
  expect(await told.transcript()).toHaveLength(5)
  able = true

  expect((await told.clock.until((await told.say('short')).result())).status).toBe('completed')
})

test('cancel during compaction: nothing was shortened', async () => {
  await using told = await story(reader(250))
  for (let n = 0; n < 2; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())
  const run = await told.say(`2 ${long}`)
  await told.clock.advance(50)

  await told.main.cancel()

  await expect(run.result()).rejects.toMatchObject({ code: 'cancelled' })
  expect(await told.transcript()).toHaveLength(5)
  await expectNothingAlive(told)
})

test('compaction by hand: messages that come meanwhile wait for it', async () => {
  await using told = await story(reader(10_000))
  for (let n = 0; n < 3; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())
  await told.main.compact()
  const run = await told.say('meanwhile')
  await expect(told.main.compact()).rejects.toMatchObject({ code: 'session_busy' })
  expect(run.status).toBe('queued')

  await told.clock.until(run.result())

  expect(await told.transcript()).toEqual(['summary: SUMMARY', `user: 2 ${long}`, 'assistant: saw 5', 'user: meanwhile', 'assistant: saw 4'])
})

test('compaction by hand can be stopped, and needs something to shorten', async () => {
  await using told = await story(reader(10_000))
  await expect(told.main.compact()).rejects.toMatchObject({ code: 'not_found' })
  for (let n = 0; n < 2; n++) await told.clock.until((await told.say(`${n} ${long}`)).result())
  await told.main.compact()
  await told.say('dropped', { idempotencyKey: 'd' })

  await told.main.cancel()
  await told.clock.advance(1000)

  expect(await told.transcript()).toHaveLength(4)
  expect(outcomes(told.events('main'))).toMatchObject({ d: 'aborted' })
  await expectNothingAlive(told)
})

test.each(['awaiting-input', 'running', 'compacting'] as const)(
  'reset while %s: the conversation begins anew, and every message has its outcome',
  async (state) => {
    await using told = await story(reader(10_000), { queueMode: 'followup' })
    for (const id of ['a', 'b']) await told.clock.until((await told.say(id, { idempotencyKey: id })).result())
    if (state === 'compacting') await told.main.compact()
    if (state === 'running') told.failPoints.hold('K05')
    if (state !== 'awaiting-input') for (const id of ['c', 'd']) await told.say(id, { idempotencyKey: id })

    await told.main.reset('a new subject')
    const run = await told.say('e', { idempotencyKey: 'e' })
    const answer = await told.clock.until(run.result())

    expect(answer.text).toBe('saw 1')
    expect(await told.transcript()).toEqual(['user: e', 'assistant: saw 1'])
    expect(told.events('main').filter(({ type }) => type === 'reset')).toMatchObject([{ reason: 'a new subject' }])
    expect(outcomes(told.events('main'))).toEqual({
      a: 'final',
      b: 'final',
      ...(state === 'awaiting-input' ? {} : { c: 'aborted', d: 'aborted' }),
      e: 'final',
    })
    await told.crash()
    await told.restart()
    expect(await told.transcript()).toEqual(['user: e', 'assistant: saw 1'])
    await expectNothingAlive(told)
  },
)

test('a message during a reset that takes a moment waits for it; cancel leaves the reset standing', async () => {
  await using told = await story([{ text: 'never', hang: true }, { text: 'old' }], {
    runtime: {
      models: {
        'test/model': ({ messages }) =>
          (messages.at(-1) as { text?: string }).text === 'a' ? { text: 'slow', hang: true } : { text: `saw ${messages.length}` },
      },
    },
  })
  await told.say('a', { idempotencyKey: 'a' })
  await told.clock.settle()

  const [, run] = await Promise.all([told.main.command({ type: 'reset' }), told.main.send('b', { idempotencyKey: 'b' }), told.main.cancel('a')])

  expect((await told.clock.until(run.result())).text).toBe('saw 1')
  expect(await told.transcript()).toEqual(['user: b', 'assistant: saw 1'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'final' })
})
