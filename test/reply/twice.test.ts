/** A message that comes twice is taken once, and what is too much is refused, dropped, or left as a line. */
import { expect, test } from 'vitest'
import { expectEndedOnce, outcomes, story } from '../runtime/harness.ts'
import { ann, ask, channels, crashes, eventsOf, listener, newest, prompts, restart, startOf, turns } from './stage.ts'

test.each(crashes)('[OC-15] a message with the same id and the same route is queued once, from another thread once more%s', async (crash) => {
  await using told = await story(listener().script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.say('one', { ...ann('x'), idempotencyKey: '1' })
  if (crash) await restart(told)
  await told.say('one', { ...ann('x'), idempotencyKey: '2' })
  await told.say('one', { ...ann('x', { thread: 't' }), idempotencyKey: '3' })

  expect((await told.main.view()).queued).toEqual(['1', '3'])
  expect(eventsOf(told, 'skipped')).toMatchObject([{ id: '2', reason: 'duplicate' }])
  await told.quiet()
  expect(await prompts(told)).toEqual(['go', 'one', 'one'])
})

test('[OC-15] one that is skipped makes the others wait no longer', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', debounceMs: 1000 })
  await told.say('go', ann('a'))
  await told.say('one', ann('x'))
  const began = told.clock.now()
  await told.clock.advance(800)
  await told.say('one', { ...ann('x'), idempotencyKey: 'again' })

  expect((await startOf(told, 'x')) - began).toBe(1000)
})

test('[OC-16] new: with a cap of two, the third and fourth are refused, and make the others wait no longer', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', debounceMs: 1000, queueCap: 2, queueDrop: 'new' })
  await told.say('go', ann('a'))
  for (const id of ['1', '2']) await told.say(id, ann(id))
  const began = told.clock.now()
  await told.clock.advance(600)
  for (const id of ['3', '4']) await expect(told.say(id, ann(id))).rejects.toMatchObject({ code: 'overloaded', retryable: true })

  expect((await told.main.view()).queued).toEqual(['1', '2'])
  expect((await startOf(told, '1')) - began).toBe(1000)
  await told.quiet()
  expect(await prompts(told)).toEqual(['go', '1', '2'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', 1: 'final', 2: 'final' })
})

test('[OC-16, OC-102] what is asked in a message that is refused is not answered, and once when it comes again', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', queueCap: 1, queueDrop: 'new' })
  await told.say('go', ann('a'))
  await told.say('1', ann('1'))
  await expect(told.say('/whoami two', ann('2'))).rejects.toMatchObject({ code: 'overloaded' })
  expect(eventsOf(told, 'notice')).toEqual([])
  await told.quiet()
  await ask(told, '/whoami two', ann('2'))

  expect(eventsOf(told, 'notice')).toMatchObject([{ id: '2', text: 'You are ann on test.' }])
})

test('[OC-16] what was refused may come again: its channel and its sender mean it', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', queueCap: 1, queueDrop: 'new' })
  await told.say('go', ann('a'))
  await told.say('1', ann('1'))
  await expect(told.say('2', ann('2'))).rejects.toMatchObject({ code: 'overloaded' })
  await told.quiet()

  expect((await ask(told, '2', ann('2'))).text).toBe('re: 2')
})

