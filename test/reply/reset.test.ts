/** How a conversation begins anew when somebody asks for it, and what is left of the old one. */

import { expect, test, vi } from 'vitest'
import { RuntimeError } from '../../src/index.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { expectEndedOnce, expectNothingAlive, outcomes, type Story, story } from '../runtime/harness.ts'
import { ann, ask, before, crashes, eventsOf, expectReplay, listener, newest, notices, recordOf, restart, texts, turns } from './stage.ts'

test.each(crashes)('[OC-29] "/NEW hello" begins anew, and the model sees "hello"%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script)
  await ask(told, 'about cats', ann('1'))
  const { sessionId } = await recordOf(told)

  await told.say('/NEW hello', ann('2'))
  if (crash) await restart(told)
  await told.quiet()

  expect((await recordOf(told)).sessionId).not.toBe(sessionId)
  expect(asked.at(-1)?.messages).toMatchObject([{ text: 'hello' }])
  expect(await told.transcript()).toEqual(['user: hello', 'assistant: re: hello'])
  expect(notices(told)).toEqual(['New session started. Model: test/model.'])
  expect(outcomes(told.events('main'))).toEqual({ 1: 'final', 2: 'final' })
})

test('[OC-29] a reset command alone begins with a short greeting', async () => {
  const { asked, script } = listener(() => ({ text: 'hello, what can I do?' }))
  await using told = await story(script)
  await ask(told, 'about cats', ann('1'))

  expect((await ask(told, '  /Reset  ', ann('2'))).text).toBe('hello, what can I do?')

  expect(asked.at(-1)?.messages).toHaveLength(1)
  expect(before(asked.at(-1)!)).toContain('A new conversation has begun. Greet the user')
  expect(notices(told)).toEqual(['New session started. Model: test/model.'])
})

test('[OC-29] the notice names the default where the model is another one', async () => {
  await using told = await story([], { runtime: { models: { 'test/model': listener().script, 'test/other': listener().script } } })
  await ask(told, '/model test/other', ann('1'))

  await ask(told, '/new hello', ann('2'))

  expect(notices(told)).toEqual(['New session started. Model: test/other (default: test/model).'])
})

test.each([
  ['a first word that names a model', '/new test/other hello', '/new test/model hello'],
  ['a first word that is an alias', '/reset quick hello', '/reset usual hello'],
  ['a directive behind the command', '/new /model test/other hello', '/new /model:test/model hello'],
])('[OC-29] %s chooses it, and the notice names the model that answers', async (_, there, back) => {
  const models = { 'test/model': listener(), 'test/other': listener() }
  await using told = await story([], {
    runtime: {
      models: { 'test/model': models['test/model'].script, 'test/other': models['test/other'].script },
    },
    choice: { aliases: { quick: 'test/other', usual: 'test/model' } },
  })

  await ask(told, there, ann('1'))
  await ask(told, back, ann('2'))
  await ask(told, '/new', ann('3'))

  expect(models['test/other'].asked.map(newest)).toEqual(['hello'])
  expect(models['test/model'].asked.map(newest)[0]).toBe('hello')
  expect(notices(told)).toEqual([
    'New session started. Model: test/other (default: test/model).',
    'New session started. Model: test/model.',
    'New session started. Model: test/model.',
  ])
})

test('[OC-29] of a stranger it is text, and so is what only looks like it', async () => {
  const { asked, script } = listener()
  await using told = await story(script)
  await ask(told, 'about cats', ann('1'))

  await ask(told, '/NEW hello', ann('2', { authorised: false }))
  await ask(told, '/newer hello', ann('3'))
  await ask(told, 'not /new hello', ann('4'))

  expect((await recordOf(told)).resets).toBe(0)
  expect(asked.map(newest)).toEqual(['about cats', '/NEW hello', '/newer hello', 'not /new hello'])
})

