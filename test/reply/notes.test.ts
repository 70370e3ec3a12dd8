/** Durable notes that are taken before the context of a conversation is full: when, how, and that nobody else notices. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../src/contracts/model.ts'
import { type Tool, tool } from '../../src/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { expectNothingAlive, type Story } from '../runtime/harness.ts'
import { ann, arrived, askToEnd, crashes, endOf, eventsOf, expectReplay, newestText, restart, type Staged, staged, words } from './stage.ts'

const asksForNotes = (request: ModelRequest): boolean => newestText(request).includes('take notes')

type Part = { notes?: (request: ModelRequest) => ScriptedResponse; tokens?: number; delayMs?: number; info?: object; usage?: object }
/** An agent that shall take notes; each of its answers says that the conversation has so many tokens. */
const noter = async ({ notes = () => ({ text: 'NO_REPLY' }), tokens = 176_000, delayMs = 0, info }: Part = {}, options: Staged = {}) => {
  const requests: ModelRequest[] = []
  const script = (request: ModelRequest): ScriptedResponse => {
    requests.push(request)
    if (request.instructions.startsWith('You shorten')) return { text: 'SUMMARY' }
    const usage = { inputTokens: tokens, outputTokens: 0 }
    return asksForNotes(request) ? { usage, ...notes(request) } : { text: `re: ${newestText(request)}`, delayMs, usage }
  }
  const told = await staged({ info: { contextTokens: 200_000, ...info }, script }, { memoryFlush: { prompt: 'take notes on {date}' }, ...options })
  return Object.assign<Story, { requests: ModelRequest[] }>(told, { requests })
}
/** Runs that took notes, by the messages before which they did. */
const taken = (told: Story): string[] => eventsOf(told, 'flushed').map(({ runId }) => runId)
/** Writes down what it is told. */
const note = ({ did }: { did: string[] }): Tool =>
  tool({
    name: 'note',
    description: 'takes a note',
    onCrash: 'retry',
    input: z.object({ text: z.string() }),
    execute: ({ text }) => void did.push(text),
  })

test.each([
  [176_000, ['b']],
  [175_999, []],
])('[OC-40] of 200,000 tokens %i are used: before which of three turns notes are taken', async (tokens, before) => {
  await using told = await noter({ tokens })

  for (const id of ['a', 'b', 'c']) await askToEnd(told, id, ann(id))

  // Once in a cycle: not before the third turn again.
  expect(taken(told)).toEqual(before)
})

test('[OC-40] after a compaction they are taken again', async () => {
  await using told = await noter()
  for (const id of ['a', 'b']) await askToEnd(told, words(400, id), ann(id))
  await askToEnd(told, '/compact', ann('o'))
  for (const id of ['c', 'd', 'e']) await askToEnd(told, id, ann(id))

  // The first turn after it makes the context full again.
  expect(taken(told)).toEqual(['b', 'd'])
  expect((await told.main.view()).record).toMatchObject({ compactions: 1, flushed: { compactions: 1 } })
})

test.each([
  ['the model', { contextTokens: 100_000 }, 150_000, 76_000],
  ['the agent, where the model does not', { contextTokens: undefined }, 100_000, 76_000],
  ['200,000, where nobody does', { contextTokens: undefined }, undefined, 176_000],
] as const)('[OC-40] how much can be read says %s', async (_, info, contextTokens, threshold) => {
  const options = contextTokens === undefined ? {} : { contextTokens }
  for (const [tokens, before] of [
    [threshold - 1, []],
    [threshold, ['b']],
  ] as const) {
    await using told = await noter({ tokens, info }, options)
    for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))
    expect(taken(told)).toEqual(before)
  }
})

test('[OC-40] a window in which nothing would be left to say takes no notes', async () => {
  await using told = await noter({ tokens: 17_000, info: { contextTokens: 24_000 } })

  for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))

  expect(taken(told)).toEqual([])
})

