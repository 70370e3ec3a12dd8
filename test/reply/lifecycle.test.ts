/** What a session keeps of itself, when a conversation is too old to go on with, and what the model is told of what has happened meanwhile. */
import { expect, test } from 'vitest'
import { story, work } from '../runtime/harness.ts'
import { ann, ask, before, channels, crashes, eventsOf, known, listener, newest, recordOf, restart, toggles, tools } from './stage.ts'

type Told = Awaited<ReturnType<typeof story>>

/** Nobody is there for a while: time passes faster so. */
const away = async (told: Told, ms: number) => {
  await told.close()
  await told.clock.advance(ms)
  await told.restart()
}
/** The first days of February; stories begin at 08:05 on the day before. */
const until = (told: Told, day: number, hour: number, minute: number) => away(told, Date.UTC(2026, 1, day, hour, minute) - told.clock.now())

test('[OC-27] what a session knows of itself comes back from the store as it was', async () => {
  const model = known({ contextTokens: 200_000, price: { input: 3, output: 15 } }, [
    { text: 'ok', calls: [work('x')], usage: { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 10 } },
    { text: 'done', usage: { inputTokens: 1200, outputTokens: 50 } },
  ])
  await using told = await story([], { tools, runtime: { models: { 'test/model': model } } })
  await ask(told, '/think high /verbose on /reasoning on /elevated ask /queue followup debounce:10 cap:7 drop:summarize', ann('1'))
  for (const [index, order] of ['/usage full', '/send on', '/model test/model'].entries()) await ask(told, order, ann(`order ${index}`))
  await ask(told, 'do x', ann('2', { thread: 't', account: 'work' }))
  await told.main.command({ type: 'note', text: 'the job is done' })
  const record = await recordOf(told)

  await restart(told)

  expect(await recordOf(told)).toEqual(record)
  expect(record).toMatchObject({
    sessionId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    startedAt: told.clock.now(),
    updatedAt: told.clock.now(),
    resets: 0,
    systemSent: true,
    abortedLastRun: false,
    toggles: {
      thinking: 'high',
      verbose: 'on',
      reasoning: 'on',
      elevated: 'ask',
      queueMode: 'followup',
      debounceMs: 10,
      queueCap: 7,
      queueDrop: 'summarize',
      usage: 'full',
      send: 'on',
    },
    origin: { channel: 'test', account: 'work', to: 'ann', thread: 't', messageId: '2' },
    compactions: 0,
    tokens: { input: 2200, output: 150, total: 1250, window: 200_000, model: 'test/model', provider: 'test' },
    spent: { turns: 1, usage: { inputTokens: 2200, outputTokens: 150, cachedInputTokens: 10 }, unpriced: 0 },
    notes: [{ at: told.clock.now(), text: 'the job is done' }],
  })
  expect(record.spent.costUsd).toBeCloseTo(0.00885, 10)
  expect(await told.runtime.replay(told.main.address)).toMatchObject({ verdict: 'identical' })
})

test.each(crashes)('[OC-28] a conversation of 03:59 is old at 04:01, and one of 04:01 is not at 23:00%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, crash ? { freshness: { mode: 'daily' } } : {})
  await until(told, 2, 3, 59)
  await ask(told, 'good night', ann('1'))
  const { sessionId } = await recordOf(told)

  if (crash) await restart(told)
  await told.clock.advance(2 * 60_000)
  await ask(told, 'good morning', ann('2'))
  const next = (await recordOf(told)).sessionId
  expect(next).not.toBe(sessionId)
  expect(asked.at(-1)?.messages).toHaveLength(1)
  expect(eventsOf(told, 'reset')).toMatchObject([{ reason: 'stale' }])

  await until(told, 2, 23, 0)
  await ask(told, 'good evening', ann('3'))
  expect((await recordOf(told)).sessionId).toBe(next)
  expect(asked.at(-1)?.messages).toHaveLength(3)
})

test('[OC-28] idle: after an hour and a moment, or the minutes that were set for the channel or the type of chat', async () => {
  const anewAfter = async (ms: number, freshness: object, origin = {}) => {
    await using told = await story(listener().script, { freshness, runtime: { channels: channels({ id: 'mail' }) } })
    await told.clock.until(told.say('a', ann('a', origin)))
    await told.quiet()
    const { updatedAt } = await recordOf(told)
    await away(told, updatedAt + ms - told.clock.now())
    await ask(told, 'b', ann('b', origin))
    return (await recordOf(told)).resets === 1
  }
  const minute = 60_000

  expect(await anewAfter(60 * minute, { mode: 'idle' })).toBe(false)
  expect(await anewAfter(60 * minute + 1, { mode: 'idle' })).toBe(true)
  // The channel goes before the type of chat, and that before the rest.
  const layered = { mode: 'idle', idleMinutes: 100, byType: { group: { idleMinutes: 10 } }, byChannel: { mail: { idleMinutes: 50 } } }
  expect(await anewAfter(20 * minute, layered, { chatType: 'group' })).toBe(true)
  expect(await anewAfter(20 * minute, layered, { chatType: 'group', channel: 'mail' })).toBe(false)
})

