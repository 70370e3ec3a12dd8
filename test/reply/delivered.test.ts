/** Who gets to read what: answers, and what the session says by itself, go to where they were asked for, once. */
import { expect, test } from 'vitest'
import { expectNothingAlive, outcomes, type Story, story } from '../runtime/harness.ts'
import { ann, ask, channels, crashes, eventsOf, listener, newest, payloads, restart, turns } from './stage.ts'

/** What arrived, with the thread that it arrived in. What a crash lets arrive twice is the same under one key, by which a channel knows it again. */
const arrived = ({ channel: { sends } }: Story): string[] =>
  sends.flatMap(({ outcome, route, payload, key }, index) =>
    outcome === 'sent' && sends.findIndex((other) => other.key === key && other.payload.text === payload.text) === index
      ? [`${route.thread ?? 'no thread'}: ${payload.text}`]
      : [],
  )

test.each(crashes)(
  '[OC-20] what came from two threads is not collected: two turns, and each answer goes to its own thread and message%s',
  async (crash) => {
    await using told = await story(listener().script, { queueMode: 'collect' })
    await told.say('go', ann('a'))
    await told.say('one', ann('1', { thread: 'x' }))
    await told.say('two', ann('2', { thread: 'y' }))
    if (crash) await restart(told)
    await told.quiet()

    expect(arrived(told)).toEqual(['no thread: re: go', 'x: re: one', 'y: re: two'])
    expect(turns(told)).toEqual(['a', '1', '2'])
    expect(eventsOf(told, 'final').slice(1).map(payloads)).toEqual([[{ text: 're: one', replyTo: '1' }], [{ text: 're: two', replyTo: '2' }]])
  },
)

test('[OC-22] what was asked on one channel is answered there, though somebody wrote from another one since', async () => {
  const both = channels({ id: 'mail' })
  await using told = await story(listener().script, { queueMode: 'followup', runtime: { channels: both } })
  await told.say('go', ann('a'))
  await told.say('later', ann('1'))
  await told.say('/status', ann('2', { channel: 'mail' }))
  await told.quiet()

  expect((await told.main.view()).record.origin?.channel).toBe('mail')
  expect(both.map(({ id, texts }) => [id, texts])).toEqual([
    ['test', ['re: go', 're: later']],
    ['mail', [expect.stringMatching(/^Session main/)]],
  ])
})

test.each([
  ['that refuses it', false],
  ['that is gone after a restart', true],
])('[OC-22] an answer for a channel %s goes to no other: it is in the history, and counted as undelivered', async (_, gone) => {
  const both = channels({ id: 'mail' })
  await using told = await story(listener((request) => ({ text: `re: ${newest(request)}`, delayMs: 100 })).script, {
    queueMode: 'followup',
    runtime: { channels: both },
  })
  await told.say('hello', ann('0', { channel: 'mail' }))
  await told.quiet()
  await told.say('go', ann('a'))
  await told.say('later', ann('1'))
  await told.clock.advance(40)
  if (gone) {
    await told.crash()
    await told.restart({ channels: both.filter(({ id }) => id === 'mail') })
  } else for (const nth of [1, 2]) both[0]?.fail(nth)
  await told.quiet()

  expect((await told.clock.until(told.session('main').wait('1'))).undelivered).toBe(1)
  expect(both.map(({ texts }) => texts)).toEqual([[], ['re: hello']])
  expect(await told.transcript()).toContain('assistant: re: later')
})

test('[OC-22] one that fails before any answer sends one error to its own thread, and is a failed turn in the trace', async () => {
  const { script } = listener(({ messages }) => (messages.length > 2 ? { error: { status: 401, message: '{"secret":1}' } } : { text: 'ok' }))
  await using told = await story(script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.say('later', ann('1', { thread: 'x' }))
  await told.quiet()

  expect(arrived(told)).toEqual(['no thread: ok', 'x: The model provider refused our key. Somebody who runs this service must check it.'])
  expect(await told.main.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } })
})

