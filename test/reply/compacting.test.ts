/** A conversation that grows too long: when it is shortened, what users hear of it, and what follows where that does not help. */
import { expect, test } from 'vitest'
import { outcomes, story, work } from '../runtime/harness.ts'
import { ann, arrived, ask, crashes, eventsOf, expectReplay, isSummary, known, listener, long, reader, restart, texts, tools } from './stage.ts'

test.each([
  [180_000, 0],
  [180_001, 1],
])('[OC-42] of 200,000 tokens 20,000 are kept free: with %d in use, %d compactions', async (used, compactions) => {
  const model = known({ contextTokens: 200_000 }, (request) =>
    isSummary(request) ? { text: 'SUMMARY' } : { text: 'ok', usage: { inputTokens: used - 10, outputTokens: 10 } },
  )
  await using told = await story([], { runtime: { models: { 'test/model': model } } })
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))

  expect(eventsOf(told, 'compacted')).toHaveLength(compactions)
  expect((await told.main.view()).record.compactions).toBe(compactions)
})

// The crash: the summary is being written.
test.each(crashes)('[OC-34, OC-43] overflow on every call: one compaction, and then a new session that says why%s', async (crash) => {
  const { asked, script } = listener((request) =>
    isSummary(request) ? { text: 'SUMMARY', delayMs: 1000 } : { error: { code: 'provider_overflow' } },
  )
  let able = true
  await using told = await story((request) => (able && !isSummary(request) ? { text: 'ok' } : script(request)))
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))
  able = false
  const { sessionId } = (await told.main.view()).record
  await told.say('3', ann('3'))
  await told.clock.advance(600)
  if (crash) await restart(told)
  await told.quiet()

  const [error] = eventsOf(told, 'error')
  expect(error).toMatchObject({ outcome: 'reset', error: { code: 'provider_overflow' } })
  expect(texts(error!)).toEqual([
    'The conversation is too long for the model. A new session has begun, so please try again. If this happens often, set a larger compaction reserve.',
  ])
  // A summary that the crash cut off is asked for again.
  expect(asked.filter(isSummary)).toHaveLength(crash ? 2 : 1)
  expect(eventsOf(told, 'compacted')).toHaveLength(1)
  expect(eventsOf(told, 'reset')).toHaveLength(1)
  expect(arrived(told).slice(2)).toEqual([`final: ${texts(error!).join()}`])
  expect(outcomes(told.events('main'))).toMatchObject({ 3: 'error' })
  // Once as it was, once with a summary, once with results of tools cut.
  expect(asked.filter((request) => !isSummary(request))).toHaveLength(3)
  expect(await told.transcript()).toEqual([])
  expect((await told.main.view()).record).toMatchObject({ resets: 1, compactions: 0 })
  expect((await told.main.view()).record.sessionId).not.toBe(sessionId)
  able = true
  expect((await ask(told, 'again', ann('4'))).text).toBe('ok')
})

test('[OC-43] where a summary is not enough, long results of tools are cut; what is stored stays whole', async () => {
  const big = 'y'.repeat(10_000)
  const { asked, script } = listener((request) => {
    if (isSummary(request)) return { text: 'SUMMARY' }
    const result = request.messages.findLast(({ role }) => role === 'tool')
    if (result === undefined) return { text: 'I look', calls: [work(big)] }
    return JSON.stringify(result).length > 5000 ? { error: { code: 'provider_overflow' } } : { text: 'read it' }
  })
  await using told = await story(script, { tools })
  await told.say('look', ann('a'))
  await told.quiet()

  expect(eventsOf(told, 'final')).toMatchObject([{ text: 'read it' }])
  expect(JSON.stringify(asked.at(-1)!.messages.at(-1))).toContain('characters left out')
  expect((await told.main.history()).findLast(({ role }) => role === 'tool')).toMatchObject({ output: `${big} done` })
})

test('[OC-43] a summary that fails on what it reads leads to a new session, too', async () => {
  const { script } = listener((request) =>
    isSummary(request) || request.messages.length > 4 ? { error: { code: 'provider_overflow' } } : { text: 'ok' },
  )
  await using told = await story(script)
  for (const id of ['1', '2', '3']) await told.clock.until(told.say(`${id} ${long}`, ann(id)).then((run) => run.result().catch(() => undefined)))

  const [error] = eventsOf(told, 'error')
  expect(error).toMatchObject({ outcome: 'reset' })
  expect(texts(error!)).toEqual([
    'The conversation became too long, and summarising it failed. A new session has begun, so please try again. If this happens often, set a larger compaction reserve.',
  ])
})

test('[OC-84] a compaction is counted whoever wants to know, and told where tool messages are', async () => {
  const noticesWhen = async (verbose: string) => {
    const { script } = reader(4)
    await using told = await story(script)
    await ask(told, `/verbose ${verbose}`, ann('v'))
    for (const id of ['1', '2', '3']) await ask(told, `${id} ${long}`, ann(id))
    const { compactions } = (await told.main.view()).record
    return [compactions, texts(eventsOf(told, 'final').at(-1)!)]
  }
  const notice = 'Older messages were summarised to make room (compaction 1 of this session).'

  expect(await noticesWhen('off')).toEqual([1, ['saw 2']])
  expect(await noticesWhen('on')).toEqual([1, [notice, 'saw 2']])
  expect(await noticesWhen('full')).toEqual([1, [notice, 'saw 2']])
})

test.each(crashes)('[OC-85] a new session with a compaction: first that it is new, then the compaction, then the answer%s', async (crash) => {
  const { script } = listener((request) => {
    if (isSummary(request)) return { text: 'SUMMARY', delayMs: 500 }
    if (request.messages[0]?.role === 'summary') return { text: 'done' }
    return request.messages.length > 4 ? { error: { code: 'provider_overflow' } } : { text: 'I look', calls: [work('x')] }
  })
  await using told = await story(script, { tools })
  await ask(told, '/verbose on', ann('v'))
  await told.say(`go ${long}`, ann('a'))
  await told.clock.advance(400)
  if (crash) await restart(told)
  await told.quiet()

  const { sessionId } = (await told.main.view()).record
  expect(texts(eventsOf(told, 'final').at(-1)!)).toEqual([
    `New session: ${sessionId}`,
    'Older messages were summarised to make room (compaction 1 of this session).',
    'I look',
    'I look',
    'done',
  ])
})

test('[OC-85] nobody is told of a new session who does not want to know, and nobody twice', async () => {
  await using told = await story(listener().script)
  expect(texts(await ask(told, 'hi', ann('1')))).toEqual(['re: hi'])
  await ask(told, '/verbose on', ann('2'))
  expect(texts(await ask(told, 'again', ann('3')))).toEqual(['re: again'])

  const [first] = texts(await ask(told, '/new hello', ann('4')))

  expect(first).toBe(`New session: ${(await told.main.view()).record.sessionId}`)
  expect(texts(await ask(told, 'more', ann('5')))).toEqual(['re: more'])
})

test('[OC-14, OC-42] an interrupt while a run compacts stops that, and the history is whole', async () => {
  const { script } = reader(4, 1000)
  await using told = await story(script)
  for (const id of ['1', '2']) await ask(told, `${id} ${long}`, ann(id))
  await told.say('3', ann('3'))
  await told.clock.advance(500)

  await told.say('4', { ...ann('4'), queueMode: 'interrupt' })
  await told.quiet()

  expect(outcomes(told.events('main'))).toEqual({ 1: 'final', 2: 'final', 3: 'aborted', 4: 'final' })
  expect((await told.transcript()).at(-2)).toBe('user: 4')
  await expectReplay(told)
})