test.each(crashes)('[OC-29, OC-32] during a run it stops that, drops what waits, and is next%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, ann(id))
  await told.clock.advance(40)

  await told.say('/new hello', ann('d'))
  if (crash) await restart(told)
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'aborted', d: 'final' })
  expect(await told.transcript()).toEqual(['user: hello', 'assistant: re: hello'])
  expect(asked.at(-1)?.messages).toHaveLength(1)
  await expectReplay(told)
  await expectEndedOnce(told)
  await expectNothingAlive(told)
})

test('[OC-29] during a run the notice comes, too', async () => {
  await using told = await story(listener().script)
  await told.say('a', ann('a'))
  await told.clock.advance(40)
  await told.say('/new hello', ann('b'))
  await told.quiet()

  expect(notices(told)).toEqual(['New session started. Model: test/model.'])
})

test.each(crashes)('[OC-30] a new conversation counts from zero, and keeps where its answers go and what its users want%s', async (crash) => {
  const { script } = listener(({ instructions }) =>
    instructions.startsWith('You shorten') ? { text: 'SUMMARY' } : { text: 'ok', usage: { inputTokens: 5 } },
  )
  await using told = await story(script)
  await ask(told, '/think high', ann('1'))
  for (const id of ['2', '3']) await ask(told, id, ann(id, { thread: 't' }))
  await ask(told, '/compact', ann('4', { thread: 't' }))
  expect((await recordOf(told)).compactions).toBe(1)
  const old = await recordOf(told)

  await told.say('/new hello', ann('5', { thread: 't' }))
  if (crash) await restart(told)
  await told.quiet()

  const record = await recordOf(told)
  expect(record).toMatchObject({ compactions: 0, resets: 1, toggles: { thinking: 'high' }, spent: { turns: 1 } })
  expect(record.sessionId).not.toBe(old.sessionId)
  expect(record.flushed).toBeUndefined()
  expect(record.origin).toEqual({ ...old.origin, messageId: '5' })
})

test.each(crashes)(
  '[OC-32] after a reset in mid-turn the two that wait run in the new conversation, with every wish of its users%s',
  async (crash) => {
    const { script } = listener((request) =>
      newest(request) === 'big' ? { error: { code: 'provider_overflow' } } : { text: `saw ${request.messages.length}` },
    )
    await using told = await story(script, { queueMode: 'followup', debounceMs: 0 })
    await ask(told, '/verbose on', ann('v'))
    await told.say('big', ann('a'))
    for (const id of ['b', 'c']) await told.say(id, ann(id))
    const { sessionId } = await recordOf(told)
    if (crash) await restart(told)
    await told.quiet()

    const record = await recordOf(told)
    expect(record.sessionId).not.toBe(sessionId)
    expect(record).toMatchObject({ resets: 1, abortedLastRun: false, toggles: { verbose: 'on' } })
    expect(outcomes(told.events('main'))).toEqual({ v: 'final', a: 'error', b: 'final', c: 'final' })
    // The first of them says that it is a new one, by its new name.
    const [, b, c] = eventsOf(told, 'final')
    expect(texts(b!)).toEqual([`New session: ${record.sessionId}`, 'saw 1'])
    expect(texts(c!)).toEqual(['saw 3'])
    expect(turns(told)).toEqual(['a', 'b', 'c'])
  },
)

test('[OC-32] where there is no session, a reset is refused and nothing changes', async () => {
  await using told = await story(listener().script)

  await expect(told.main.command({ type: 'reset' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(told.main.view()).rejects.toMatchObject({ code: 'not_found' })
})

test('[OC-29] what comes right behind a bare /new during a run is not mixed with the greeting', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'collect' })
  told.failPoints.hold('K05')
  await told.say('go', ann('a'))
  await told.say('/new', ann('b'))
  expect((await told.main.view()).state).toEqual({ running: 'resetting' })

  await told.say('hello', ann('c'))
  await told.quiet()

  expect(asked.map(newest).join()).not.toMatch(/Message \d:\n\n/)
})