test.each([
  ['[OC-98]', '/think high', 'Thinking: high.'],
  ['[OC-100]', '/model nobody/knows', /^Model: 'nobody\/knows' is not known/],
  ['[OC-101]', '/queue collect', 'Queue: collect.'],
  ['[OC-95]', '/usage', 'Usage line: tokens.'],
  ['[OC-102]', '/whoami', 'You are ann on test.'],
  ['[OC-103]', 'stop', 'Nothing is running.'],
  ['[OC-44]', '/compact', 'There is no history to compact.'],
] as const)('%s the answer to %s arrives where it was written, once, also over a crash', async (_, text, answer) => {
  await using told = await story(listener().script)
  await told.say(text, ann('a', { thread: 'x' }))
  await told.clock.settle()
  await restart(told)
  await told.clock.advance(1000)

  expect(told.channel.sends.map(({ route, payload }) => [route, payload.text])).toEqual([
    [{ channel: 'test', to: 'ann', thread: 'x' }, typeof answer === 'string' ? answer : expect.stringMatching(answer)],
  ])
  await expectNothingAlive(told)
})

test('[OC-102] "/status hello" during a run: the status arrives before the answers', async () => {
  await using told = await story(listener().script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.clock.advance(40)
  await told.say('/status hello', ann('b'))
  await told.quiet()

  expect(arrived(told)).toEqual([expect.stringMatching(/^no thread: Session main/), 'no thread: re: go', 'no thread: re: hello'])
})

test.each(crashes)('[OC-103] of a run that was stopped nothing arrives but that it was%s', async (crash) => {
  await using told = await story(listener(() => ({ text: 'a long story that nobody wants', deltaDelayMs: 100 })).script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.say('and then', ann('b'))
  await told.clock.advance(300)
  await told.say('stop', ann('c'))
  if (crash) await restart(told)
  await told.quiet()

  expect(arrived(told)).toEqual(['no thread: Stopped. 1 waiting message was dropped.'])
})

test.each(crashes)('[OC-29, OC-30] "/new hello" in a thread: notice and answer arrive there%s', async (crash) => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('a', { thread: 'x' }))
  await told.say('/new hello', ann('b', { thread: 'x' }))
  if (crash) await restart(told)
  await told.quiet()

  expect(arrived(told)).toEqual(['x: re: hi', 'x: New session started. Model: test/model.', 'x: re: hello'])
})

test.each(crashes)('[OC-44] /compact during a run: its answer arrives when it is done%s', async (crash) => {
  const { script } = listener(({ instructions, messages }) =>
    instructions.startsWith('You shorten') ? { text: 'SUMMARY', delayMs: 500 } : { text: `saw ${messages.length}` },
  )
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, `${id} ${'x'.repeat(400)}`, ann(id))
  await told.say('3', ann('3'))
  await told.clock.advance(40)
  await told.say('/compact', ann('4', { thread: 'x' }))
  await told.clock.advance(200)
  if (crash) await restart(told)
  await told.quiet()

  expect(arrived(told)).toEqual(['no thread: saw 1', 'no thread: saw 3', expect.stringMatching(/^x: Compacted: \d+ → \d+ tokens/)])
})

test('[OC-25] to a message that came before nothing is said', async () => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('x'))
  await ask(told, 'hi', { ...ann('x'), idempotencyKey: 'again' })
  await told.quiet()

  expect(arrived(told)).toEqual(['no thread: re: hi'])
})

test.each(crashes)('[OC-84, OC-85, OC-86] notices first, then the answer, and the usage line below it%s', async (crash) => {
  const { script } = listener(() => ({ text: 'done', usage: { inputTokens: 10, outputTokens: 5 } }))
  await using told = await story(script)
  await ask(told, '/verbose on', ann('1'))
  await ask(told, '/usage full', ann('2'))
  await told.say('go', ann('3'))
  if (crash) await restart(told)
  await told.quiet()

  const { sessionId } = (await told.main.view()).record
  expect(arrived(told).slice(2)).toEqual([`no thread: New session: ${sessionId}`, 'no thread: done\nUsage: 10 in / 5 out · session main'])
})

test('[OC-103] a turn that waits for room in its lane stops, too', async () => {
  await using told = await story(listener(undefined, 3000).script, { lane: 'main', runtime: { lanes: { main: 1 } } })
  await told.session('other').send('go')
  await told.say('go', ann('a'))
  await told.clock.advance(100)

  await told.say('stop', ann('b'))
  await told.clock.advance(100)

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'final' })
  expect(eventsOf(told, 'aborted')).toHaveLength(1)
})

test('[OC-29] notice and answer to /new hello have keys of their own, or a channel takes the second for the first', async () => {
  await using told = await story(listener().script)
  await ask(told, '/new hello', ann('a'))
  await told.quiet()

  const keys = told.channel.sends.map(({ key }) => key)
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(2)
})
