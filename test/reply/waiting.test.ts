/** What waits: when it gets its turn, what becomes one prompt, and how it is dropped. */
import { expect, test } from 'vitest'
import { expectEndedOnce, expectNothingAlive, outcomes, story } from '../runtime/harness.ts'
import { ann, ask, before, channels, crashes, eventsOf, expectReplay, listener, newest, payloads, prompts, restart, startOf, turns } from './stage.ts'

/** What a turn is told for several messages. */
const collected = (...items: string[]) =>
  ['These messages came in while you were busy, oldest first.', ...items.map((item, index) => `Message ${index + 1}:\n${item}`)].join('\n\n')

test.each(crashes)('[OC-18] with a debounce of 1000 ms, messages at 0, 600 and 1200 ms have their turn at 2200 ms%s', async (crash) => {
  await using told = await story(listener().script, { queueMode: 'collect', debounceMs: 1000 })
  await told.say('go', ann('a'))
  const began = told.clock.now()
  await told.say('1', ann('1'))
  await told.clock.advance(600)
  await told.say('2', ann('2'))
  await told.clock.advance(600)
  await told.say('3', ann('3'))
  await told.clock.advance(300)
  expect(outcomes(told.events('main').filter((event) => !('id' in event) || event.id === 'a'))).toEqual({ a: 'final' })
  if (crash) await restart(told)

  expect((await startOf(told, '3')) - began).toBe(2200)
  expect(turns(told)).toEqual(['a', '1+2+3'])
})

test('[OC-18] without a debounce what waits is next as soon as the run has ended', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', debounceMs: 0 })
  await told.say('go', ann('a'))
  const began = told.clock.now()
  await told.clock.advance(90)
  await told.say('1', ann('1'))

  expect((await startOf(told, '1')) - began).toBe(100)
})

test.each(crashes)('[OC-19] collect: three that wait become one prompt, in order, with the settings of the newest%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'collect' })
  await told.say('go', ann('a'))
  await told.say('one', { ...ann('1'), thinking: 'low' })
  await told.say('two', { ...ann('2'), thinking: 'high' })
  await told.say('three', { ...ann('3'), thinking: 'medium' })
  if (crash) await restart(told)
  await told.quiet()

  expect(await prompts(told)).toEqual(['go', collected('one', 'two', 'three')])
  expect(turns(told)).toEqual(['a', '1+2+3'])
  expect(asked.at(-1)?.settings.reasoning).toBe('medium')
  // The answer goes where the first of them came from.
  expect(before(asked.at(-1)!)).toBe('[message id: 1]')
  await expectReplay(told)
})

test.each([
  ['routed and not routed', [{}, undefined, {}]],
  ['first alike and then not', [{ thread: 'x' }, { thread: 'x' }, { thread: 'y' }, { thread: 'y' }]],
  ['another account', [{ account: 'one' }, { account: 'two' }]],
  ['another person', [{ to: 'ann' }, { to: 'bob' }]],
  ['another channel', [{ channel: 'test' }, { channel: 'mail' }]],
])('[OC-20] once mixed, all that wait are answered one by one: %s', async (_, origins) => {
  await using told = await story(listener().script, { queueMode: 'collect', runtime: { channels: channels({ id: 'mail' }) } })
  await told.say('go', ann('a'))
  for (const [index, origin] of origins.entries()) await told.say(`m${index}`, origin ? ann(`m${index}`, origin) : { idempotencyKey: `m${index}` })
  await told.quiet()

  expect(turns(told)).toEqual(['a', ...origins.map((_, index) => `m${index}`)])
})

test('[OC-20] when nothing waits any more, messages of one route are collected again', async () => {
  await using told = await story(listener().script, { queueMode: 'collect' })
  await told.say('go', ann('a'))
  for (const id of ['1', '2']) await told.say(id, ann(id, { thread: id }))
  await startOf(told, '2')
  for (const id of ['3', '4']) await told.say(id, ann(id))
  await told.quiet()

  expect(turns(told)).toEqual(['a', '1', '2', '3+4'])
})

test.each(crashes)(
  '[OC-21] one that fails twice is tried again after pauses that grow, then the others have their turn, also after one that fails for good%s',
  async (crash) => {
    const { script } = listener((request) => {
      const text = request.messages.findLast(({ role }) => role === 'user') as { text: string }
      if (text.text === '2') return { error: { code: 'provider_auth' } }
      return { text: `re: ${text.text}`, ...(text.text === '1' ? { errors: [{ status: 503 }, { status: 503 }] } : {}) }
    })
    await using told = await story(script, { queueMode: 'followup', debounceMs: 0 })
    await told.say('go', ann('a'))
    for (const id of ['1', '2', '3']) await told.say(id, ann(id))
    if (crash) await restart(told)
    await told.quiet()

    expect(eventsOf(told, 'retry').map(({ delayMs }) => delayMs)).toEqual([500, 1000])
    expect(turns(told)).toEqual(['a', '1', '2', '3'])
    expect(outcomes(told.events('main'))).toEqual({ a: 'final', 1: 'final', 2: 'error', 3: 'final' })
    expect((await told.main.view()).queued).toEqual([])
    await expectNothingAlive(told)
  },
)