test('[OC-40] nobody who asks by himself takes notes', async () => {
  await using told = await noter()
  await askToEnd(told, 'a', ann('a'))
  await told.clock.until((await told.say('look around', { idempotencyKey: 'b', heartbeat: true })).result())

  expect(taken(told)).toEqual([])
})

test('[OC-41] the agent writes down what it wants to, under a run of its own, and its users notice nothing', async () => {
  await using told = await noter(
    {
      notes: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: 'I wrote it down.' }
          : { text: 'Let me write.', delayMs: 1000, calls: [{ name: 'note', input: { text: 'they like tea' } }] },
      delayMs: 1000,
    },
    { tools: (world) => [note(world)], verbose: 'on', delivery: { streaming: true, min: 1, coalesce: { minChars: 1 } } },
  )
  await askToEnd(told, 'a', ann('a'))
  const before = arrived(told).length
  await told.say('b', ann('b'))
  await told.clock.advance(500)

  expect(await endOf(told, 'b')).toMatchObject({ type: 'final', text: 're: b' })
  expect(told.did).toEqual(['they like tea'])
  expect(arrived(told).slice(before)).toEqual(['block: re: b'])
  expect(taken(told)).toEqual(['b'])
  expect(eventsOf(told, 'usage').map(({ runId }) => runId)).toEqual(['a', 'b:flush', 'b'])
  expect((await told.main.view()).record.flushed).toMatchObject({ compactions: 0 })
  await expectNothingAlive(told)
  await expectReplay(told)
})

test('[OC-41] it is told the file of the day, and how to say that there is nothing to say', async () => {
  await using told = await noter()
  for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))
  expect(told.requests.filter(asksForNotes).map(newestText)).toEqual(['take notes on 2026-01-31\nAnswer NO_REPLY when you are done.'])

  await using silent = await noter({}, { memoryFlush: { prompt: 'take notes, or answer NO_REPLY' } })
  for (const id of ['a', 'b']) await askToEnd(silent, id, ann(id))
  expect(silent.requests.filter(asksForNotes).map(newestText)).toEqual(['take notes, or answer NO_REPLY'])
})

test('[OC-41] without words of its own it is told to append to memory/ and the day', async () => {
  const requests: ModelRequest[] = []
  const script = (request: ModelRequest) => {
    requests.push(request)
    return { text: 'hello', usage: { inputTokens: 176_000, outputTokens: 0 } }
  }
  await using told = await staged({ info: { contextTokens: 200_000 }, script }, { memoryFlush: {} })
  for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))

  expect(newestText(requests[1] as ModelRequest)).toMatch(/memory\/2026-01-31\.md.*NO_REPLY/s)
})

// The crash: the notes have failed, and the answer is being written.
test.each(crashes)('[OC-41] where it fails, the answer comes as always, and nothing of it is delivered%s', async (crash) => {
  await using told = await noter({ notes: () => ({ text: 'I will write', error: { status: 401 }, delayMs: 1000 }), delayMs: 1000 })
  await askToEnd(told, 'a', ann('a'))
  await told.say('b', ann('b'))
  await told.clock.advance(1500)
  if (crash) await restart(told)

  expect(await endOf(told, 'b')).toMatchObject({ type: 'final', text: 're: b' })
  expect(arrived(told)).toEqual(['final: re: a', 'final: re: b'])
  expect(eventsOf(told, 'flushed')).toMatchObject([{ runId: 'b', error: { code: 'provider_auth' } }])
  await askToEnd(told, 'c', ann('c'))
  expect(taken(told)).toEqual(['b'])
})

test('[OC-41] where its model fails, another one takes the notes', async () => {
  const other: ModelRequest[] = []
  await using told = await noter(
    { notes: () => ({ error: { status: 401 } }) },
    {
      fallbacks: ['other/b'],
      models: {
        'other/b': (request) => {
          other.push(request)
          return { text: 'NO_REPLY' }
        },
      },
    },
  )
  for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))

  expect(other.map(asksForNotes)).toEqual([true])
  expect(eventsOf(told, 'flushed')[0]?.error).toBeUndefined()
})

