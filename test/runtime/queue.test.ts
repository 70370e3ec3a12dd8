/** What becomes of messages that arrive while a turn is running. */

import { expect, test } from 'vitest'
import { agent } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import { expectNothingAlive, outcomes, story, work, worker } from './harness.ts'

/** Answers with what it was asked since its last answer. */
const echo =
  (delayMs = 100) =>
  ({ messages }: { messages: { role: string; text?: string }[] }) => ({
    text: `re: ${messages
      .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
      .flatMap(({ role, text }) => (role === 'user' ? [text] : []))
      .join(' + ')}`,
    delayMs,
  })

test('followup: each message gets a turn of its own, in order, also over a crash', async () => {
  await using told = await story(echo(), { queueMode: 'followup' })
  const ids = ['a', 'b', 'c']
  const runs = []
  for (const id of ids) runs.push(await told.say(id, { idempotencyKey: id }))
  expect(runs.map(({ status }) => status)).toEqual(['started', 'queued', 'queued'])

  await told.clock.advance(150)
  await told.crash()
  await told.restart()
  await told.quiet()

  expect(await told.transcript()).toEqual(['user: a', 'assistant: re: a', 'user: b', 'assistant: re: b', 'user: c', 'assistant: re: c'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final', c: 'final' })
  expect((await told.main.outcome('b')).text).toBe('re: b')
})

/** What a turn is told for several messages. */
const collected = (...items: string[]) =>
  ['These messages came in while you were busy, oldest first.', ...items.map((item, index) => `Message ${index + 1}:\n${item}`)].join('\n\n')

test('[OC-19] collect: what waits is answered together, and each run gets that answer', async () => {
  await using told = await story(echo(), { queueMode: 'collect' })
  const first = await told.say('a')
  const [b, c] = [await told.say('b'), await told.say('c')]
  expect([b.status, c.status]).toEqual(['collected', 'collected'])

  const answers = await told.clock.until(Promise.all([first, b, c].map((run) => run.result())))

  expect(answers.map(({ text }) => text)).toEqual(['re: a', `re: ${collected('b', 'c')}`, `re: ${collected('b', 'c')}`])
  expect(c.runId).toBe(b.id)
  expect(await told.transcript()).toEqual(['user: a', 'assistant: re: a', `user: ${collected('b', 'c')}`, `assistant: re: ${collected('b', 'c')}`])
})

test('interrupt: the running turn is stopped, what waits is dropped, the new message is next; all get an outcome', async () => {
  await using told = await story(({ messages }) => ({ text: `re: ${messages.length}`, chunks: undefined, deltaDelayMs: 100 }))
  const a = await told.say('a', { idempotencyKey: 'a' })
  const b = await told.say('b', { idempotencyKey: 'b', queueMode: 'followup' })
  await told.clock.advance(50)

  const c = await told.say('c', { idempotencyKey: 'c', queueMode: 'interrupt' })
  const answer = await told.clock.until(c.result())

  expect(answer.text).toBe('re: 3')
  await expect(a.result()).rejects.toMatchObject({ code: 'cancelled', data: { text: 're: ' } })
  await expect(b.result()).rejects.toMatchObject({ code: 'cancelled' })
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'final' })
  expect(await told.transcript()).toEqual(['user: a', 'assistant (partial): re: ', 'user: c', 'assistant: re: 3'])
  // What was dropped is remembered, too.
  await expect((await told.say('b', { idempotencyKey: 'b' })).result()).rejects.toMatchObject({ code: 'cancelled' })
  await expectNothingAlive(told)
})

test('modes mixed: a message that wants a turn of its own is neither collected nor does it part those behind it', async () => {
  await using told = await story(echo())
  await told.say('a')
  const waiting = [
    ['b', 'collect'],
    ['c', 'collect'],
    ['d', 'followup'],
    ['e', 'collect'],
    ['f', 'collect'],
  ] as const
  for (const [text, queueMode] of waiting) await told.say(text, { queueMode })

  await told.quiet()

  expect((await told.transcript()).filter((line) => line.startsWith('assistant'))).toEqual([
    'assistant: re: a',
    `assistant: re: ${collected('b', 'c')}`,
    'assistant: re: d',
    `assistant: re: ${collected('e', 'f')}`,
  ])
})

test('a steering message joins while others wait; those keep their turn', async () => {
  await using told = await story(echo())
  await told.say('a', { idempotencyKey: 'a' })
  await told.say('later', { idempotencyKey: 'later', queueMode: 'followup' })
  const joined = await told.say('b', { idempotencyKey: 'b', queueMode: 'steer' })

  await told.quiet()

  expect(joined).toMatchObject({ status: 'steered', runId: 'a' })
  expect(await told.transcript()).toEqual(['user: a', 'assistant: re: a', 'user: b', 'assistant: re: b', 'user: later', 'assistant: re: later'])
  expect((await joined.result()).ids).toEqual(['a', 'b'])
})

