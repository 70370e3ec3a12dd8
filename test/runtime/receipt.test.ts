/** What it means that a message was accepted. */
import { expect, test } from 'vitest'
import { expectNothingAlive, story } from './harness.ts'

test('a message is answered, in exactly two commits, and nothing of the turn is alive afterwards [INV-15]', async () => {
  await using told = await story([{ text: 'good morning to you', usage: { inputTokens: 10, outputTokens: 4 } }])

  const run = await told.say('good morning')
  const answer = await told.clock.until(run.result())

  expect(run).toMatchObject({ status: 'started', seq: 1 })
  expect(answer).toMatchObject({ status: 'completed', text: 'good morning to you', ids: [run.id], steps: 1, usage: { outputTokens: 4 } })
  expect(answer).not.toHaveProperty('error')
  expect(await told.transcript()).toEqual(['user: good morning', 'assistant: good morning to you'])
  expect(told.said()).toEqual(['accepted', 'started', 'usage', 'final'])
  expect(await told.commits('main')).toBe(2)
  await expectNothingAlive(told)
})

test('the receipt is durable: a crash right behind it loses nothing, and the message is answered once [INV-1, INV-2]', async () => {
  await using told = await story([{ text: 'here I am', delayMs: 1000 }])
  const { seq } = await told.say('are you there?', { idempotencyKey: 'm1' })

  await told.crash()
  await told.restart()
  const answer = await told.clock.until(told.main.wait('m1'))

  expect(seq).toBe(1)
  expect(answer.text).toBe('here I am')
  expect(await told.transcript()).toEqual(['user: are you there?', 'assistant: here I am'])
  expect(told.said()).toEqual(['accepted', 'started', 'final'])
})

test('a repeated message changes nothing and gets the one answer: while it runs, after the end, and after a restart [INV-2]', async () => {
  await using told = await story([{ text: 'once', delayMs: 500 }, { text: 'never said' }])
  const key = { idempotencyKey: 'm1' }
  const first = await told.say('hello', key)

  const during = await told.say('hello', key)
  const [one, two] = await told.clock.until(Promise.all([first.result(), during.result()]))
  const after = await told.say('hello', key)
  await told.crash()
  await told.restart()
  const later = await told.say('hello', key)

  expect([during, after, later].map(({ status, seq }) => [status, seq])).toEqual(Array(3).fill(['duplicate', 1]))
  expect([one, two, await after.result(), await later.result()].map(({ text }) => text)).toEqual(Array(4).fill('once'))
  const events = []
  for await (const event of later.events()) events.push(event.type)
  expect(events).toEqual(['final'])
  expect(await told.transcript()).toEqual(['user: hello', 'assistant: once'])
})

test('two copies of a message that come at the same moment are one message', async () => {
  await using told = await story([{ text: 'once' }])

  const runs = await Promise.all([told.say('hello', { idempotencyKey: 'm1' }), told.say('hello', { idempotencyKey: 'm1' })])

  expect(runs.map(({ status }) => status).toSorted()).toEqual(['duplicate', 'started'])
  expect((await told.clock.until(Promise.all(runs.map((run) => run.result())))).map(({ text }) => text)).toEqual(['once', 'once'])
  expect(await told.commits('main')).toBe(2)
})

test('the answer of a message is found however long ago it was given, also after a reset', async () => {
  await using told = await story((request) => ({ text: `answer ${request.messages.filter(({ role }) => role === 'user').length}` }))
  for (let n = 1; n <= 60; n++) await told.clock.until((await told.say(`question ${n}`, { idempotencyKey: `m${n}` })).result())
  await told.main.reset('enough')

  expect(await told.main.outcome('m1')).toMatchObject({ status: 'completed', text: 'answer 1', ids: ['m1'] })
  expect((await (await told.say('question 2', { idempotencyKey: 'm2' })).result()).text).toBe('answer 2')
  expect(await told.main.outcome('m60')).toMatchObject({ text: 'answer 60' })
  await expect(told.main.outcome('m61')).rejects.toMatchObject({ code: 'not_found' })
  expect(await told.transcript()).toEqual([])
})

test('users choose their ids: one that looks like the name of an answer does no harm', async () => {
  await using told = await story([{ text: 'first', delayMs: 10 }, { text: 'second' }])
  const first = await told.say('one', { idempotencyKey: 'm', queueMode: 'followup' })
  const second = await told.say('two', { idempotencyKey: 'm:1', queueMode: 'followup' })

  expect((await told.clock.until(first.result())).text).toBe('first')
  expect((await told.clock.until(second.result())).text).toBe('second')
  expect(await told.transcript()).toEqual(['user: one', 'assistant: first', 'user: two', 'assistant: second'])
  expect(await told.main.outcome('m')).toMatchObject({ text: 'first' })
})

test('messages that do not fit are refused and leave no trace [BAD-FIELDS]', async () => {
  await using told = await story([{ text: 'hi' }])

  for (const bad of [{ type: 'message' }, { type: 'message', text: '' }, { type: 'steer', id: 'x' }, 7])
    await expect(told.main.command(bad)).rejects.toMatchObject({ code: 'bad_request' })
  await expect(told.main.command({ type: 'message', text: 'x'.repeat(200_001) })).rejects.toMatchObject({ code: 'too_large', field: 'text' })
  await expect(told.main.command({ type: 'message', text: 'hi', wish: 1 })).rejects.toMatchObject({ code: 'bad_request', field: 'wish' })

  await expect(told.main.view()).rejects.toMatchObject({ code: 'not_found' })
  expect(await told.commits('main')).toBe(0)
})

test('only a message begins a conversation: stopping one that is not there creates nothing', async () => {
  await using told = await story([{ text: 'yes' }])

  for (const type of ['cancel', 'compact', 'reset', 'close'])
    expect(await told.clock.until(told.main.command({ type }).catch((error: unknown) => error))).toMatchObject({ code: 'not_found' })
  expect(await told.commits('main')).toBe(0)
})