test('[OC-28] what people write on a channel is over after a night, what services send is never', async () => {
  const resetsAfter = async (options: (id: string) => Parameters<Told['say']>[1]) => {
    await using told = await story(listener().script)
    await ask(told, 'a', options('a'))
    await away(told, 40 * 86_400_000)
    await ask(told, 'b', options('b'))
    return (await recordOf(told)).resets
  }

  expect(await resetsAfter((id) => ann(id))).toBe(1)
  expect(await resetsAfter((id) => ({ idempotencyKey: id }))).toBe(0)
})

test('[OC-28] also when the first message of the day is an order, what was said the day before is over', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { freshness: { mode: 'daily' } })
  await until(told, 2, 3, 59)
  await ask(told, 'good night', ann('1'))
  await until(told, 2, 4, 1)
  await ask(told, '/status', ann('2'))

  await ask(told, 'good morning', ann('3'))

  expect(asked.at(-1)?.messages).toHaveLength(1)
})

test('[OC-31] whatever is accepted moves updatedAt: answered, queued, steered, orders; what is refused or came before does not', async () => {
  await using told = await story(listener(undefined, 1000).script, { queueCap: 1, queueDrop: 'new' })
  const moved = async (text: string, options: ReturnType<typeof ann> & { queueMode?: 'followup' }) => {
    await told.clock.advance(10)
    await told.say(text, options).catch(() => undefined)
    const { updatedAt } = await recordOf(told)
    return updatedAt === told.clock.now()
  }

  expect(await moved('go', ann('1'))).toBe(true)
  expect(await moved('steered', ann('2'))).toBe(true)
  expect(await moved('queued', { ...ann('3'), queueMode: 'followup' })).toBe(true)
  expect(await moved('/status', ann('4'))).toBe(true)
  expect(await moved('refused', { ...ann('5'), queueMode: 'followup' })).toBe(false)
  expect(await moved('queued', { ...ann('3'), idempotencyKey: 'again' })).toBe(false)
  expect(await moved('stop', ann('6'))).toBe(true)
  const { updatedAt } = await recordOf(told)
  await restart(told)
  expect((await recordOf(told)).updatedAt).toBe(updatedAt)
})

test.each(crashes)('[OC-38] after a stop and a new model, the next prompt says both, and the one after it neither%s', async (crash) => {
  const { asked, script } = listener()
  const other = listener()
  await using told = await story([], { runtime: { models: { 'test/model': script, 'test/other': other.script } } })
  await told.say('go', ann('1'))
  await told.clock.advance(40)
  await ask(told, 'stop', ann('2'))
  await ask(told, '/model test/other', ann('3'))
  await told.main.command({ type: 'note', text: 'HEARTBEAT_OK' })
  if (crash) await restart(told)

  await ask(told, 'what now', ann('4'))
  await ask(told, 'and now', ann('5'))

  expect(asked.map(newest)).toEqual(['go'])
  expect(other.asked.map(before)).toEqual([
    'Note: your last answer was stopped by the user before it was complete. What you had begun may be half done.\n\n' +
      'System [2026-01-31 08:05:00 UTC]: the model is now test/other\n[message id: 4]',
    '[message id: 5]',
  ])
  // People read what they wrote, and nothing else.
  expect((await told.transcript()).filter((line) => line.startsWith('user'))).toEqual(['user: go', 'user: what now', 'user: and now'])
  expect((await recordOf(told)).notes).toEqual([])
})

test('[OC-39] fifty changes at the same time to what a session keeps are all kept', async () => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('a'))
  const changes = {
    model: 'test/model',
    thinking: 'high',
    verbose: 'full',
    reasoning: 'on',
    elevated: 'ask',
    usage: 'full',
    send: 'on',
    queueMode: 'collect',
    debounceMs: 7,
    queueCap: 9,
    queueDrop: 'old',
  } as const
  const patches = Object.entries(changes).map(
    ([name, value]) =>
      () =>
        told.main.configure({ [name]: value }),
  )
  const notes = Array.from({ length: 17 }, (_, index) => () => told.main.command({ type: 'note', text: `note ${index}` }))
  const all = [...patches, ...patches, ...notes, ...patches]
  expect(all).toHaveLength(50)

  await told.clock.until(Promise.all(all.map((change) => change())))
  await restart(told)

  const record = await recordOf(told)
  expect(record.toggles).toEqual(changes)
  expect(record.notes.map(({ text }) => text).toSorted()).toEqual(Array.from({ length: 17 }, (_, index) => `note ${index}`).toSorted())
})

test.each(crashes)('[OC-39] wishes of users, changed and taken back%s', async (crash) => {
  await using told = await story(listener().script)
  await ask(told, '/think high', ann('a'))
  await told.main.configure({ verbose: 'on', usage: 'full' })
  await told.main.configure({ usage: null })
  if (crash) await restart(told)

  expect(await toggles(told)).toEqual({ thinking: 'high', verbose: 'on' })
})