test('a full queue refuses: overloaded, nothing accepted, and what was accepted is answered [INV-11]', async () => {
  await using told = await story(echo(10), { queueMode: 'followup' })
  await told.say('first', { idempotencyKey: 'first' })
  for (let n = 1; n <= 100; n++) await told.say(`m${n}`, { idempotencyKey: `m${n}` })

  await expect(told.say('one too many', { idempotencyKey: 'x' })).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  expect((await told.main.view()).queued).toHaveLength(100)
  await told.quiet()

  expect(Object.values(outcomes(told.events('main')))).toEqual(Array(101).fill('final'))
  await expect(told.main.outcome('x')).rejects.toMatchObject({ code: 'not_found' })
  // Sent again under the same key, even twice at once, it is a message like any other.
  const again = await Promise.all([told.say('one too many', { idempotencyKey: 'x' }), told.say('one too many', { idempotencyKey: 'x' })])
  expect((await told.clock.until(Promise.all(again.map((run) => run.result())))).map(({ text }) => text)).toEqual(Array(2).fill('re: one too many'))
  expect((await told.transcript()).filter((line) => line === 'user: one too many')).toHaveLength(1)
})

test('a message from the bus that finds the queue full is kept, and answered when there is room [INV-1]', async () => {
  await using told = await story(echo(100), { queueMode: 'followup' })
  for (let n = 0; n <= 100; n++) await told.say(`m${n}`, { idempotencyKey: `m${n}` })
  const { runtime } = told
  const publish = (id: string) =>
    runtime.publish(runtime.subjects.in(told.main.address), new TextEncoder().encode(`{"type":"message","text":"${id}"}`), id)

  await told.clock.until(publish('late'))
  await told.quiet()
  await told.clock.advance(2000)
  await told.quiet()

  expect(await told.main.outcome('late')).toMatchObject({ status: 'completed', text: 're: late' })
  expect(await partsOf(runtime).transport.inbox.deadLetters()).toEqual([])
})

test('a turn takes in a bounded number of messages; more wait for the next one, and at last are refused [INV-11]', async () => {
  await using told = await story(echo(1000))
  const statuses: Record<string, number> = {}
  for (let n = 0; n < 250; n++) {
    const status = await told.say(`m${n}`).then(
      (run) => run.status,
      (error: { code: string }) => error.code,
    )
    statuses[status] = (statuses[status] ?? 0) + 1
  }

  expect(statuses).toEqual({ started: 1, steered: 99, queued: 100, overloaded: 50 })
  await told.quiet()
  expect(Object.keys(outcomes(told.events('main')))).toHaveLength(200)
})

test('a message that comes right after the end of a turn begins a new one', async () => {
  await using told = await story(echo(0))
  const first = await told.say('a')
  const second = first.result().then(() => told.main.send('b'))

  const run = await told.clock.until(second)

  expect(run.status).toBe('started')
  expect((await told.clock.until(run.result())).text).toBe('re: b')
})

test('one that races the end either joins or is next, and is answered in any case', async () => {
  for (let turns = 0; turns < 12; turns++) {
    await using told = await story([{ text: 'one' }, { text: 'two' }])
    await told.main.send('a', { idempotencyKey: 'a' })
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    const run = await told.main.send('b', { idempotencyKey: 'b' })

    expect((await told.clock.until(run.result())).text).toBe('two')
    await told.quiet()
    expect(await told.transcript()).toEqual(['user: a', 'assistant: one', 'user: b', 'assistant: two'])
    expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final' })
  }
})

test('close ends an idle session for good, and a busy one not at all', async () => {
  await using told = await story([{ calls: [work('x', 50)] }, { text: 'ok' }], { tools: (world) => [worker()(world)] })
  const run = await told.say('a')
  await expect(told.main.command({ type: 'close' })).rejects.toMatchObject({ code: 'session_busy', retryable: true })
  await told.clock.until(run.result())

  await told.main.command({ type: 'close' })

  await expect(told.main.send('b')).rejects.toMatchObject({ code: 'closed' })
  await told.crash()
  await told.restart()
  await expect(told.main.send('c')).rejects.toMatchObject({ code: 'closed' })
})

test('[INV-1, INV-11] a thousand refused messages cost those that were accepted nothing, over a restart', async () => {
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/m', queue: { mode: 'followup' } })],
    models: { 't/m': () => ({ text: 'yes', delayMs: 10 }) },
  })
  const sent = await kit.clock.until(
    Promise.allSettled(Array.from({ length: 1300 }, (_, index) => kit.session('s').send(`m${index}`, { idempotencyKey: `m${index}` }))),
  )
  const accepted = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(accepted.length).toBeGreaterThan(50)
  expect(sent.length - accepted.length).toBeGreaterThan(1000)
  await kit.crash()
  await kit.restart()

  const answers = await kit.clock.until(Promise.all(accepted.map(({ id }) => kit.session('s').wait(id))))

  expect(answers.map(({ status }) => status)).toEqual(accepted.map(() => 'completed'))
  expect(await kit.clock.until(kit.session('s').history())).toHaveLength(2 * accepted.length)
})