test.each([
  ['messages: roles must alternate between "user" and "assistant"', /did not accept the order of the messages.*try again/],
  ['tool_use ids were found without tool_result blocks immediately after', /record of tool calls in this conversation was damaged.*try again/],
])(
  '[OC-34] a model that refuses the history itself (%s): the session begins anew and says why, and the journal keeps what was said',
  async (message, words) => {
    let able = true
    await using told = await story(() => (able ? { text: 'ok' } : { error: { status: 400, message } }))
    await ask(told, 'one', ann('1'))
    able = false
    await told.say('two', ann('2'))
    await told.quiet()

    const [error] = eventsOf(told, 'error')
    expect(error).toMatchObject({ outcome: 'reset' })
    expect(texts(error!).join()).toMatch(words)
    expect(await told.transcript()).toEqual([])
    able = true
    expect((await ask(told, 'three', ann('3'))).text).toBe('ok')
    expect(JSON.stringify(await told.trace('main'))).toContain('one')
  },
)

/** The next commit finds the disk full, and no other. */
const refuseOneAppend = (told: Story): void => {
  const { journal } = partsOf(told.runtime).transport
  const append = journal.append.bind(journal)
  journal.append = () => {
    journal.append = append
    return Promise.reject(new RuntimeError('log_full', 'the disk is full', { retryable: true, hint: 'make room' }))
  }
}

test('[OC-33] a /new that the store does not take is a retryable error; sent again, it happens once with one notice', async () => {
  await using told = await story(listener().script)
  await ask(told, 'one', ann('1'))
  const { sessionId } = (await told.main.view()).record
  refuseOneAppend(told)

  await expect(told.say('/new hello', ann('2'))).rejects.toMatchObject({ code: 'log_full', retryable: true })
  expect((await told.main.view()).record).toMatchObject({ sessionId, resets: 0 })
  expect(told.channel.texts).toEqual(['re: one'])

  expect((await ask(told, '/new hello', ann('2'))).text).toBe('re: hello')
  expect((await told.main.view()).record.resets).toBe(1)
  expect(told.channel.texts).toEqual(['re: one', 'New session started. Model: test/model.', 're: hello'])
})

test('[OC-33] a reset by command that the store does not take has not happened: the conversation goes on as it was', async () => {
  await using told = await story(listener().script)
  await ask(told, 'one', ann('1'))
  const { sessionId } = (await told.main.view()).record
  refuseOneAppend(told)

  await expect(told.clock.until(told.main.command({ type: 'reset' }))).rejects.toMatchObject({ code: 'log_full' })
  expect((await told.main.view()).record.sessionId).toBe(sessionId)
  expect((await ask(told, 'two', ann('2'))).text).toBe('re: two')
  expect(await told.transcript()).toHaveLength(4)
})

test('[OC-35] a new conversation waits for nothing to be deleted: it answers at once, and what was said before stays in the journal', async () => {
  const { script } = listener(undefined, 0)
  await using told = await story(script)
  await ask(told, 'one', ann('1'))
  const { journal, blobs } = partsOf(told.runtime).transport
  const deletions = { truncate: vi.spyOn(journal, 'truncate'), remove: vi.spyOn(journal, 'remove'), blob: vi.spyOn(blobs, 'delete') }
  // A store whose deletions take longer than the test.
  for (const deletion of Object.values(deletions)) deletion.mockReturnValue(new Promise(() => undefined))
  const before = told.clock.now()
  await ask(told, '/new hello', ann('2'))

  for (const deletion of Object.values(deletions)) deletion.mockRestore()
  expect(told.clock.now() - before).toBeLessThanOrEqual(50)
  expect(await told.transcript()).toEqual(['user: hello', 'assistant: re: hello'])
  expect(JSON.stringify(await told.trace('main'))).toContain('re: one')
  await expectReplay(told)
})