test.each(crashes)('[OC-16] old: of four messages the two newest are left%s, and all have an outcome', async (crash) => {
  await using told = await story(listener().script, { queueMode: 'followup', queueCap: 2, queueDrop: 'old' })
  await told.say('go', ann('a'))
  for (const id of ['1', '2', '3', '4']) await told.say(id, ann(id))
  if (crash) await restart(told)

  expect((await told.main.view()).queued).toEqual(['3', '4'])
  await told.quiet()
  expect(await prompts(told)).toEqual(['go', '3', '4'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', 1: 'aborted', 2: 'aborted', 3: 'final', 4: 'final' })
  await expectEndedOnce(told)
})

test.each(crashes)(
  '[OC-16, OC-17] summarize: a line is left of each that was dropped, told once at the head of what was collected%s',
  async (crash) => {
    await using told = await story(listener().script, { queueMode: 'collect', queueCap: 2, queueDrop: 'summarize' })
    await told.say('go', ann('a'))
    for (const [id, text] of [
      ['1', 'first\n\n  of   all'],
      ['2', `long ${'x'.repeat(200)}`],
      ['3', 'third'],
      ['4', 'fourth'],
      ['5', 'fifth'],
    ] as const)
      await told.say(text, ann(id))
    if (crash) await restart(told)
    await told.quiet()
    await ask(told, 'and now', ann('6'))

    const long = `long ${'x'.repeat(154)}…`
    expect(long).toHaveLength(160)
    // Three were dropped, and as many lines are kept as may wait.
    const heading = 'These messages came in while you were busy, oldest first.'
    const overflow = `The queue was full: 3 messages were left out. In short:\n- ${long}\n- third`
    expect(await prompts(told)).toEqual(['go', [heading, overflow, 'Message 1:\nfourth', 'Message 2:\nfifth'].join('\n\n'), 'and now'])
    expect(outcomes(told.events('main'))).toEqual({ a: 'final', 1: 'aborted', 2: 'aborted', 3: 'aborted', 4: 'final', 5: 'final', 6: 'final' })
  },
)

test('[OC-17] a single one that was dropped is told in the singular, once, also where each has a turn of its own', async () => {
  await using told = await story(listener().script, { queueMode: 'followup', queueCap: 2, queueDrop: 'summarize' })
  await told.say('go', ann('a'))
  for (const id of ['1', '2', '3']) await told.say(`say ${id}`, ann(id))
  await told.quiet()

  const naming = (await prompts(told)).filter((prompt) => prompt.includes('left out'))
  expect(naming).toHaveLength(1)
  expect(naming[0]).toContain('The queue was full: 1 message was left out. In short:\n- say 1')
  expect(turns(told)).toHaveLength(3)
})

test.each(crashes)('[OC-25] a message that its channel delivers again within 20 minutes begins no turn, after 21 it does%s', async (crash) => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('x'))
  if (crash) await restart(told)
  await told.clock.advance(19 * 60_000)

  const again = await ask(told, 'hi', { ...ann('x'), idempotencyKey: 'again' })
  expect(again).toMatchObject({ outcome: 'silent', text: '' })
  expect(turns(told)).toEqual(['x'])
  expect(eventsOf(told, 'skipped')).toMatchObject([{ id: 'again', reason: 'duplicate' }])

  await told.clock.advance(2 * 60_000)
  expect((await ask(told, 'hi', { ...ann('x'), idempotencyKey: 'late' })).text).toBe('re: hi')
})

test('[OC-25] what has no id, or comes to another peer, thread, account or session, is no duplicate', async () => {
  await using told = await story(listener().script, { runtime: { channels: channels({ id: 'mail' }) } })
  const origins = [{ to: 'bob' }, { thread: 't' }, { account: 'second' }, { channel: 'mail' }]
  await ask(told, 'hi', ann('x'))
  for (const [index, origin] of origins.entries()) await ask(told, 'hi', { ...ann('x', origin), idempotencyKey: `${index}` })
  const nameless = { channel: 'test', to: 'ann' }
  for (const id of ['n1', 'n2']) await ask(told, 'hi', { idempotencyKey: id, origin: nameless })
  await told.clock.until(told.session('other').send('hi', ann('x')))
  await told.clock.advance(200)

  expect(turns(told)).toHaveLength(1 + origins.length + 2)
  expect(told.events('other').filter(({ type }) => type === 'started')).toHaveLength(1)
})

test('[OC-25] an order is carried out once, too', async () => {
  await using told = await story(listener().script)
  expect((await ask(told, '/usage', ann('x'))).text).toBe('Usage line: tokens.')

  expect((await ask(told, '/usage', { ...ann('x'), idempotencyKey: 'again' })).text).toBe('')
  expect((await told.main.view()).record.toggles.usage).toBe('tokens')
})

test('[OC-26] three quick texts become one before the command that follows them', async () => {
  await using told = await story(listener().script, {
    queueMode: 'followup',
    runtime: { channels: channels({ id: 'test', inboundDebounceMs: 500 }) },
  })
  for (const id of ['1', '2', '3']) await told.say(id, ann(id))
  await told.say('/status', ann('4'))
  await told.quiet()

  expect(turns(told)).toHaveLength(1)
  expect(
    eventsOf(told, 'accepted')
      .map(({ id }) => id)
      .at(-1),
  ).toBe('4')
})

test('[OC-26] what two people write in one place within that time stays two messages', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup', runtime: { channels: channels({ id: 'test', inboundDebounceMs: 500 }) } })
  for (const [id, sender] of [
    ['1', 'bob'],
    ['2', 'bob'],
    ['3', 'eve'],
  ] as const)
    await told.say(id, ann(id, { chatType: 'group', sender }))
  await told.quiet()

  expect(turns(told)).toEqual(['1+2', '3'])
  expect(asked.map(newest)).toEqual(['1\n2', '3'])
})

test('[OC-25] whoever sends one that came before learns that it is a duplicate', async () => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('x'))

  expect((await told.say('hi', { ...ann('x'), idempotencyKey: 'again' })).status).toBe('duplicate')
})