test('[OC-41] an overflow on the way shortens the history, and counts', async () => {
  await using told = await noter({
    notes: ({ messages }) => (messages[0]?.role === 'summary' ? { text: 'NO_REPLY' } : { error: { code: 'provider_overflow' } }),
  })
  for (const id of ['a', 'b']) await askToEnd(told, words(400, id), ann(id))

  expect(arrived(told)).toHaveLength(2)
  expect((await told.main.view()).record).toMatchObject({ compactions: 1, flushed: { compactions: expect.any(Number) } })
})

// `output` in src/machines/turn/turn.context.ts tells of the usage of the answer alone; that of the notes is in no record.
test('[OC-41, OC-89] what it used is part of what the session has used', async () => {
  await using told = await noter({ tokens: 176_000, info: { price: { input: 1, output: 1 } } })
  for (const id of ['a', 'b']) await askToEnd(told, id, ann(id))

  const events = eventsOf(told, 'usage')
  expect(events.map(({ runId }) => runId)).toEqual(['a', 'b:flush', 'b'])
  const { spent } = (await told.main.view()).record
  expect(spent.usage.inputTokens).toBe(3 * 176_000)
  expect(spent.costUsd).toBeCloseTo(3 * 0.176, 10)
})

// The crash: the notes are being taken when they are stopped in the next life.
test.each(crashes)('[OC-41] who stops the turn stops the notes, too%s', async (crash) => {
  await using told = await noter({ notes: () => ({ text: 'NO_REPLY', delayMs: 5000 }) })
  await askToEnd(told, 'a', ann('a'))
  const run = await told.say('b', ann('b'))
  run.result().catch(() => undefined)
  await told.clock.advance(1000)
  if (crash) await restart(told)
  await told.clock.until(told.main.cancel())

  expect(await endOf(told, 'b')).toMatchObject({ type: 'aborted' })
  expect(arrived(told)).toEqual(['final: re: a'])
  await told.clock.advance(1000)
  await expectNothingAlive(told)
})

test('[OC-41] whenever the process dies, notes are taken once and the answer is the same', async () => {
  for (let ms = 0; ms <= 3500; ms += 250) {
    await using told = await noter(
      {
        notes: ({ messages }) =>
          messages.at(-1)?.role === 'tool'
            ? { text: 'NO_REPLY', delayMs: 1000 }
            : { text: '', delayMs: 1000, calls: [{ name: 'note', input: { text: 'they like tea' } }] },
        delayMs: 1000,
      },
      { tools: (world) => [note(world)] },
    )
    await askToEnd(told, 'a', ann('a'))
    await told.say('b', ann('b'))
    await told.clock.advance(ms)
    await restart(told)
    await endOf(told, 'b')

    expect([ms, taken(told), told.did, arrived(told)]).toEqual([ms, ['b'], ['they like tea'], ['final: re: a', 'final: re: b']])
    expect(eventsOf(told, 'usage').map(({ runId }) => runId)).toEqual(['a', 'b:flush', 'b'])
  }
})

test('[OC-41, OC-89] what was used before somebody stopped it is written down, too', async () => {
  const slow = tool({ name: 'note', description: 'takes a note', input: z.object({}), execute: (_, { signal }) => forever(signal) })
  await using told = await noter({ notes: () => ({ calls: [{ name: 'note', input: {} }] }) }, { tools: () => [slow] })
  await askToEnd(told, 'a', ann('a'))
  await told.say('b', ann('b'))
  await told.clock.advance(1000)
  await told.say('/stop', ann('s'))
  await endOf(told, 'b')
  await told.quiet()

  const { usage } = (await told.main.view()).record.spent
  const totals = eventsOf(told, 'usage').map((event) => (event.type === 'usage' ? event.usage.total : 0))
  expect(totals).toHaveLength(2)
  expect(usage.inputTokens + usage.outputTokens).toBe(totals.reduce((sum, total) => sum + total, 0))
})
const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
