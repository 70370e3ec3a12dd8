/** /compact: what runs is stopped first, what comes meanwhile waits, and whoever asked gets an answer. */
import { expect, test } from 'vitest'
import { expectEndedOnce, expectNothingAlive, outcomes, story } from '../runtime/harness.ts'
import { ann, ask, crashes, isSummary, known, listener, long, newest, reader, restart, turns } from './stage.ts'

test.each(crashes)('[OC-44] /compact during a run stops that first, then says how much shorter it became%s', async (crash) => {
  const slow = listener((request) => (isSummary(request) ? { text: 'SUMMARY', delayMs: 500 } : { text: `saw ${request.messages.length}` }))
  await using told = await story(slow.script)
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))
  await told.say('3', ann('3'))
  await told.clock.advance(40)

  await told.say('/compact keep the names', ann('4'))
  await told.clock.advance(200)
  if (crash) await restart(told)
  await told.quiet()

  const { text } = await told.main.outcome('4')
  expect(text).toMatch(/^Compacted: \d+ → \d+ tokens/)
  const [before = 0, after = 0] = [...text.matchAll(/\d+/g)].map(Number)
  expect(after).toBeLessThan(before)
  const endings = told.events('main').flatMap((event) => (event.type === 'aborted' || event.type === 'compacted' ? [event.type] : []))
  expect(endings).toEqual(['aborted', 'compacted'])
  expect(outcomes(told.events('main'))).toEqual({ 1: 'final', 2: 'final', 3: 'aborted', 4: 'final' })
  expect((await told.main.view()).record.compactions).toBe(1)
  expect(slow.asked.findLast(isSummary)?.instructions).toContain('keep the names')
  await expectEndedOnce(told)
  await expectNothingAlive(told)
})

test('[OC-44] it says how much of the context is used then', async () => {
  const model = known({ contextTokens: 40_000 }, (request) =>
    isSummary(request) ? { text: 'SUMMARY' } : { text: 'ok', usage: { inputTokens: 300, outputTokens: 10 } },
  )
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  for (const id of ['1', '2', '3']) await ask(told, `${id} ${'x'.repeat(40_000)}`, ann(id))

  expect((await ask(told, '/compact', ann('4'))).text).toBe('Compacted: 30k → 10k tokens (25% of 40k).')
})

test('[OC-44] after it the conversation counts as short: the next message does not compact it again', async () => {
  const model = known({ contextTokens: 200_000 }, (request) => {
    if (isSummary(request)) return { text: 'SUMMARY' }
    return { text: 'ok', usage: { inputTokens: request.messages[0]?.role === 'summary' ? 100 : 190_000 } }
  })
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  await ask(told, `1 ${long}`, ann('1'))
  await ask(told, '/compact', ann('2'))

  await ask(told, '3', ann('3'))

  expect(model.asked.filter(isSummary)).toHaveLength(1)
})

test('[OC-44] of a stranger /compact is ignored', async () => {
  const { asked, script } = listener()
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, id, ann(id))

  expect(await ask(told, '/compact', ann('3', { authorised: false }))).toMatchObject({ outcome: 'silent' })
  expect(asked).toHaveLength(2)
})

test('[OC-44] where there is nothing to shorten, it says so and leaves all as it was', async () => {
  await using told = await story(listener().script)

  expect((await ask(told, '/compact', ann('a'))).text).toBe('There is no history to compact.')
})

test('[OC-44] during the very first answer it does not blame the length of a message', async () => {
  await using told = await story(listener().script)
  await told.say('hi', ann('a'))
  await told.clock.advance(40)

  const { text } = await ask(told, '/compact', ann('b'))

  expect(text).not.toContain('longer than the model can read')
})

test.each(crashes)('[OC-44] a stop during the compaction leaves the history as it was, and says so%s', async (crash) => {
  const { script } = reader(100, 1000)
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))
  await told.say('/compact', ann('3'))
  await told.clock.advance(500)
  if (crash) await restart(told)

  await told.say('stop', ann('4'))
  await told.quiet()

  expect((await told.main.outcome('3')).text).toBe('The conversation was not compacted: it was stopped.')
  expect(await told.transcript()).toHaveLength(4)
  expect((await told.main.view()).record.compactions).toBe(0)
  await expectEndedOnce(told)
  await expectNothingAlive(told)
})

test.each(crashes)('[OC-45] what comes during a compaction by command waits, whatever its mode, and is answered%s', async (crash) => {
  const { asked, script } = reader(100, 1000)
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))
  await told.say('/compact', ann('3'))
  await told.clock.advance(500)

  const waiting = [await told.say('four', ann('4')), await told.say('five', { ...ann('5'), queueMode: 'steer' })]
  if (crash) await restart(told)
  await told.quiet()

  expect(waiting.map(({ status }) => status)).toEqual(['queued', 'queued'])
  expect(turns(told)).toEqual(['1', '2', '4', '5'])
  expect(newest(asked.at(-1)!)).toBe('five')
})

test('[OC-44] while messages only wait for more, /compact does not say that it is done already', async () => {
  await using told = await story(reader(100).script, { queueMode: 'followup', debounceMs: 5000 })
  for (const id of ['1', '2']) await ask(told, id, ann(id))
  await told.say('3', ann('3'))
  await told.say('4', ann('4'))
  await told.clock.advance(300)
  expect((await told.main.view()).state).toBe('debouncing')

  expect((await ask(told, '/compact', ann('5'))).text).not.toBe('The conversation is being compacted already.')
})

type Told = Awaited<ReturnType<typeof story>>
test.each<[string, (told: Told) => Promise<unknown>]>([
  ['a stop', (told) => told.say('stop', ann('5'))],
  ['a new conversation', (told) => told.say('/new hello', ann('5'))],
  ['another compaction', (told) => told.say('/compact', ann('5'))],
  ['a reset', (told) => told.main.command({ type: 'reset' })],
  ['a cancel', (told) => told.main.cancel()],
])('[OC-44] %s while the run is stopped for a compaction: whoever asked for that gets an answer', async (_, next) => {
  const { script } = reader(100)
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, id, ann(id))
  told.failPoints.hold('K05')
  await told.say('3', ann('3'))
  await told.say('/compact', ann('4'))
  expect((await told.main.view()).state).toEqual({ running: 'yielding' })

  await next(told)
  await told.clock.advance(5000)

  expect(outcomes(told.events('main'))).toMatchObject({ 3: 'aborted', 4: 'final' })
})