test.each([
  ['silent', 'NO_REPLY', 'a final'],
  ['empty', '', 'a error'],
])('[OC-21] after an answer that is %s what waits is next, too', async (_, text, ended) => {
  const { script } = listener((request) => ({ text: request.messages.length === 1 ? text : 'ok' }))
  await using told = await story(script, { queueMode: 'followup' })
  const first = await told.say('go', ann('a'))
  first.result().catch(() => undefined)
  await told.say('1', ann('1'))
  await told.quiet()

  const ends = [...eventsOf(told, 'final'), ...eventsOf(told, 'error')]
  expect(ends.map(({ ids, type }) => `${String(ids)} ${type}`).sort()).toEqual(['1 final', ended])
})

test.each(crashes)('[OC-22] what waited is a whole turn with a run of its own, as settings were when it came%s', async (crash) => {
  const { asked, script } = listener((request) => ({
    text: `HEARTBEAT_OK re: ${request.messages.length}`,
    usage: { inputTokens: 10, outputTokens: 5 },
  }))
  const other = listener(() => ({ text: 'from the other one' }))
  await using told = await story(script, { queueMode: 'followup', runtime: { models: { 'test/model': script, 'test/other': other.script } } })
  await told.say('go', ann('a', { thread: 'x' }))
  await ask(told, '/think high', ann('think'))
  await told.say('later', ann('1', { thread: 'x' }))
  await ask(told, '/think low', ann('less'))
  await ask(told, '/model test/other', ann('other', { thread: 'y' }))
  if (crash) await restart(told)
  await told.quiet()

  expect(asked.at(-1)?.settings.reasoning).toBe('high')
  expect(other.asked).toEqual([])
  const [, , , , last] = eventsOf(told, 'final')
  expect(last).toMatchObject({ runId: '1', ids: ['1'], model: 'test/model' })
  // The answer points at what it answers, though somebody wrote from elsewhere meanwhile, and shows no token.
  expect(payloads(last!)).toEqual([{ text: 're: 3', replyTo: '1' }])
  expect(eventsOf(told, 'usage').map(({ runId, usage }) => [runId, usage.total])).toEqual([
    ['a', 15],
    ['1', 15],
  ])
  expect((await told.main.view()).record.spent).toMatchObject({ turns: 2, usage: { inputTokens: 20, outputTokens: 10 } })
})

test('[OC-22] one that fails before any answer is a failed turn in the trace', async () => {
  const { script } = listener(({ messages }) => (messages.length > 2 ? { error: { code: 'provider_auth' } } : { text: 'ok' }))
  await using told = await story(script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.say('later', ann('1'))
  await told.quiet()

  expect(eventsOf(told, 'error')).toMatchObject([{ ids: ['1'], outcome: 'failed', error: { code: 'provider_auth' } }])
  expect((await told.trace('main')).some(({ event }) => JSON.stringify(event).includes('reject'))).toBe(true)
})

test.each(crashes)('[OC-24] all that waits is dropped, and the run goes on%s', async (crash) => {
  await using told = await story(listener().script, { queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, ann(id))

  const { emitted } = await told.main.command({ type: 'clear' })
  if (crash) await restart(told)

  expect(emitted.filter(({ type }) => type === 'aborted')).toMatchObject([{ ids: ['b'] }, { ids: ['c'] }])
  expect(emitted.filter(({ type }) => type === 'cleared')).toMatchObject([{ followups: 2, dropped: 0, lane: 0 }])
  expect((await told.main.view()).queued).toEqual([])
  await told.quiet()
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'aborted', c: 'aborted' })
  expect((await told.main.command({ type: 'clear' })).emitted).toMatchObject([{ type: 'cleared', followups: 0, lane: 0 }])
  await expectEndedOnce(told)
  await expectNothingAlive(told)
})

test('[OC-24] what was dropped from a full queue is counted, and told to nobody any more', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup', queueCap: 2, queueDrop: 'summarize' })
  for (const id of ['a', 'b', 'c', 'd', 'e']) await told.say(id, ann(id))

  const { emitted } = await told.main.command({ type: 'clear' })
  await told.quiet()
  await ask(told, 'f', ann('f'))

  expect(emitted.filter(({ type }) => type === 'cleared')).toMatchObject([{ followups: 2, dropped: 2 }])
  expect(asked.map(newest)).toEqual(['a', 'f'])
})

test.each(['followup', 'steer-backlog'] as const)('[OC-11, OC-19] where new ones are refused, what waits stays (%s)', async (queueMode) => {
  const { script } = listener(undefined, 2000)
  await using told = await story(script, { queueMode, queueCap: 1, queueDrop: 'new' })
  const refused: string[] = []
  for (const id of ['a', 'b', 'c']) {
    await told.say(id, { idempotencyKey: id }).catch(({ code }: { code: string }) => refused.push(`${id} ${code}`))
    await told.clock.advance(100)
  }
  await told.quiet()

  expect(refused).toEqual(['c overloaded'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final' })
})
