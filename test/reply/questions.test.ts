/** What users ask us rather than the model, and that they can stop everything. */
import { expect, test } from 'vitest'
import { expectEndedOnce, expectNothingAlive, outcomes, story, work } from '../runtime/harness.ts'
import { ann, ask, before, crashes, eventsOf, expectReplay, listener, newest, notices, restart, tools, turns } from './stage.ts'

test('[OC-102] "/status hello" during a run: the status at once, and "hello" waits as the queue says', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.clock.advance(40)

  const hello = await told.say('/status hello', ann('b'))

  expect(hello.status).toBe('queued')
  expect(notices(told)).toEqual([expect.stringMatching(/^Session main \(.*\): answering, 0 waiting,/)])
  await told.quiet()
  expect(asked.map(newest)).toEqual(['go', 'hello'])
  expect(turns(told)).toEqual(['a', 'b'])
})

test.each([
  ['/help', /You can say: \/new or \/reset/],
  ['/commands', /You can say: \/new or \/reset/],
  ['/status', /Model test\/model, thinking default/],
  ['/whoami', /^You are ann on test\.$/],
])('[OC-102] %s alone is answered at once, past queue and model', async (text, answer) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup' })
  await told.say('go', ann('a'))
  await told.say('waits', ann('b'))

  const run = await told.say(text, ann('c'))

  expect(run.status).toBe('answered')
  expect((await run.result()).text).toMatch(answer)
  expect((await told.main.view()).queued).toEqual(['b'])
  await told.quiet()
  expect(asked.map(newest)).toEqual(['go', 'waits'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'final', c: 'final' })
  await expectEndedOnce(told)
})

test('[OC-102] /help names every command', async () => {
  await using told = await story(listener().script)
  const { text } = await ask(told, '/help', ann('a'))

  const named = new Set(text.match(/\/[a-z]+/g))
  const known =
    'new reset stop btw compact status context whoami help commands skills think verbose reasoning elevated model queue usage send approve'
  expect(known.split(' ').filter((name) => !named.has(`/${name}`))).toEqual([])
})

test('[OC-102] a question and a setting in one message are both answered', async () => {
  await using told = await story(listener().script)

  expect((await ask(told, '/think high /whoami', ann('a'))).text).toBe('Thinking: high.\nYou are ann on test.')
})

test('[OC-102] a question in a message that begins anew is answered, too', async () => {
  await using told = await story(listener().script)

  await ask(told, '/new /whoami hello', ann('a'))

  expect(notices(told)).toContain('You are ann on test.')
})

test.each(['list', 'detail', 'json'])('[OC-102] /context %s reports the parts of the prompt with their sizes', async (kind) => {
  await using told = await story(listener().script, { instructions: 'Be kind.', tools })
  await ask(told, 'hi', ann('a'))

  expect((await ask(told, `/context ${kind}`, ann('b'))).text).toMatch(/instructions.*8/is)
})

test('[OC-102] while old history is summarised, the session is not idle', async () => {
  const { script } = listener(({ instructions }) => (instructions.startsWith('You shorten') ? { text: 'SUMMARY', delayMs: 1000 } : { text: 'ok' }))
  await using told = await story(script)
  for (const id of ['a', 'b']) await ask(told, id, ann(id))
  await told.say('/compact', ann('c'))

  expect((await ask(told, '/status', ann('d'))).text).not.toContain('idle')
})

test.each(['/stop', 'Stop!'])('[OC-103] %s: the run, its tool and all that waits end, and the answer says so', async (word) => {
  await using told = await story([{ text: 'working', calls: [work('x', 5000)] }, { text: 'never' }], { tools, queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, ann(id))
  await told.clock.advance(100)

  const { text } = await ask(told, word, ann('d'))
  await told.quiet()

  expect(text).toBe('Stopped. 2 waiting messages were dropped.')
  expect(told.did).toEqual(['x starts', 'x stops'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'aborted', d: 'final' })
  expect((await told.main.view()).record.abortedLastRun).toBe(true)
  await expectEndedOnce(told)
  await expectNothingAlive(told)
})

test('[OC-103] a process that dies right after a stop stops all the same', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, ann(id))
  await told.clock.advance(40)

  await Promise.all([told.main.send('stop', ann('d')).catch(() => undefined), told.clock.settle().then(() => told.crash())])
  await told.restart()
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'aborted', d: 'final' })
  expect((await told.main.outcome('d')).text).toBe('Stopped. 2 waiting messages were dropped.')
  expect(new Set(asked.map(newest))).toEqual(new Set(['a']))
  await ask(told, 'go on', ann('e'))
  expect(before(asked.at(-1)!)).toContain('your last answer was stopped')
  await expectEndedOnce(told)
})

test.each(crashes)('[OC-103] a stop while the messages only wait for more drops them%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup', debounceMs: 5000 })
  await told.say('a', ann('a'))
  await told.say('b', ann('b'))
  await told.clock.advance(200)
  if (crash) await restart(told)

  expect((await ask(told, 'stop', ann('c'))).text).toBe('Stopped. 1 waiting message was dropped.')
  await told.clock.advance(10_000)

  expect(asked.map(newest)).toEqual(['a'])
  expect(outcomes(told.events('main'))).toEqual({ a: 'final', b: 'aborted', c: 'final' })
})

test('[OC-103] where nothing runs the answer says so, and no answer is said to have been stopped', async () => {
  const { asked, script } = listener()
  await using told = await story(script)
  await ask(told, 'hi', ann('a'))

  expect((await ask(told, 'stop', ann('b'))).text).toBe('Nothing is running.')
  await ask(told, 'go on', ann('c'))

  expect(before(asked.at(-1)!)).not.toContain('your last answer was stopped')
})

test('[OC-103] of a stranger, or within a sentence, stop is a word like any other', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, 'stop', ann('a', { authorised: false }))
  await ask(told, 'where is the bus stop', ann('b'))
  await ask(told, 'wait for me', ann('c'))

  expect(asked.map(newest)).toEqual(['stop', 'where is the bus stop', 'wait for me'])
})

test('[OC-103] what stands behind /stop is not lost without a word', async () => {
  const { asked, script } = listener()
  await using told = await story(script)
  await told.say('go', ann('a'))
  await told.clock.advance(40)

  const { text } = await ask(told, '/stop and tell me the time', ann('b'))
  await told.quiet()

  expect([...asked.map(newest), text].join('\n')).toContain('tell me the time')
})

test('[OC-103] a stop while the run is stopped already for a new conversation leaves that standing', async () => {
  await using told = await story(listener().script)
  await ask(told, 'hi', ann('a'))
  told.failPoints.hold('K05')
  await told.say('go', ann('b'))
  const began = (await told.main.view()).record.sessionId
  await told.main.command({ type: 'reset' })
  expect((await told.main.view()).state).toEqual({ running: 'resetting' })

  await told.say('stop', ann('c'))
  await told.clock.advance(2000)

  expect((await told.main.view()).record.sessionId).not.toBe(began)
  expect(eventsOf(told, 'reset')).toHaveLength(1)
})

test.each(crashes)('[OC-103] what had joined the run ends with it%s', async (crash) => {
  await using told = await story(listener().script)
  await told.say('go', ann('a'))
  await told.clock.advance(40)
  await told.say('and this', ann('b'))
  if (crash) await restart(told)

  await told.say('stop', ann('c'))
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'final' })
  await expectEndedOnce(told)
  await expectReplay(told)
})
